// Walk-forward: in each fold, the variant that was best in training trades the next window, and the windows are joined.
import { mean, ROUNDING, standardDeviation } from '../report/moments.ts';
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { drawdownStatistics } from '../report/drawdown.ts';
import { chosenSummary, dailyOf, type FlatKey } from '../report/flatSummary.ts';
import { previewIndexes } from '../report/preview.ts';
import { narrowRun } from '../backtest.ts';
import { foldsOf, type Fold } from './folds.ts';
import { configOf, paramsOf, type LevelValue } from './space.ts';
import { objectiveOf } from './sweepJob.ts';
import { prepareVariant, simulateVariant, taskOf, type SweepContext } from './shard.ts';
import type { RankingRows, WholeRow } from './rankingRows.ts';

interface FoldResult extends Fold {
  /** The index of the chosen variant; null if no variant had a score in training. */
  readonly variant: number | null;
  readonly params: Readonly<Record<string, LevelValue>>;
  readonly inSample: number | null;
  readonly outOfSample: number | null;
  readonly returnPct: number | null;
  readonly maxDrawdown: number | null;
  readonly totalPositions: number | null;
}
export interface WalkForwardResult {
  readonly objective: FlatKey;
  readonly folds: readonly FoldResult[];
  /** Results over the consecutive test windows; each begins with the balance that the previous one left. */
  readonly outOfSample: {
    readonly returnPct: number;
    readonly sharpeRatio: number | null;
    readonly maxDrawdown: number;
    readonly days: number;
  };
  /** Mean of the objective out of sample over its mean in sample; null if that is meaningless. */
  readonly efficiency: number | null;
  /** At most 500 [time, equity] points. */
  readonly equity: readonly (readonly [number, number])[];
}

const PREVIEW_POINTS = 500;

/** The walk-forward of a sweep; null when none was asked for. */
export function walkForwardOf(context: SweepContext, rows: RankingRows): WalkForwardResult | null {
  const { job, marketOf } = context;
  if (job.spec.walkForward === undefined) return null;
  const { initialBalance } = job.spec.config;
  const joined: JoinedWindows = { balance: initialBalance, times: [], equity: [], returns: [], periodsPerYear: 365 };
  const folds = foldsOf(job.spec, marketOf).map((fold, index) =>
    tradeFold(context, fold, rows.inTraining[index], joined),
  );
  const { balance, times, equity, returns } = joined;
  const deviation = standardDeviation(returns);
  const annual = Math.sqrt(joined.periodsPerYear);
  return {
    objective: objectiveOf(job.spec).key,
    folds,
    outOfSample: {
      returnPct: balance / initialBalance - 1,
      sharpeRatio: deviation === null || deviation <= ROUNDING ? null : (mean(returns)! / deviation) * annual,
      maxDrawdown: drawdownStatistics(Float64Array.from(equity), initialBalance).maxDrawdown,
      days: returns.length,
    },
    efficiency: efficiencyOf(folds),
    equity: previewIndexes(equity.length, PREVIEW_POINTS).map((index) => [times[index], equity[index]]),
  };
}

/** The test windows traded so far, one after the other. */
interface JoinedWindows {
  /** The balance that the last window left. */
  balance: number;
  /** The open time of every bar, and the equity at its close. */
  readonly times: number[];
  readonly equity: number[];
  /** The return of every UTC day. */
  readonly returns: number[];
  periodsPerYear: number;
}

/**
 * Trades the test window of a fold with the variant that was best in training, and adds it to those before. A window
 * without such a variant, or without balance left, is left out.
 */
function tradeFold(context: SweepContext, fold: Fold, best: WholeRow | null, joined: JoinedWindows): FoldResult {
  const { job, space } = context;
  if (best === null || joined.balance <= 0) return untraded(fold);
  const config = configOf(job.spec.config, space, best.coordinates);
  const prepared = prepareVariant(context, config);
  if ('code' in prepared) return untraded(fold);
  const task = taskOf(job, { ...config, range: fold.test, initialBalance: joined.balance });
  const run = narrowRun(prepared, task);
  const parts = { ...run, simulation: simulateVariant(run.input) };
  const daily = dailyOf(parts);
  const { key, sign } = objectiveOf(job.spec);
  const summary = chosenSummary(parts, daily, new Set<FlatKey>([key, 'returnPct', 'maxDrawdown', 'totalPositions']));
  const { equity } = parts.simulation;
  const { bars, start, instrument } = run.input;
  equity.forEach((value, index) => {
    joined.times.push(bars.time[start + index]);
    joined.equity.push(value);
  });
  for (const value of daily.returns) joined.returns.push(value);
  joined.periodsPerYear = periodsPerYear(instrument);
  joined.balance = equity.at(-1) ?? joined.balance;
  return {
    ...fold,
    variant: best.variant,
    params: paramsOf(space, best.coordinates),
    inSample: sign * best.score,
    outOfSample: summary[key] ?? null,
    returnPct: summary.returnPct ?? null,
    maxDrawdown: summary.maxDrawdown ?? null,
    totalPositions: summary.totalPositions ?? null,
  };
}

const untraded = (fold: Fold): FoldResult => ({
  ...fold,
  variant: null,
  params: {},
  inSample: null,
  outOfSample: null,
  returnPct: null,
  maxDrawdown: null,
  totalPositions: null,
});

function efficiencyOf(folds: readonly FoldResult[]): number | null {
  const complete = folds.filter(({ inSample, outOfSample }) => inSample !== null && outOfSample !== null);
  const inSample = mean(complete.map((fold) => fold.inSample!));
  const outOfSample = mean(complete.map((fold) => fold.outOfSample!));
  return inSample === null || outOfSample === null || inSample <= 0 ? null : outOfSample / inSample;
}
