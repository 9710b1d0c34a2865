// The market of one run: base bars, bars to drill into, and the other series a strategy names, stored or resampled.
import type { Bars, Market, Timeframe, Universe } from './bars.ts';
import { openSnapshot } from './arrow.ts';
import type { Snapshot } from './arrow.ts';
import { contradictionsOf } from './contradictions.ts';
import { coversBars } from './coverage.ts';
import { annualizedOn } from './periodsPerYear.ts';
import { resample } from './resample.ts';
import { divisorsOf } from './timeframes.ts';

/** Whether the finer of two stored timeframes covers the whole of the coarser one. */
type Covers = (finer: Timeframe, coarser: Timeframe) => boolean;

/**
 * The stored timeframe that `wanted` is read from: itself, else the finest one that makes it of whole bars and covers
 * the coarser ones, so that importing finer bars never changes what is read (semantics §1.13); undefined: `wanted` is
 * not available.
 */
export function sourceTimeframe(
  stored: readonly Timeframe[],
  wanted: Timeframe,
  covers: Covers,
): Timeframe | undefined {
  if (stored.includes(wanted)) return wanted;
  const [coarsest, ...finer] = storedBelow(stored, wanted).toReversed();
  return finer.reduce<Timeframe | undefined>(
    (source, candidate) => (source !== undefined && covers(candidate, source) ? candidate : source),
    coarsest,
  );
}

/** The stored timeframes of which whole bars make `wanted`, finest first. */
const storedBelow = (stored: readonly Timeframe[], wanted: Timeframe): Timeframe[] =>
  divisorsOf(wanted).filter((timeframe) => stored.includes(timeframe));

/**
 * A market over these snapshots, at most one per series (symbol, timeframe). The same Snapshot objects have the same
 * Bars in every market: each is opened and resampled once, for as long as it lives.
 *
 * A timeframe of the base instrument that is not stored is resampled from the finest stored series that covers the
 * whole of the base series (semantics §1.13). Another instrument has no base series; there the series below the
 * timeframe are compared with each other.
 * @throws Error when the snapshots cannot serve (symbol, timeframe); callers ask the catalog first.
 */
export function createMarket(snapshots: readonly Snapshot[], symbol: string, timeframe: Timeframe): Market {
  return marketAmong(groupBySymbol(snapshots), symbol, timeframe);
}

/**
 * The universe of a portfolio over these snapshots: the market of each symbol, in the order of the list.
 * @throws Error like `createMarket`
 */
export function createUniverse(
  snapshots: readonly Snapshot[],
  symbols: readonly string[],
  timeframe: Timeframe,
): Universe {
  const bySymbol = groupBySymbol(snapshots);
  return { instruments: symbols.map((symbol) => marketAmong(bySymbol, symbol, timeframe)) };
}

function marketAmong(bySymbol: ReadonlyMap<string, InstrumentSeries>, symbol: string, timeframe: Timeframe): Market {
  const ofBase = bySymbol.get(symbol);
  const baseSource = ofBase?.source(timeframe);
  if (!ofBase || !baseSource) throw new Error(`No snapshot serves ${symbol} ${timeframe}.`);
  const bars = (wantedSymbol: string, wanted: Timeframe): Bars | undefined => {
    const series = bySymbol.get(wantedSymbol);
    const source =
      wantedSymbol === symbol && wanted !== timeframe
        ? ofBase.sourceCovering(baseSource, wanted)
        : series?.source(wanted);
    return series && source && series.bars(source, wanted);
  };
  const [finest] = storedBelow(ofBase.stored, timeframe);
  return {
    base: ofBase.bars(baseSource, timeframe),
    instrument: annualizedOn(ofBase.snapshot(baseSource).meta.instrument, timeframe),
    fine: finest && ofBase.bars(finest, finest),
    bars,
  };
}

/** The stored series of one instrument. */
class InstrumentSeries {
  readonly #snapshots = new Map<Timeframe, Snapshot>();

  add(snapshot: Snapshot): void {
    const { symbol, timeframe } = snapshot.meta;
    if (this.#snapshots.has(timeframe)) throw new Error(`Two snapshots of ${symbol} ${timeframe} in one market.`);
    this.#snapshots.set(timeframe, snapshot);
  }

  get stored(): readonly Timeframe[] {
    return [...this.#snapshots.keys()];
  }

  snapshot(stored: Timeframe): Snapshot {
    return this.#snapshots.get(stored)!;
  }

  bars(source: Timeframe, wanted: Timeframe): Bars {
    const found = opened(this.snapshot(source));
    return source === wanted ? found : resampled(found, wanted);
  }

  source(wanted: Timeframe): Timeframe | undefined {
    return sourceTimeframe(this.stored, wanted, this.#covers);
  }

  /** The finest series below `wanted` that covers `base`; where none does, the one that `source` names. */
  sourceCovering(base: Timeframe, wanted: Timeframe): Timeframe | undefined {
    if (this.#snapshots.has(wanted)) return wanted;
    const covering = storedBelow(this.stored, wanted).find((finer) => finer === base || this.#covers(finer, base));
    return covering ?? this.source(wanted);
  }

  readonly #covers: Covers = (finer, coarser) => covers(this.snapshot(finer), this.snapshot(coarser));
}

function groupBySymbol(snapshots: readonly Snapshot[]): Map<string, InstrumentSeries> {
  const bySymbol = new Map<string, InstrumentSeries>();
  for (const snapshot of snapshots) {
    const { symbol } = snapshot.meta;
    const series = bySymbol.get(symbol) ?? new InstrumentSeries();
    bySymbol.set(symbol, series);
    series.add(snapshot);
  }
  return bySymbol;
}

const openedBars = new WeakMap<Snapshot, Bars>();
const coverage = new WeakMap<Snapshot, WeakMap<Snapshot, boolean>>();
const resampledBars = new WeakMap<Bars, Map<Timeframe, Bars>>();

function opened(snapshot: Snapshot): Bars {
  const kept = openedBars.get(snapshot);
  if (kept) return kept;
  const bars = openSnapshot(snapshot);
  openedBars.set(snapshot, bars);
  return bars;
}

/** Whether one series covers the other (semantics §1.13); bars that contradict it are no replacement for it. */
function covers(finer: Snapshot, coarser: Snapshot): boolean {
  const known = coverage.get(finer) ?? new WeakMap<Snapshot, boolean>();
  coverage.set(finer, known);
  let found = known.get(coarser);
  if (found === undefined) {
    const [fine, coarse] = [opened(finer), opened(coarser)];
    found = coversBars(fine, coarse) && contradictionsOf(coarse, fine)?.isDrillingOff !== true;
    known.set(coarser, found);
  }
  return found;
}

function resampled(bars: Bars, timeframe: Timeframe): Bars {
  const kept = resampledBars.get(bars) ?? new Map<Timeframe, Bars>();
  resampledBars.set(bars, kept);
  let made = kept.get(timeframe);
  if (!made) kept.set(timeframe, (made = resample(bars, timeframe)));
  return made;
}
