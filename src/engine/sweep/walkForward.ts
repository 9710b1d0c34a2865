// Walk-forward: in each fold, the variant that was best in training trades the next window, and the windows are joined.
import { mean, standardDeviation } from '../report/moments.ts';
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { drawdownStatistics } from '../report/drawdown.ts';
import { chosenSummary, dailyOf, type FlatKey } from '../report/flatSummary.ts';
import { previewIndexes } from '../report/preview.ts';
import { narrowRun } from '../backtest.ts';
import { foldsOf, type Window } from './folds.ts';
import { configOf, paramsOf, type LevelValue } from './space.ts';
import { objectiveOf } from './sweepJob.ts';
import { prepareVariant, simulateVariant, taskOf, type SweepScene } from './shard.ts';
import type { RankingRows } from './rankingRows.ts';

export interface FoldResult {
  readonly train: Window;
  readonly test: Window;
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

export function walkForwardOf(scene: SweepScene, rows: RankingRows): WalkForwardResult | null {
  const { job, space, marketOf } = scene;
  if (job.spec.walkForward === undefined) return null;
  const { key, sign } = objectiveOf(job.spec);
  let balance = job.spec.config.initialBalance;
  const stitched: { time: number; equity: number }[] = [];
  const returns: number[] = [];
  let periods: number = 365;
  const folds = foldsOf(job.spec, marketOf).map(({ train, test }, fold): FoldResult => {
    const row = rows.inTraining[fold];
    const none = {
      train,
      test,
      variant: null,
      params: {},
      inSample: null,
      outOfSample: null,
      returnPct: null,
      maxDrawdown: null,
      totalPositions: null,
    };
    if (row === null || balance <= 0) return none;
    const { coordinates } = row;
    const own = configOf(job.spec.config, space, coordinates);
    const prepared = prepareVariant(scene, own);
    if ('code' in prepared) return none;
    const run = narrowRun(prepared, taskOf(job, { ...own, range: test, initialBalance: balance }));
    const parts = { ...run, simulation: simulateVariant(run.input) };
    const daily = dailyOf(parts);
    const summary = chosenSummary(parts, daily, new Set<FlatKey>([key, 'returnPct', 'maxDrawdown', 'totalPositions']));
    const { equity } = parts.simulation;
    equity.forEach((value, index) =>
      stitched.push({ time: run.input.bars.time[run.input.start + index], equity: value }),
    );
    for (const value of daily.returns) returns.push(value);
    periods = periodsPerYear(run.input.instrument);
    balance = equity.at(-1) ?? balance;
    return {
      train,
      test,
      variant: row.variant,
      params: paramsOf(space, coordinates),
      inSample: sign * row.score,
      outOfSample: summary[key] ?? null,
      returnPct: summary.returnPct ?? null,
      maxDrawdown: summary.maxDrawdown ?? null,
      totalPositions: summary.totalPositions ?? null,
    };
  });
  const curve = Float64Array.from(stitched, ({ equity }) => equity);
  const deviation = standardDeviation(returns);
  return {
    objective: key,
    folds,
    outOfSample: {
      returnPct: balance / job.spec.config.initialBalance - 1,
      sharpeRatio: deviation === null || deviation === 0 ? null : (mean(returns)! / deviation) * Math.sqrt(periods),
      maxDrawdown: drawdownStatistics(curve, job.spec.config.initialBalance).maxDrawdown,
      days: returns.length,
    },
    efficiency: efficiencyOf(folds),
    equity: previewIndexes(stitched.length, PREVIEW_POINTS).map((index) => {
      const { time, equity } = stitched[index];
      return [time, equity];
    }),
  };
}

function efficiencyOf(folds: readonly FoldResult[]): number | null {
  const complete = folds.filter(({ inSample, outOfSample }) => inSample !== null && outOfSample !== null);
  const inSample = mean(complete.map((fold) => fold.inSample!));
  const outOfSample = mean(complete.map((fold) => fold.outOfSample!));
  return inSample === null || outOfSample === null || inSample <= 0 ? null : outOfSample / inSample;
}
