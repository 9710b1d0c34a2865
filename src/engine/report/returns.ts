// Statistics of returns (semantics §5.1, §5.3, §5.4): from daily equity at UTC close, and from the benchmark's daily
// closes.
import { DAY_MS } from '../bars/bars.ts';
import { daysOf } from '../bars/days.ts';
import {
  centralSums,
  covariance,
  mean,
  percentileOf,
  shapeOf,
  sampleExcessKurtosis,
  sampleSkew,
  standardDeviation,
} from './moments.ts';
import { ReusedColumn } from '../kernels/reusedColumn.ts';
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
  /** Daily returns of the instrument, the first against the first evaluated open. Most variants never ask for them. */
  readonly benchmark: () => Float64Array;
}

/** Days by the open time of bars `start` … `end`-1; `equity[i]` is the mark at the close of row start + i. */
export function dailySeries(
  time: Float64Array,
  close: Float64Array,
  firstOpen: number,
  equity: Float64Array,
  start: number,
  end: number,
  initialBalance: number,
): DailySeries {
  const days = daysOf(time, start, end);
  const count = days.lastRows.length;
  const marks = new Float64Array(count);
  for (let index = 0; index < count; index++) marks[index] = equity[days.lastRows[index] - start];
  return {
    day: days.day,
    equity: marks,
    returns: changes(marks, initialBalance),
    benchmark: () => benchmarkOf(time, close, firstOpen, start, end, days.lastRows),
  };
}

/** The benchmark of the last range, because the runs of a batch share it. Bars are never written to. */
const benchmarks = new WeakMap<Float64Array, KeptBenchmark>();
interface KeptBenchmark {
  readonly close: Float64Array;
  readonly firstOpen: number;
  readonly start: number;
  readonly end: number;
  readonly returns: Float64Array;
}

function benchmarkOf(
  time: Float64Array,
  close: Float64Array,
  firstOpen: number,
  start: number,
  end: number,
  lastRows: Int32Array,
): Float64Array {
  const kept = benchmarks.get(time);
  const isSame = kept?.close === close && kept.firstOpen === firstOpen && kept.start === start && kept.end === end;
  if (isSame) return kept.returns;
  const closes = Float64Array.from(lastRows, (row) => close[row]);
  const returns = changes(closes, firstOpen);
  benchmarks.set(time, { close, firstOpen, start, end, returns });
  return returns;
}

function changes(values: Float64Array, before: number): Float64Array {
  const out = new Float64Array(values.length);
  let previous = before;
  for (let index = 0; index < values.length; index++) {
    out[index] = previous > 0 ? values[index] / previous - 1 : 0;
    previous = values[index];
  }
  return out;
}

export interface ReturnStatistics {
  /** sd(ddof 1)·√A. */
  readonly annualVolatility: number | null;
  /** mean/sd(ddof 1)·√A [empyrical sharpe_ratio]. */
  readonly sharpeRatio: number | null;
  /** mean·A / (√mean(min(r,0)²)·√A) over all days [empyrical sortino_ratio]. */
  readonly sortinoRatio: number | null;
  /** Σmax(r,0) / -Σmin(r,0) [empyrical omega_ratio at 0]. */
  readonly omegaRatio: number | null;
  /** √(Σdd²/(n-1)) [quantstats ulcer_index]. */
  readonly ulcerIndex: number | null;
  /** |95th percentile| / |5th percentile| [empyrical tail_ratio]. */
  readonly tailRatio: number | null;
  /** 5th percentile, linear [empyrical value_at_risk]. */
  readonly var95: number | null;
  /** Mean of the floor((n-1)·0.05)+1 smallest [empyrical conditional_value_at_risk]. */
  readonly cvar95: number | null;
  /** Bias-corrected [quantstats skew]. */
  readonly skew: number | null;
  /** Excess, bias-corrected [quantstats kurtosis]. */
  readonly kurtosis: number | null;
  /** cov(r, b)/var(b), ddof 1. */
  readonly beta: number | null;
  /** (mean r - beta·mean b)·A. */
  readonly alpha: number | null;
  /** Φ((s - 0)·√(n-1)/√(1 - g3·s + (g4-1)/4·s²)) (Bailey and López de Prado 2012). */
  readonly probabilisticSharpe: number | null;
  /** 1 + (1 - g3·s + (g4-1)/4·s²)·(1.645/s)², null at s <= 0. */
  readonly minTrackRecordDays: number | null;
}

/**
 * @param periods A, the periods per year: 365 or 252.
 * @param wanted keys to compute, the others being null; null: all.
 */
export function returnStatistics(
  daily: DailySeries,
  initialBalance: number,
  periods: number,
  wanted: ReadonlySet<string> | null = null,
): ReturnStatistics {
  const wants = (...keys: (keyof ReturnStatistics)[]): boolean =>
    wanted === null || keys.some((key) => wanted.has(key));
  const { returns } = daily;
  const average = mean(returns);
  const deviation = standardDeviation(returns, 1, average);
  const isDefined = average !== null && deviation !== null && deviation > 0;
  const NO_SIDES = { gains: 0, losses: 0, squaredLosses: 0 };
  const { gains, losses, squaredLosses } = wants('sortinoRatio', 'omegaRatio') ? gainsAndLosses(returns) : NO_SIDES;
  const downside = returns.length === 0 ? 0 : Math.sqrt(squaredLosses / returns.length);
  const hasShape = wants('skew', 'kurtosis', 'probabilisticSharpe', 'minTrackRecordDays');
  const shape = hasShape && average !== null ? shapeOf(centralSums(returns, average), returns.length) : null;
  const sample = isDefined && shape !== null ? { ...shape, sharpe: average / deviation, days: returns.length } : null;
  return {
    annualVolatility: deviation === null ? null : deviation * Math.sqrt(periods),
    sharpeRatio: isDefined ? (average / deviation) * Math.sqrt(periods) : null,
    sortinoRatio: returns.length >= 2 && downside > 0 ? (average! * periods) / (downside * Math.sqrt(periods)) : null,
    omegaRatio: losses > 0 ? gains / losses : null,
    ulcerIndex: wants('ulcerIndex') ? ulcerIndex(daily.equity, initialBalance) : null,
    ...tails(wants('tailRatio', 'var95', 'cvar95') ? returns : new Float64Array(0)),
    skew: sampleSkew(shape, returns.length),
    kurtosis: sampleExcessKurtosis(shape, returns.length),
    ...(wants('beta', 'alpha')
      ? againstBenchmark(returns, average, daily.benchmark(), periods)
      : { beta: null, alpha: null }),
    probabilisticSharpe: sample && probabilisticSharpe(sample, 0),
    minTrackRecordDays: sample && minTrackRecord(sample),
  };
}

const SELECTED = new ReusedColumn();

function tails(returns: Float64Array): Pick<ReturnStatistics, 'tailRatio' | 'var95' | 'cvar95'> {
  const values = SELECTED.take(returns.length);
  values.set(returns);
  const low = percentileOf(values, 5);
  const tail = values.subarray(0, returns.length === 0 ? 0 : Math.floor((returns.length - 1) * 0.05) + 1).sort();
  return {
    tailRatio: low === null || low === 0 ? null : Math.abs(percentileOf(values, 95, tail.length)!) / Math.abs(low),
    var95: low,
    cvar95: mean(tail),
  };
}

function againstBenchmark(
  returns: Float64Array,
  average: number | null,
  benchmark: Float64Array,
  periods: number,
): Pick<ReturnStatistics, 'beta' | 'alpha'> {
  const { mean: benchmarkAverage, variance } = momentsOf(benchmark);
  if (variance === null || variance === 0) return { beta: null, alpha: null };
  const beta = covariance(returns, average, benchmark, benchmarkAverage)! / variance;
  return { beta, alpha: (average! - beta * benchmarkAverage!) * periods };
}

interface BenchmarkMoments {
  readonly mean: number | null;
  readonly variance: number | null;
}
const benchmarkMoments = new WeakMap<Float64Array, BenchmarkMoments>();

/** Of a benchmark, which the runs of a batch share. */
function momentsOf(benchmark: Float64Array): BenchmarkMoments {
  let moments = benchmarkMoments.get(benchmark);
  if (moments === undefined) {
    const average = mean(benchmark);
    moments = { mean: average, variance: covariance(benchmark, average, benchmark, average) };
    benchmarkMoments.set(benchmark, moments);
  }
  return moments;
}

/** Σmax(r,0), -Σmin(r,0) and Σmin(r,0)², each compensated as in `sum`. */
function gainsAndLosses(returns: Float64Array): { gains: number; losses: number; squaredLosses: number } {
  let gains = 0;
  let losses = 0;
  let squares = 0;
  let lostGains = 0;
  let lostLosses = 0;
  let lostSquares = 0;
  for (let index = 0; index < returns.length; index++) {
    const value = returns[index];
    if (value > 0) {
      const next = gains + value;
      lostGains += gains >= value ? gains - next + value : value - next + gains;
      gains = next;
    } else if (value < 0) {
      const loss = -value;
      const next = losses + loss;
      lostLosses += losses >= loss ? losses - next + loss : loss - next + losses;
      losses = next;
      const square = value * value;
      const nextSquares = squares + square;
      lostSquares += squares >= square ? squares - nextSquares + square : square - nextSquares + squares;
      squares = nextSquares;
    }
  }
  return { gains: gains + lostGains, losses: losses + lostLosses, squaredLosses: squares + lostSquares };
}

function ulcerIndex(equity: Float64Array, initialBalance: number): number | null {
  if (equity.length < 2) return null;
  let peak = initialBalance;
  let squares = 0;
  let lost = 0;
  for (let index = 0; index < equity.length; index++) {
    if (equity[index] >= peak) {
      peak = equity[index];
      continue;
    }
    const fall = equity[index] / peak - 1;
    const square = fall * fall;
    const next = squares + square;
    lost += squares >= square ? squares - next + square : square - next + squares;
    squares = next;
  }
  return Math.sqrt((squares + lost) / (equity.length - 1));
}

/** Compound growth per calendar year (365.25 days); null if nothing is left or no time has passed. */
export function cagr(initial: number, final: number, startMs: number, endMs: number): number | null {
  const years = (endMs - startMs) / YEAR_MS;
  if (!(final > 0) || !(years > 0)) return null;
  const growth = (final / initial) ** (1 / years) - 1;
  return Number.isFinite(growth) ? growth : null;
}
