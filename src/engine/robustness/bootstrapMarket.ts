// A market made of the bars of another one: blocks of consecutive bars, drawn with replacement and joined.
import { TIMEFRAME_MS, type Bars, type Market } from '../bars/bars.ts';
import { resample } from '../bars/resample.ts';
import { lowerBound } from '../kernels/search.ts';
import { uniform } from '../sweep/seeded.ts';

const MIN_BLOCK = 10;
/** Blocks about as long as this keep what lasts a few bars and still differ from each other. */
export const defaultBlockBars = (bars: number): number => Math.max(MIN_BLOCK, Math.round(Math.sqrt(bars)));

/**
 * The first `end` rows of a market with other bars at the same times. Each bar keeps its shape relative to the close
 * before it (circular block bootstrap, Politis and Romano 1992), so that prices join without jumps. Other instruments
 * get the same blocks, coarser timeframes are resampled from the new bars, and columns beside the bars move with them.
 * There are no finer bars.
 */
export function bootstrapMarket(
  market: Market,
  { end, blockBars, seed, sample }: { end: number; blockBars: number; seed: number; sample: number },
): Market {
  const { base } = market;
  const rows = drawRows(end, blockBars, seed, sample);
  const name = `bootstrap ${blockBars} ${seed} ${sample}`;
  const made = new Map<string, Bars>([[`${base.symbol} ${base.timeframe}`, redrawn(base, rows, name)]]);
  const drawn = (symbol: string): Bars | undefined => {
    const key = `${symbol} ${base.timeframe}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const source = market.bars(symbol, base.timeframe);
    if (source === undefined) return undefined;
    const bars = redrawn(source, alignedRows(base, rows, source), name);
    made.set(key, bars);
    return bars;
  };
  return {
    base: made.get(`${base.symbol} ${base.timeframe}`)!,
    instrument: market.instrument,
    fine: undefined,
    bars: (symbol, timeframe) => {
      const key = `${symbol} ${timeframe}`;
      const known = made.get(key);
      if (known !== undefined) return known;
      const source = drawn(symbol);
      if (timeframe === base.timeframe || source === undefined) return source;
      if (TIMEFRAME_MS[timeframe] < TIMEFRAME_MS[base.timeframe]) return undefined;
      const bars = resample(source, timeframe);
      made.set(key, bars);
      return bars;
    },
  };
}

/** The source row of every row. The first bar has no close before it, and is only ever the first. */
function drawRows(end: number, blockBars: number, seed: number, sample: number): Int32Array {
  const rows = new Int32Array(end);
  const sources = end - 1;
  for (let row = 1, block = 0; row < end; block++) {
    const first = Math.floor(uniform(seed, sample, block) * sources);
    for (let at = 0; at < blockBars && row < end; at++, row++) rows[row] = 1 + ((first + at) % sources);
  }
  return rows;
}

/** The rows of another instrument that lie at the times of the drawn rows; only those where it has a bar. */
function alignedRows(
  base: Bars,
  rows: Int32Array,
  other: Bars,
): { readonly time: Float64Array; readonly rows: Int32Array } {
  const time: number[] = [];
  const aligned: number[] = [];
  rows.forEach((source, row) => {
    const at = lowerBound(other.time, base.time[source]);
    if (at >= other.length || other.time[at] !== base.time[source] || (at === 0 && aligned.length > 0)) return;
    time.push(base.time[row]);
    aligned.push(at);
  });
  return { time: Float64Array.from(time), rows: Int32Array.from(aligned) };
}

function redrawn(
  bars: Bars,
  drawn: Int32Array | { readonly time: Float64Array; readonly rows: Int32Array },
  name: string,
): Bars {
  const rows = 'rows' in drawn ? drawn.rows : drawn;
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
    time: 'rows' in drawn ? drawn.time : bars.time.subarray(0, length),
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
