// Walk-forward: in each fold, the variant that was best in training trades the next window, and the windows are joined.
import { symbolsOf } from '../config.ts';
import { mean, ROUNDING, standardDeviation } from '../report/moments.ts';
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { drawdownStatistics } from '../report/drawdown.ts';
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import { chosenSummary, dailyOf } from '../report/flatSummary.ts';
import { previewIndexes } from '../report/equityPreview.ts';
import { coveredShare, foldsOf, type Fold } from './folds.ts';
import { configOf, paramsOf, universeName, type LevelValue } from './space.ts';
import { objectiveOf } from './sweepJob.ts';
import { prepareVariant, taskOf, type SweepContext } from './shard.ts';
import type { RankingRows, WholeRow } from './rankingRows.ts';

/** Why a fold is in the headline, `traded`, or why it is not. */
type FoldStatus = 'traded' | 'no_trades' | 'no_bars' | 'no_variant' | 'no_balance';

interface FoldResult extends Fold {
  readonly status: FoldStatus;
  /** The instrument of the chosen variant, or its universe in a few words. */
  readonly symbol: string | null;
  /** The share of the test window for which the instrument has bars, or any of its universe. */
  readonly coveredShare: number;
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
  /**
   * Results over the consecutive test windows that were traded; each begins with the balance that the previous one
   * left.
   */
  readonly outOfSample: {
    readonly returnPct: number;
    readonly sharpeRatio: number | null;
    readonly maxDrawdown: number;
    readonly days: number;
    readonly foldsTraded: number;
    /** The share of the time of all test windows that these results cover. */
    readonly coveredShare: number;
  };
  /** Mean of the objective out of sample over its mean in sample, of traded folds; null if that is meaningless. */
  readonly efficiency: number | null;
  /** At most 500 [time, equity] points. */
  readonly equity: readonly (readonly [number, number])[];
}

const PREVIEW_POINTS = 500;

/** The walk-forward of a sweep; null when none was asked for. */
export function walkForwardOf(context: SweepContext, rows: RankingRows): WalkForwardResult | null {
  const { job, marketOf } = context;
  if (job.spec.walkForward === undefined) return null;
  const { initialBalance, riskFreeRatePerYear = 0 } = job.spec.config;
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
      sharpeRatio:
        deviation === null || deviation <= ROUNDING
          ? null
          : ((mean(returns)! - riskFreeRatePerYear / joined.periodsPerYear) / deviation) * annual,
      maxDrawdown: drawdownStatistics(Float64Array.from(equity), initialBalance).maxDrawdown,
      days: returns.length,
      foldsTraded: folds.filter(isTraded).length,
      coveredShare: coveredOf(folds),
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
 * without such a variant, without bars or balance for it, or without trades is left out of the headline.
 */
function tradeFold(context: SweepContext, fold: Fold, best: WholeRow | null, joined: JoinedWindows): FoldResult {
  const { job, space } = context;
  if (best === null) return { ...untraded(fold), status: 'no_variant' };
  const config = configOf(job.spec.config, space, best.coordinates);
  const chosen = {
    ...untraded(fold),
    variant: best.variant,
    params: paramsOf(space, best.coordinates),
    symbol: universeName(symbolsOf(config)),
    inSample: objectiveOf(job.spec).sign * best.score,
  };
  if (joined.balance <= 0) return { ...chosen, status: 'no_balance' };
  const prepared = prepareVariant(context, config);
  if ('code' in prepared) return { ...untraded(fold), status: 'no_variant' };
  const run = prepared.narrow(taskOf(job, { ...config, range: fold.test, initialBalance: joined.balance }));
  if (run.rows.end <= run.rows.start) return { ...chosen, status: 'no_bars' };
  const reported = run.simulate();
  const daily = dailyOf(reported);
  const { key } = objectiveOf(job.spec);
  const summary = chosenSummary(reported, daily, new Set<FlatKey>([key, 'returnPct', 'maxDrawdown', 'totalPositions']));
  const { equity } = reported.simulation;
  const { bars, start, instrument } = reported.input;
  equity.forEach((value, index) => {
    joined.times.push(bars.time[start + index]);
    joined.equity.push(value);
  });
  const status = summary.totalPositions === 0 ? 'no_trades' : 'traded';
  if (status === 'traded') {
    for (const value of daily.returns) joined.returns.push(value);
    joined.periodsPerYear = periodsPerYear(instrument);
  }
  joined.balance = equity.at(-1) ?? joined.balance;
  return {
    ...chosen,
    status,
    coveredShare: coveredShare(run.rows, fold.test),
    outOfSample: summary[key] ?? null,
    returnPct: summary.returnPct ?? null,
    maxDrawdown: summary.maxDrawdown ?? null,
    totalPositions: summary.totalPositions ?? null,
  };
}

const untraded = (fold: Fold): Omit<FoldResult, 'status'> => ({
  ...fold,
  symbol: null,
  coveredShare: 0,
  variant: null,
  params: {},
  inSample: null,
  outOfSample: null,
  returnPct: null,
  maxDrawdown: null,
  totalPositions: null,
});

const isTraded = ({ status }: FoldResult): boolean => status === 'traded';
const lengthOf = ({ test }: Fold): number => test.end - test.start;

function coveredOf(folds: readonly FoldResult[]): number {
  const whole = folds.reduce((sum, fold) => sum + lengthOf(fold), 0);
  const covered = folds.filter(isTraded).reduce((sum, fold) => sum + fold.coveredShare * lengthOf(fold), 0);
  return whole === 0 ? 0 : covered / whole;
}

/** Holidays of one market that another does not have are no gap. */
const WHOLE = 0.95;
/** A warning names at most this many folds. */
const MAX_NAMED = 5;

/** The folds that the headline leaves out, wholly or in part, and what it covers; null: it covers every fold. */
export function gapMessage({ folds, outOfSample }: WalkForwardResult): string | null {
  const gaps = folds.flatMap((fold, index) =>
    isTraded(fold) && fold.coveredShare >= WHOLE ? [] : [`fold ${index + 1} (${spanText(fold)}) ${gapText(fold)}`],
  );
  if (gaps.length === 0) return null;
  const more = gaps.length > MAX_NAMED ? `; and ${gaps.length - MAX_NAMED} more` : '';
  return (
    `Out of sample, only ${outOfSample.foldsTraded} of ${folds.length} folds were traded. The out-of-sample numbers ` +
    `cover ${Math.round(100 * outOfSample.coveredShare)} % of the test period: ` +
    `${gaps.slice(0, MAX_NAMED).join('; ')}${more}.`
  );
}

const spanText = ({ test }: Fold): string => [test.start, test.end].map(dayText).join(' to ');
const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10);

function gapText({ status, symbol, coveredShare: covered }: FoldResult): string {
  switch (status) {
    case 'traded':
      return `has bars of ${symbol} for ${Math.round(100 * covered)} % of its time`;
    case 'no_trades':
      return 'had no trades';
    case 'no_bars':
      return `has no bars of ${symbol}`;
    case 'no_variant':
      return 'had no variant with a value of the objective and bars up to the end of its training window';
    case 'no_balance':
      return 'had no balance left';
  }
}

function efficiencyOf(folds: readonly FoldResult[]): number | null {
  const complete = folds.filter((fold) => isTraded(fold) && fold.inSample !== null && fold.outOfSample !== null);
  const inSample = mean(complete.map((fold) => fold.inSample!));
  const outOfSample = mean(complete.map((fold) => fold.outOfSample!));
  return inSample === null || outOfSample === null || inSample <= 0 ? null : outOfSample / inSample;
}
