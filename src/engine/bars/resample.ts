// Resampling: coarser bars from finer ones, in UTC buckets.
import { compensatedSum } from '../kernels/compensatedSum.ts';
import { allocateShared } from '../kernels/sharedMemory.ts';
import type { Bars, Timeframe } from './bars.ts';
import { closeOf, closesOf, divides, isFiner, longestMs, openOf } from './timeframes.ts';

/**
 * Bars of a coarser timeframe: a bucket [k·timeframe, (k+1)·timeframe) since 1970 UTC (days begin 00:00 UTC, weeks on
 * Monday; months are those of the calendar) with any child is a bar, an empty one is absent. Open of the first child,
 * extremes, close of the last, volume summed as decimals; an extra column takes its last present value in the bucket. A
 * child belongs to the bucket in which it opens.
 */
export function resample(bars: Bars, timeframe: Timeframe): Bars {
  if (!divides(bars.timeframe, timeframe)) {
    const reason = isFiner(bars.timeframe, timeframe) ? 'no whole number of them makes one' : 'it is not coarser';
    throw new Error(`${bars.timeframe} bars cannot be resampled to ${timeframe}: ${reason}.`);
  }
  // Children are never months.
  const childMs = longestMs(bars.timeframe);
  const closeOfBucket = closesOf(timeframe);
  const starts = bucketStarts(bars.time, timeframe);
  const length = starts.length - 1;
  const [time, open, high, low, close, volume, ...more] = sharedColumns(6 + bars.series.size, length);
  let partialBars = 0;
  let overhangMs = 0;
  for (let row = 0; row < length; row++) {
    const first = starts[row];
    const end = starts[row + 1];
    const bucket = openOf(timeframe, bars.time[first]);
    const bucketEnd = closeOfBucket(bucket);
    time[row] = bucket;
    open[row] = bars.open[first];
    close[row] = bars.close[end - 1];
    high[row] = greatest(bars.high, first, end);
    low[row] = least(bars.low, first, end);
    volume[row] = decimalSum(bars.volume, first, end);
    if ((end - first) * childMs < bucketEnd - bucket) partialBars++;
    overhangMs = Math.max(overhangMs, bars.time[end - 1] + childMs - bucketEnd);
  }
  const series = new Map([...bars.series].map(([name, values], at) => [name, lastPresent(values, starts, more[at])]));
  const { symbol, sha256 } = bars;
  return {
    symbol,
    timeframe,
    length,
    time,
    open,
    high,
    low,
    close,
    volume,
    series,
    sha256,
    isResampled: true,
    partialBars,
    overhangMs,
  };
}

function sharedColumns(count: number, length: number): Float64Array[] {
  const { buffer } = allocateShared(count * length * 8).memory;
  return Array.from({ length: count }, (_, index) => new Float64Array(buffer, index * length * 8, length));
}

/** The first child of each bucket, and the number of children at the end. */
function bucketStarts(time: Float64Array, timeframe: Timeframe): Uint32Array {
  const starts = new Uint32Array(time.length + 1);
  let count = 0;
  let bucketEnd = -Infinity;
  for (let row = 0; row < time.length; row++) {
    if (time[row] < bucketEnd) continue;
    starts[count++] = row;
    bucketEnd = closeOf(timeframe, openOf(timeframe, time[row]));
  }
  starts[count] = time.length;
  return starts.subarray(0, count + 1);
}

function greatest(values: Float64Array, first: number, end: number): number {
  let best = values[first];
  for (let row = first + 1; row < end; row++) if (values[row] > best) best = values[row];
  return best;
}

function least(values: Float64Array, first: number, end: number): number {
  let best = values[first];
  for (let row = first + 1; row < end; row++) if (values[row] < best) best = values[row];
  return best;
}

/** Volumes are written with at most eight decimals by the exchanges. */
const UNITS = 1e8;

/**
 * The sum of the decimals as written: 0.1 + 0.2 is 0.3. A day of minutes then gives the exchange's own daily volume,
 * not one that differs in the last place. Values with more decimals, or too large for whole units, are summed as they
 * are.
 */
function decimalSum(values: Float64Array, first: number, end: number): number {
  let units = 0;
  for (let row = first; row < end; row++) {
    const whole = Math.round(values[row] * UNITS);
    units += whole;
    if (whole / UNITS !== values[row] || units > Number.MAX_SAFE_INTEGER) return compensatedSum(values, first, end);
  }
  return units / UNITS;
}

function lastPresent(values: Float64Array, starts: Uint32Array, out: Float64Array): Float64Array {
  for (let bucket = 0; bucket < out.length; bucket++) {
    let row = starts[bucket + 1] - 1;
    while (row > starts[bucket] && Number.isNaN(values[row])) row--;
    out[bucket] = values[row];
  }
  return out;
}
