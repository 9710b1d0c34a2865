// Statistics of returns (semantics §5.1, §5.3, §5.4): from daily equity at UTC close, and from the benchmark's daily closes.
import { DAY_MS } from '../columns/bars.ts';
import {
  covariance,
  mean,
  percentile,
  populationShape,
  sampleExcessKurtosis,
  sampleSkew,
  standardDeviation,
  sum,
} from './moments.ts';
import { normalCdf } from './normal.ts';

const YEAR_MS = 365.25 * DAY_MS;

/** One entry a UTC day that has bars. */
export interface DailySeries {
  /** Start of the day, ms UTC. */
  readonly day: Float64Array;
  /** The last mark of the day. */
  readonly equity: Float64Array;
  /** equity / the day before's - 1; the first against the initial balance. */
  readonly returns: Float64Array;
  /** Daily returns of the instrument, the first against the first evaluated open. */
  readonly benchmark: Float64Array;
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
  const lastRows: number[] = [];
  for (let row = start; row < end; row++) {
    if (row + 1 === end || Math.floor(time[row + 1] / DAY_MS) !== Math.floor(time[row] / DAY_MS)) lastRows.push(row);
  }
  const changes = (values: Float64Array, before: number): Float64Array =>
    values.map((value, index) => {
      const previous = index === 0 ? before : values[index - 1];
      return previous > 0 ? value / previous - 1 : 0;
    });
  const marks = Float64Array.from(lastRows, (row) => equity[row - start]);
  return {
    day: Float64Array.from(lastRows, (row) => Math.floor(time[row] / DAY_MS) * DAY_MS),
    equity: marks,
    returns: changes(marks, initialBalance),
    benchmark: changes(
      Float64Array.from(lastRows, (row) => close[row]),
      firstOpen,
    ),
  };
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

/** @param periods A, periods a year: 365 or 252. */
export function returnStatistics(daily: DailySeries, initialBalance: number, periods: number): ReturnStatistics {
  const { returns, benchmark } = daily;
  const average = mean(returns);
  const deviation = standardDeviation(returns);
  const isDefined = average !== null && deviation !== null && deviation > 0;
  const downside = Math.sqrt(mean(returns.map((r) => Math.min(r, 0) ** 2)) ?? 0);
  const losses = -sum(returns.map((r) => Math.min(r, 0)));
  const ascending = Float64Array.from(returns).sort();
  const low = percentile(ascending, 5);
  const varianceOfBenchmark = covariance(benchmark, benchmark);
  const beta =
    varianceOfBenchmark === null || varianceOfBenchmark === 0
      ? null
      : covariance(returns, benchmark)! / varianceOfBenchmark;
  return {
    annualVolatility: deviation === null ? null : deviation * Math.sqrt(periods),
    sharpeRatio: isDefined ? (average / deviation) * Math.sqrt(periods) : null,
    sortinoRatio: returns.length >= 2 && downside > 0 ? (average! * periods) / (downside * Math.sqrt(periods)) : null,
    omegaRatio: losses > 0 ? sum(returns.map((r) => Math.max(r, 0))) / losses : null,
    ulcerIndex: ulcerIndex(daily.equity, initialBalance),
    tailRatio: low === null || low === 0 ? null : Math.abs(percentile(ascending, 95)!) / Math.abs(low),
    var95: low,
    cvar95: mean(ascending.subarray(0, returns.length === 0 ? 0 : Math.floor((returns.length - 1) * 0.05) + 1)),
    skew: sampleSkew(returns),
    kurtosis: sampleExcessKurtosis(returns),
    beta,
    alpha: beta === null ? null : (average! - beta * mean(benchmark)!) * periods,
    ...sharpeConfidence(returns, isDefined ? average / deviation : null),
  };
}

function ulcerIndex(equity: Float64Array, initialBalance: number): number | null {
  if (equity.length < 2) return null;
  let peak = initialBalance;
  const squares = equity.map((value) => {
    peak = Math.max(peak, value);
    return (value / peak - 1) ** 2;
  });
  return Math.sqrt(sum(squares) / (equity.length - 1));
}

/** @param sharpe daily, not annualised; null: undefined. */
export function sharpeConfidence(
  returns: Float64Array,
  sharpe: number | null,
): Pick<ReturnStatistics, 'probabilisticSharpe' | 'minTrackRecordDays'> {
  const shape = populationShape(returns);
  if (sharpe === null || shape === null) return { probabilisticSharpe: null, minTrackRecordDays: null };
  const spread = 1 - shape.skew * sharpe + ((shape.kurtosis - 1) / 4) * sharpe * sharpe;
  if (!(spread > 0)) return { probabilisticSharpe: null, minTrackRecordDays: null };
  return {
    probabilisticSharpe: normalCdf((sharpe * Math.sqrt(returns.length - 1)) / Math.sqrt(spread)),
    minTrackRecordDays: sharpe > 0 ? 1 + spread * (1.645 / sharpe) ** 2 : null,
  };
}

/** Compound growth a calendar year (365.25 days); null when nothing is left or no time has passed. */
export function cagr(initial: number, final: number, startMs: number, endMs: number): number | null {
  const years = (endMs - startMs) / YEAR_MS;
  if (!(final > 0) || !(years > 0)) return null;
  const growth = (final / initial) ** (1 / years) - 1;
  return Number.isFinite(growth) ? growth : null;
}
