// The combination of several runs into one weighted account: its equity, its statistics, and the contribution of each
// run (docs/compare.md has the formulas).
import { mean, ROUNDING } from '../moments.ts';
import { drawdowns, drawdownStatistics } from '../drawdown.ts';
import { cagr, returnStatistics } from '../returns.ts';
import { returnSums } from '../returnSums.ts';
import { correlationsOf, type Correlations } from './correlations.ts';
import { equityBefore, marksOn, unionOfDays, type DailyEquity, type DayRange } from './dailyEquity.ts';

/** When the parts are brought back to their weights. */
export const REBALANCES = ['none', 'daily', 'monthly'] as const;
export type Rebalance = (typeof REBALANCES)[number];

interface CombinedRun {
  readonly equity: DailyEquity;
  /** A fraction of the account. */
  readonly weight: number;
}

interface CombineOptions {
  /** The days that every run covers. */
  readonly range: DayRange;
  readonly rebalance: Rebalance;
  readonly initialBalance: number;
  /** A fraction per year. */
  readonly riskFree: number;
}

/** The statistics that are computed from daily equity, named as in the summary of a run. */
const STATISTICS = [
  'annualVolatility',
  'sharpeRatio',
  'sortinoRatio',
  'omegaRatio',
  'ulcerIndex',
  'skew',
  'kurtosis',
  'var95',
  'cvar95',
] as const;
const WANTED: ReadonlySet<string> = new Set(STATISTICS);
/** The keys of the statistics of an account, in the order in which they are answered. */
export const COMBINED_KEYS = [
  'finalEquity',
  'returnPct',
  'cagr',
  ...STATISTICS,
  'maxDrawdown',
  'avgDrawdown',
  'calmarRatio',
  'timeUnderwaterPct',
] as const;
export type CombinedSummary = Readonly<Record<(typeof COMBINED_KEYS)[number], number | null>>;

interface CombinedPart {
  readonly weight: number;
  /** Its share of the account at the end. */
  readonly finalWeight: number | null;
  /** What it earned, as a fraction of the initial balance. All of them add up to the return of the account. */
  readonly contribution: number;
  /** Of the run alone, in the common period. */
  readonly summary: CombinedSummary;
  /** What the run was worth on each day, as a multiple of its equity before the first. */
  readonly growth: Float64Array;
}

interface JointDrawdown {
  /** Of the account, as a fraction of its peak. */
  readonly depth: number;
  /** Starts of days, ms UTC; `peak` is the start of the first day when the account never rose above where it began. */
  readonly peak: number;
  readonly trough: number;
  /** null: it has not recovered. */
  readonly recovered: number | null;
  /** In the order of the runs. */
  readonly runs: readonly {
    /** From that peak to that trough. */
    readonly returnPct: number | null;
    /** At that trough, from the peak of the run itself. */
    readonly drawdown: number;
    /** The deepest of the run in the whole period. */
    readonly maxDrawdown: number;
  }[];
}

export interface Combination {
  /** The later of the first opens, and the earlier of the last closes, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly days: Float64Array;
  readonly equity: Float64Array;
  readonly summary: CombinedSummary;
  readonly parts: readonly CombinedPart[];
  /** null: the account never fell. */
  readonly drawdown: JointDrawdown | null;
  /** The weighted mean of the volatilities of the runs / the volatility of the account; null if that has none. */
  readonly diversificationRatio: number | null;
  readonly correlations: Correlations;
}

/** @param runs each with something left before the first day of the range; their weights add up to 1 */
export function combine(runs: readonly CombinedRun[], options: CombineOptions): Combination {
  const { range, initialBalance, riskFree } = options;
  const all = runs.map(({ equity }) => equity);
  const days = unionOfDays(all, range);
  const bases = all.map((run) => equityBefore(run, range.first));
  const marks = all.map((run) => marksOn(run, days));
  const { equity, earned, values } = account(runs, marks, bases, days, options);
  const period = {
    start: all.reduce((latest, run) => Math.max(latest, run.start), -Infinity),
    end: all.reduce((earliest, run) => Math.min(earliest, run.end), Infinity),
    periodsPerYear: all.reduce((most, run) => Math.max(most, run.periodsPerYear), 0),
    riskFree,
  };
  const final = equity.at(-1)!;
  const summary = summaryOf(equity, initialBalance, period);
  const parts = runs.map(({ weight }, at): CombinedPart => ({
    weight,
    finalWeight: final > 0 ? values[at] / final : null,
    contribution: earned[at] / initialBalance,
    summary: summaryOf(marks[at], bases[at], period),
    growth: marks[at].map((mark) => mark / bases[at]),
  }));
  return {
    ...period,
    days,
    equity,
    summary,
    parts,
    drawdown: jointDrawdown(equity, initialBalance, days, marks, bases),
    diversificationRatio: diversification(parts, summary.annualVolatility),
    correlations: correlationsOf(all, range),
  };
}

interface Account {
  readonly equity: Float64Array;
  /** What each run earned, in money. */
  readonly earned: readonly number[];
  /** What each part is worth at the end. */
  readonly values: readonly number[];
}

/**
 * The account day by day. When the parts are set to their weights, each run is bought for its part of the account, as
 * so many units of its equity. A run with nothing left cannot be bought: its part is kept in cash.
 */
function account(
  runs: readonly CombinedRun[],
  marks: readonly Float64Array[],
  bases: readonly number[],
  days: Float64Array,
  { rebalance, initialBalance }: CombineOptions,
): Account {
  const equity = new Float64Array(days.length);
  const earned = runs.map(() => 0);
  let total = initialBalance;
  let bought = bases;
  let units = runs.map(() => 0);
  let values = runs.map(() => 0);
  for (let day = 0; day < days.length; day++) {
    if (day === 0 || isDue(rebalance, days[day - 1], days[day])) {
      if (day > 0) bought = marks.map((own) => own[day - 1]);
      const money = total;
      units = runs.map(({ weight }, at) => (bought[at] > 0 ? (money * weight) / bought[at] : 0));
      values = runs.map(({ weight }) => money * weight);
    }
    const next = marks.map((own, at) => (units[at] === 0 ? values[at] : units[at] * own[day]));
    for (const [at, value] of next.entries()) earned[at] += value - values[at];
    values = next;
    total = next.reduce((sum, value) => sum + value, 0);
    equity[day] = total;
  }
  return { equity, earned, values };
}

/** Whether the parts are brought back to their weights between these days. */
function isDue(rebalance: Rebalance, before: number, day: number): boolean {
  if (rebalance !== 'monthly') return rebalance === 'daily';
  const [last, next] = [new Date(before), new Date(day)];
  return last.getUTCMonth() !== next.getUTCMonth() || last.getUTCFullYear() !== next.getUTCFullYear();
}

interface Period {
  readonly start: number;
  readonly end: number;
  readonly periodsPerYear: number;
  readonly riskFree: number;
}

/** The statistics of daily equity, by the same functions as those of a run. */
function summaryOf(equity: Float64Array, initialBalance: number, period: Period): CombinedSummary {
  const returns = new Float64Array(equity.length);
  const sums = returnSums(equity, returns, initialBalance);
  // The benchmark is read for alpha and beta only, which are not wanted.
  const benchmark = () => ({ returns, mean: mean(returns), variance: null });
  const daily = { day: equity, equity, returns, sums, benchmark };
  const statistics = returnStatistics(daily, period.periodsPerYear, WANTED, period.riskFree);
  const drawdown = drawdownStatistics(equity, initialBalance);
  const finalEquity = equity.at(-1)!;
  const growth = cagr(initialBalance, finalEquity, period.start, period.end);
  const { maxDrawdown, avgDrawdown, underwaterBars } = drawdown;
  const chosen = Object.fromEntries(STATISTICS.map((key) => [key, statistics[key]]));
  return {
    ...(chosen as Pick<CombinedSummary, (typeof STATISTICS)[number]>),
    finalEquity,
    returnPct: finalEquity / initialBalance - 1,
    cagr: growth,
    maxDrawdown,
    avgDrawdown,
    calmarRatio: growth === null || maxDrawdown <= ROUNDING ? null : growth / maxDrawdown,
    timeUnderwaterPct: underwaterBars / equity.length,
  };
}

function jointDrawdown(
  equity: Float64Array,
  initialBalance: number,
  days: Float64Array,
  marks: readonly Float64Array[],
  bases: readonly number[],
): JointDrawdown | null {
  const { maxDrawdown, peakIndex, troughIndex, recoveredIndex } = drawdownStatistics(equity, initialBalance);
  if (peakIndex === null || troughIndex === null) return null;
  const runs = marks.map((own, at) => {
    const peak = peakIndex < 0 ? bases[at] : own[peakIndex];
    const falls = drawdowns(own, bases[at]);
    return {
      returnPct: peak > 0 ? own[troughIndex] / peak - 1 : null,
      drawdown: falls[troughIndex],
      maxDrawdown: falls.reduce((deepest, fall) => Math.max(deepest, fall), 0),
    };
  });
  const recovered = recoveredIndex === null ? null : days[recoveredIndex];
  return { depth: maxDrawdown, peak: days[Math.max(0, peakIndex)], trough: days[troughIndex], recovered, runs };
}

function diversification(parts: readonly CombinedPart[], volatility: number | null): number | null {
  const own = parts.map(({ weight, summary }) =>
    summary.annualVolatility === null ? null : weight * summary.annualVolatility,
  );
  if (volatility === null || volatility <= ROUNDING || own.includes(null)) return null;
  return own.reduce<number>((sum, value) => sum + value!, 0) / volatility;
}
