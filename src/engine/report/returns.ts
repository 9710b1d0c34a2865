// Statistics of returns (semantics §5.1, §5.3, §5.4): from daily equity at UTC close, and from the benchmark's daily
// closes.
import { DAY_MS, type Bars } from '../bars/bars.ts';
import { daysOf } from '../bars/days.ts';
import { KeptByRange } from '../bars/keptByRange.ts';
import type { BlockValues } from '../definitions/statistics/statistics.ts';
import { gather } from '../kernels/gather.ts';
import { ReusedColumn } from '../kernels/reusedColumn.ts';
import { selectRank } from '../kernels/select.ts';
import { newKeptNumbers } from '../kernels/sharedBuffer.ts';
import {
  mean,
  percentile,
  ROUNDING,
  sampleExcessKurtosis,
  sampleSkew,
  shapeOf,
  standardDeviation,
  variance,
} from './moments.ts';
import { powerSums, returnSums, type PowerSums, type ReturnSums } from './returnSums.ts';
import { minTrackRecord, probabilisticSharpe } from './sharpeConfidence.ts';

const YEAR_MS = 365.25 * DAY_MS;

/** One entry per UTC day that has bars. */
export interface DailySeries {
  /** Start of the day, ms UTC. */
  readonly day: Float64Array;
  /** The last mark of the day. */
  readonly equity: Float64Array;
  /** equity / previous day's equity - 1; the first against the initial balance. */
  readonly returns: Float64Array;
  readonly sums: ReturnSums;
  /** A function, because most variants never ask for it. */
  readonly benchmark: () => BenchmarkReturns;
}

/** Daily returns of the benchmark, the first against the first evaluated open. */
interface BenchmarkReturns {
  readonly returns: Float64Array;
  readonly mean: number | null;
  /** Divisor n - 1. */
  readonly variance: number | null;
}

/** Columns of days that are written again for each run. */
const MARKS = new ReusedColumn();
const RETURNS = new ReusedColumn();
const SELECTED_RETURNS = new ReusedColumn();

/**
 * Days by the open time of bars `start` … `end`-1; `equity[i]` is the mark at the close of row start + i, or the last
 * mark of day i when there is one per day. The result is valid until the next call.
 * @param prices those of the benchmark, one for each of the bars
 */
export function dailySeries(
  bars: Bars,
  equity: Float64Array,
  start: number,
  end: number,
  initialBalance: number,
  prices: Prices = bars,
): DailySeries {
  const { day, lastRows } = daysOf(bars.time, start, end);
  const marks = MARKS.take(lastRows.length);
  const returns = RETURNS.take(lastRows.length);
  if (marks.length === equity.length) marks.set(equity);
  else gather(equity, lastRows, marks, start);
  return {
    day,
    equity: marks,
    returns,
    sums: returnSums(marks, returns, initialBalance),
    benchmark: () => benchmarkOf(prices, start, end, lastRows),
  };
}

type Prices = Pick<Bars, 'open' | 'close'>;
const benchmarks = new KeptByRange<Prices, BenchmarkReturns>();

function benchmarkOf(prices: Prices, start: number, end: number, lastRows: Int32Array): BenchmarkReturns {
  return benchmarks.get(prices, start, end, () => {
    const { open, close } = prices;
    const returns = newKeptNumbers(lastRows.length);
    gather(close, lastRows, returns);
    let previous = end > start ? open[start] : NaN;
    for (let day = 0; day < returns.length; day++) {
      const price = returns[day];
      returns[day] = previous > 0 ? price / previous - 1 : 0;
      previous = price;
    }
    const average = mean(returns);
    return { returns, mean: average, variance: variance(returns, 1, average) };
  });
}

type ReturnStatistics = BlockValues<'returns'>;

/**
 * @param periods A, the periods per year: 365 or 252.
 * @param wanted the keys to compute, all others may be null; null: every key.
 * @param riskFreePerYear a fraction, divided evenly among the periods.
 */
export function returnStatistics(
  daily: DailySeries,
  periods: number,
  wanted: ReadonlySet<string> | null = null,
  riskFreePerYear = 0,
): ReturnStatistics {
  const wants = (...keys: (keyof ReturnStatistics)[]): boolean =>
    wanted === null || keys.some((key) => wanted.has(key));
  const { returns, sums } = daily;
  const days = returns.length;
  const average = days === 0 ? null : sums.total / days;
  const benchmark = wants('beta', 'alpha') ? daily.benchmark() : null;
  const hasShape = wants('skew', 'kurtosis', 'probabilisticSharpe', 'minTrackRecordDays');
  const powers =
    average !== null && (hasShape || benchmark !== null)
      ? powerSums(returns, average, benchmark?.returns, benchmark?.mean ?? 0)
      : null;
  const deviation =
    powers === null ? standardDeviation(returns, 1, average) : days < 2 ? null : Math.sqrt(powers.second / (days - 1));
  const isDefined = average !== null && deviation !== null && deviation > ROUNDING;
  const riskFree = riskFreePerYear / periods;
  const excess = average === null ? null : average - riskFree;
  const squaredLosses = riskFree === 0 ? sums.squaredLosses : squaredShortfalls(returns, riskFree);
  const downside = days === 0 ? 0 : Math.sqrt(squaredLosses / days);
  const shape = hasShape && powers !== null ? shapeOf(powers, days) : null;
  const sample = isDefined && shape !== null ? { ...shape, sharpe: excess! / deviation, days } : null;
  const { tailRatio, var95, cvar95 } = days > 0 && wants('tailRatio', 'var95', 'cvar95') ? tails(returns) : NO_TAILS;
  const { beta, alpha } = againstBenchmark(benchmark, powers, { average, riskFree, days, periods });
  return {
    annualVolatility: deviation === null ? null : deviation * Math.sqrt(periods),
    sharpeRatio: isDefined ? (excess! / deviation) * Math.sqrt(periods) : null,
    sortinoRatio: days >= 2 && downside > ROUNDING ? (excess! * periods) / (downside * Math.sqrt(periods)) : null,
    omegaRatio: sums.losses > ROUNDING * days ? sums.gains / sums.losses : null,
    ulcerIndex: days < 2 ? null : Math.sqrt(sums.squaredFalls / (days - 1)),
    tailRatio,
    var95,
    cvar95,
    skew: sampleSkew(shape, days),
    kurtosis: sampleExcessKurtosis(shape, days),
    beta,
    alpha,
    probabilisticSharpe: sample && probabilisticSharpe(sample, 0),
    minTrackRecordDays: sample && minTrackRecord(sample),
  };
}

/** Σ min(r − target, 0)². */
function squaredShortfalls(returns: Float64Array, target: number): number {
  let sum = 0;
  for (const value of returns) sum += Math.min(value - target, 0) ** 2;
  return sum;
}

type Tails = Pick<ReturnStatistics, 'tailRatio' | 'var95' | 'cvar95'>;
const NO_TAILS: Tails = { tailRatio: null, var95: null, cvar95: null };

/** So many returns are sorted faster than their ends are selected. */
const MOST_SORTED = 128;

/** The tails of at least one return. */
function tails(returns: Float64Array): Tails {
  const days = returns.length;
  const tailDays = Math.floor((days - 1) * 0.05) + 1;
  const selected = SELECTED_RETURNS.take(days);
  selected.set(returns);
  const wanted = Math.min(tailDays + 1, days);
  if (days <= MOST_SORTED) selected.sort();
  else {
    selectRank(selected, wanted - 1);
    selectRank(selected, days - wanted, wanted);
    selected.subarray(0, wanted).sort();
    selected.subarray(days - wanted).sort();
  }
  const lowest = selected.subarray(0, wanted);
  const highest = selected.subarray(days - wanted);
  const low = percentile(lowest, 5, 0, days)!;
  const high = percentile(highest, 95, days - highest.length, days)!;
  return {
    tailRatio: Math.abs(low) <= ROUNDING ? null : Math.abs(high) / Math.abs(low),
    var95: low,
    cvar95: mean(lowest.subarray(0, tailDays)),
  };
}

function againstBenchmark(
  benchmark: BenchmarkReturns | null,
  powers: PowerSums | null,
  of: {
    readonly average: number | null;
    readonly riskFree: number;
    readonly days: number;
    readonly periods: number;
  },
): Pick<ReturnStatistics, 'beta' | 'alpha'> {
  if (benchmark === null || powers === null || benchmark.variance === null || benchmark.variance <= ROUNDING ** 2)
    return { beta: null, alpha: null };
  const { average, riskFree, days, periods } = of;
  const beta = powers.product / (days - 1) / benchmark.variance;
  return { beta, alpha: (average! - riskFree - beta * (benchmark.mean! - riskFree)) * periods };
}

/** Compound growth per calendar year (365.25 days); null if nothing is left or no time has passed. */
export function cagr(initial: number, final: number, startMs: number, endMs: number): number | null {
  const years = (endMs - startMs) / YEAR_MS;
  if (!(final > 0) || !(years > 0)) return null;
  const growth = (final / initial) ** (1 / years) - 1;
  return Number.isFinite(growth) ? growth : null;
}
