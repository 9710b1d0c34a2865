// The block bootstrap: the backtest on histories made of blocks of its own bars.
import type { Market, Universe, Bars, Timeframe } from '../../bars/bars.ts';
import { bound, enough, MAX_LOSSES } from '../bound.ts';
import { percent, warning } from '../finding.ts';
import type { Analysis, Check, PartOutcome } from './analysis.ts';
import { distributionsOf, medianRow, runOf, runRow, sampledRuns, type SampledRuns } from './partOutcomes.ts';
import { resample } from '../../bars/resample.ts';
import { timeAxisOf } from '../../bars/timeAxis.ts';
import { divides } from '../../bars/timeframes.ts';
import { uniform } from '../../sweep/seeded.ts';

interface BlockBootstrap extends SampledRuns {
  readonly blockBars: number;
}

/** The first part is the run without finer bars; every other part is a drawn history. */
export const blockBootstrapAnalysis = {
  name: 'blockBootstrap',
  about: 'bars resampled in blocks',
  partsOf: ({ spec }) => 1 + spec.samples,
  runsPerPart: 1,
  runPart: (check, part) => (part === 0 ? onBaseBars(check) : onDrawnBars(check, part - 1)),
  resultOf: ({ spec, bars, outcomes: [original, ...drawn] }) => ({
    blockBars: spec.blockBars ?? defaultBlockBars(bars),
    ...sampledRuns(drawn, runOf(original)),
  }),
  boundsOf: (result) => [
    bound('bootstrapLossProbability', 'blockBootstrap', enough(result, result?.lossProbability), '<=', MAX_LOSSES),
  ],
  findingsOf(result, _, failed) {
    const broken = failed.get('bootstrapLossProbability');
    if (broken === undefined) return {};
    const message =
      `On ${result.runs} histories made of blocks of the same bars, it loses money in ` +
      `${percent(result.lossProbability)} (at most ${percent(broken.limit)} is allowed); the median return is ` +
      `${percent(result.returnPct.p50)} instead of ${percent(result.original?.returnPct ?? null)}.`;
    return { weaknesses: [warning('BARS_LUCKY', message)] };
  },
  reportOf: (result) => ({
    samples: [
      ...(result.original === null ? [] : [runRow('bars as they were, without finer bars', result.original)]),
      medianRow('bars drawn again', result),
    ],
    distributions: distributionsOf(result, result.original),
  }),
} as const satisfies Analysis<BlockBootstrap>;

/** The backtest without finer bars: drawn histories have none either. */
function onBaseBars(check: Check): PartOutcome {
  const { task, market } = check.context;
  return check.runTask(task, withoutFine(market));
}

function withoutFine(market: Market | Universe): Market | Universe {
  if (!('instruments' in market)) return market.fine === undefined ? market : { ...market, fine: undefined };
  if (market.instruments.every(({ fine }) => fine === undefined)) return market;
  return { instruments: market.instruments.map((each) => ({ ...each, fine: undefined })) };
}

function onDrawnBars(check: Check, sample: number): PartOutcome {
  const { task, spec, market } = check.context;
  const run = check.prepared();
  if ('code' in run) return { kind: 'failed', error: run };
  const { end } = run.rows;
  if (end < 2) return { kind: 'skipped' };
  const blockBars = spec.blockBars ?? defaultBlockBars(end);
  const draw = { end, blockBars, seed: spec.seed, sample };
  return check.runTask(task, 'instruments' in market ? bootstrapUniverse(market, draw) : bootstrapMarket(market, draw));
}

const MIN_BLOCK = 10;
/** Blocks about as long as this keep what lasts a few bars and still differ from each other. */
export const defaultBlockBars = (bars: number): number => Math.max(MIN_BLOCK, Math.round(Math.sqrt(bars)));

/** Which history is drawn: how many instants, in blocks of how many, and the draw. */
interface Draw {
  readonly end: number;
  readonly blockBars: number;
  readonly seed: number;
  readonly sample: number;
}

/** As `bootstrapUniverse`, of one instrument. */
export function bootstrapMarket(market: Market, draw: Draw): Market {
  const [drawn] = bootstrapUniverse({ instruments: [market] }, draw).instruments;
  return drawn;
}

/**
 * The first `end` instants of a universe with other bars at the same times. Each bar keeps its shape relative to the
 * close before it (circular block bootstrap, Politis and Romano 1992), so that prices join without jumps. All
 * instruments get the same blocks of time, so that what moved together still does; an instrument without a bar at a
 * drawn instant has none there. Coarser timeframes are resampled from the new bars, and columns beside the bars move
 * with them. There are no finer bars.
 */
export function bootstrapUniverse({ instruments }: Universe, draw: Draw): Universe {
  const [first] = instruments;
  const { timeframe } = first.base;
  const { time } = timeAxisOf(instruments.map(({ base }) => base));
  const sources = drawInstants(draw);
  const name = `bootstrap ${draw.blockBars} ${draw.seed} ${draw.sample}`;
  const bases = new Map(instruments.map(({ base }) => [base.symbol, base]));
  const made = new Map<string, Bars | undefined>();
  const bars = (symbol: string, wanted: Timeframe): Bars | undefined => {
    const key = `${symbol} ${wanted}`;
    if (!made.has(key)) made.set(key, make(symbol, wanted));
    return made.get(key);
  };
  function make(symbol: string, wanted: Timeframe): Bars | undefined {
    if (wanted === timeframe) {
      const source = bases.get(symbol) ?? first.bars(symbol, timeframe);
      return source && redrawn(source, rowsAt(time, sources, source), name);
    }
    if (!divides(timeframe, wanted)) return undefined;
    const drawn = bars(symbol, timeframe);
    return drawn && resample(drawn, wanted);
  }
  return {
    instruments: instruments.map(({ base, instrument }) => ({
      base: bars(base.symbol, timeframe)!,
      instrument,
      fine: undefined,
      bars,
    })),
  };
}

/** The source of every instant. The first bar has no close before it, and is only ever the first. */
function drawInstants({ end, blockBars, seed, sample }: Draw): Int32Array {
  const instants = new Int32Array(end);
  const sources = end - 1;
  for (let instant = 1, block = 0; instant < end; block++) {
    const first = Math.floor(uniform(seed, sample, block) * sources);
    for (let at = 0; at < blockBars && instant < end; at++, instant++) instants[instant] = 1 + ((first + at) % sources);
  }
  return instants;
}

/** The rows of a drawn series, and their times. */
interface DrawnRows {
  readonly time: Float64Array;
  readonly rows: Int32Array;
}

/**
 * The rows of an instrument that lie at the drawn instants, only those where it has a bar. Its own first bar has no
 * close before it either.
 */
function rowsAt(axis: Float64Array, sources: Int32Array, bars: Bars): DrawnRows {
  const rowOf = new Int32Array(axis.length).fill(-1);
  for (let row = 0, instant = 0; row < bars.length && instant < axis.length;) {
    if (axis[instant] === bars.time[row]) rowOf[instant++] = row++;
    else if (axis[instant] < bars.time[row]) instant++;
    else row++;
  }
  const time = new Float64Array(sources.length);
  const rows = new Int32Array(sources.length);
  let count = 0;
  for (let instant = 0; instant < sources.length; instant++) {
    const row = rowOf[sources[instant]];
    if (row < 0 || (row === 0 && count > 0)) continue;
    time[count] = axis[instant];
    rows[count++] = row;
  }
  return { time: time.subarray(0, count), rows: rows.subarray(0, count) };
}

function redrawn(bars: Bars, { time, rows }: DrawnRows, name: string): Bars {
  const { length } = rows;
  const [open, high, low, close, volume] = Array.from({ length: 5 }, () => new Float64Array(length));
  let before = NaN;
  for (let row = 0; row < length; row++) {
    const source = rows[row];
    const scale = row === 0 || source === 0 ? 1 : before / bars.close[source - 1];
    open[row] = bars.open[source] * scale;
    high[row] = bars.high[source] * scale;
    low[row] = bars.low[source] * scale;
    close[row] = bars.close[source] * scale;
    volume[row] = bars.volume[source];
    // A close of zero would stay zero forever.
    before = close[row] > 0 ? close[row] : bars.close[source];
  }
  return {
    ...bars,
    length,
    time,
    open,
    high,
    low,
    close,
    volume,
    series: new Map(
      [...bars.series].map(([key, values]) => [key, Float64Array.from(rows, (source) => values[source])]),
    ),
    sha256: `${bars.sha256} ${name}`,
  };
}
