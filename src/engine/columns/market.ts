// The market of one run: base bars, bars to drill into, and whatever other series a strategy names, stored or resampled.
import { STORED_TIMEFRAMES, TIMEFRAME_MS } from './bars.ts';
import type { Bars, Market, StoredTimeframe } from './bars.ts';
import { openSnapshot } from './arrow.ts';
import type { Snapshot } from './arrow.ts';
import { resample } from './resample.ts';

/** The stored timeframe that answers for `wanted`: itself, else the finest stored one below it, else none. */
export function sourceTimeframe(
  stored: readonly StoredTimeframe[],
  wanted: StoredTimeframe,
): StoredTimeframe | undefined {
  if (stored.includes(wanted)) return wanted;
  return STORED_TIMEFRAMES.find(
    (timeframe) => TIMEFRAME_MS[timeframe] < TIMEFRAME_MS[wanted] && stored.includes(timeframe),
  );
}

/**
 * A market over these snapshots, of which a series (symbol, timeframe) may be there once. The same Snapshot objects give the same Bars, also in another
 * market: opening and resampling happen once for as long as the snapshot lives.
 * @throws Error when the snapshots cannot serve (symbol, timeframe); callers ask `sourceTimeframe` or the catalogue first.
 */
export function createMarket(snapshots: readonly Snapshot[], symbol: string, timeframe: StoredTimeframe): Market {
  const bySymbol = new Map<string, Map<StoredTimeframe, Snapshot>>();
  for (const snapshot of snapshots) {
    const { meta } = snapshot;
    const stored = bySymbol.get(meta.symbol) ?? new Map<StoredTimeframe, Snapshot>();
    if (stored.has(meta.timeframe)) throw new Error(`Two snapshots of ${meta.symbol} ${meta.timeframe} in one market.`);
    bySymbol.set(meta.symbol, stored.set(meta.timeframe, snapshot));
  }
  const bars = (symbol: string, timeframe: StoredTimeframe): Bars | undefined => {
    const stored = bySymbol.get(symbol);
    const source = stored && sourceTimeframe([...stored.keys()], timeframe);
    if (!stored || !source) return undefined;
    const found = opened(stored.get(source)!);
    return source === timeframe ? found : resampled(found, timeframe);
  };
  const base = bars(symbol, timeframe);
  if (!base) throw new Error(`No snapshot serves ${symbol} ${timeframe}.`);
  const stored = bySymbol.get(symbol)!;
  const finest = STORED_TIMEFRAMES.find((candidate) => stored.has(candidate))!;
  return {
    base,
    instrument: stored.get(sourceTimeframe([...stored.keys()], timeframe)!)!.meta.instrument,
    fine: TIMEFRAME_MS[finest] < TIMEFRAME_MS[timeframe] ? bars(symbol, finest) : undefined,
    bars,
  };
}

const openedBars = new WeakMap<Snapshot, Bars>();
const resampledBars = new WeakMap<Bars, Map<StoredTimeframe, Bars>>();

function opened(snapshot: Snapshot): Bars {
  const kept = openedBars.get(snapshot);
  if (kept) return kept;
  const bars = openSnapshot(snapshot.buffer, snapshot.meta);
  openedBars.set(snapshot, bars);
  return bars;
}

function resampled(bars: Bars, timeframe: StoredTimeframe): Bars {
  const kept = resampledBars.get(bars) ?? new Map<StoredTimeframe, Bars>();
  resampledBars.set(bars, kept);
  let made = kept.get(timeframe);
  if (!made) kept.set(timeframe, (made = resample(bars, timeframe)));
  return made;
}
