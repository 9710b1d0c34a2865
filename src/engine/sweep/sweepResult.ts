// The result of a sweep: its best rows, the effect of the parameters, and how much of the best row is luck.
import { FEW_POSITIONS } from '../report/diagnosis.ts';
import { dataWarnings } from './dataWarnings.ts';
import { percentile, populationShape, standardDeviation } from '../report/moments.ts';
import { buyAndHold } from '../report/buyAndHold.ts';
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import { dailyOf } from '../report/flatSummary.ts';
import { previewIndexes } from '../report/equityPreview.ts';
import { cscvBlocksOf, MAX_SAMPLED } from './cscvBlocks.ts';
import { heatmapOf, marginalOf, plateauOf, type Heatmap, type Marginal, type Plateau } from './landscape.ts';
import { minTrackRecord, probabilisticSharpe, type SharpeSample } from '../report/sharpeConfidence.ts';
import { expectedMaximum, overfittingProbability } from './overfitting.ts';
import { gridIndex, isCountable } from './draws.ts';
import { prepareVariant, type SweepContext } from './shard.ts';
import type { RankingRows } from './rankingRows.ts';
import { scoresOf } from './scores.ts';
import { configOf, paramsOf, type LevelValue, type Space } from './space.ts';
import { objectiveOf } from './sweepJob.ts';
import { metricOf, type VariantFailures } from './sweepRows.ts';
import { verdictOf, type Overfitting, type Verdict } from './verdict.ts';
import { gapMessage, walkForwardOf, type WalkForwardResult } from './walkForward.ts';

interface RankedRow {
  readonly rank: number;
  /** The permanent name of the row: its index among the variants. */
  readonly variant: number;
  readonly params: Readonly<Record<string, LevelValue>>;
  readonly metrics: Readonly<Partial<Record<FlatKey, number | null>>>;
  readonly plateau: Plateau;
  readonly probabilisticSharpe: number | null;
  readonly deflatedSharpe: number | null;
}
interface EquityCurve {
  readonly variant: number;
  /** At most 200 [time, equity] points. */
  readonly points: readonly (readonly [number, number])[];
  /** Buy and hold of the instrument, at the same times. */
  readonly benchmark: readonly number[];
}
export interface SweepResult {
  readonly method: string;
  readonly seed: number;
  readonly objective: { readonly key: FlatKey; readonly direction: 'maximize' | 'minimize' };
  readonly trials: { readonly sweep: number; readonly workspace: number | null };
  readonly evaluated: number;
  /** Rows that satisfy the constraints on results and have a value of the objective. */
  readonly ranked: number;
  readonly failures: VariantFailures;
  readonly verdict: Verdict;
  readonly overfitting: Overfitting;
  /** The deflated Sharpe ratio by all trials of the workspace on this lineage and data; null if not known. */
  readonly workspaceDeflatedSharpe: number | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly top: readonly RankedRow[];
  readonly marginals: readonly Marginal[];
  /** The heatmap of the two parameters with the greatest influence; null when there is only one. */
  readonly heatmap: Heatmap | null;
  readonly walkForward: WalkForwardResult | null;
  readonly curves: readonly EquityCurve[];
}

const CURVES = 10;
const CURVE_POINTS = 200;

/**
 * Puts the rows of all shards into a result.
 * @param earlierTrials trials of the workspace on the same lineage and data; null if not known.
 */
export function finishSweep(context: SweepContext, rows: RankingRows, earlierTrials: number | null): SweepResult {
  const { job, space } = context;
  const { key, sign } = objectiveOf(job.spec);
  const values = metricOf(rows, key);
  const scores = scoresOf(space, rows, key, sign);
  const places = rows.top.map(({ variant }) => rows.indexes.indexOf(variant));
  const { trials, firstRuns, median } = distinctPoints(space, rows, scores);
  const variance = varianceOf(rows.dailySharpe);
  const ranked = scores.reduce((count, score) => count + (score === score ? 1 : 0), 0);
  const samples = rows.top.map((row) => sampleOf(context, row));
  const deflate = (sample: SharpeSample | null, count: number): number | null =>
    sample === null ? null : probabilisticSharpe(sample, expectedMaximum(count, variance));
  const top = rows.top.map(({ variant, coordinates, metrics }, at): RankedRow => ({
    rank: at + 1,
    variant,
    params: paramsOf(space, coordinates),
    metrics,
    plateau: plateauOf(space, places[at], rows.coordinates, firstRuns, median),
    probabilisticSharpe: samples[at] && probabilisticSharpe(samples[at].sample, 0),
    deflatedSharpe: deflate(samples[at]?.sample ?? null, trials),
  }));
  const best = samples[0]?.sample ?? null;
  const overfitting = overfittingOf(context, rows, best, trials, variance);
  const workspace =
    earlierTrials === null
      ? null
      : { trials: trials + earlierTrials, deflatedSharpe: deflate(best, trials + earlierTrials) };
  const walkForward = walkForwardOf(context, rows);
  const bestSharpe = top[0]?.metrics.sharpeRatio ?? null;
  const outOfSample = walkForward && { ...walkForward.outOfSample, bestSharpe };
  const marginals = space.dimensions.map((_, at) => marginalOf(space, at, rows.coordinates[at], values, sign));
  return {
    method: job.spec.method,
    seed: job.spec.seed,
    objective: { key, direction: sign > 0 ? 'maximize' : 'minimize' },
    trials: { sweep: trials, workspace: workspace && workspace.trials },
    evaluated: rows.indexes.length,
    ranked,
    failures: rows.failures,
    verdict: verdictOf(overfitting, top.length > 0, workspace, outOfSample),
    overfitting,
    workspaceDeflatedSharpe: workspace && workspace.deflatedSharpe,
    warnings: [...dataWarnings(context, rows), ...warningsOf(top, rows, ranked), ...walkForwardWarnings(walkForward)],
    top,
    marginals,
    heatmap: heatmapOfBest(space, rows, values, marginals, sign),
    walkForward,
    curves: samples.slice(0, CURVES).flatMap((each) => (each === null ? [] : [each.curve])),
  };
}

interface DistinctPoints {
  /** How many points were run. */
  readonly trials: number;
  /** The score of each row, and NaN where an earlier row has the same point. */
  readonly firstRuns: Float64Array;
  /** Of `firstRuns`; NaN where no row has a score. */
  readonly median: number;
}

/**
 * A repeated run is no neighbor, and the median row is that of the points: where tpe went most says nothing of them.
 */
function distinctPoints(space: Space, rows: RankingRows, scores: Float64Array): DistinctPoints {
  const points = pointsOf(space, rows);
  const firstRuns = points === null ? scores : scoresOfFirst(points, scores);
  return {
    trials: points === null ? rows.indexes.length : new Set(points).size,
    firstRuns,
    median: percentile(firstRuns.filter((score) => score === score).sort(), 50) ?? NaN,
  };
}

/**
 * The point of each row, as a number; null where no two rows have the same: tpe may propose a point again, and strata
 * of latin_hypercube may share one.
 */
function pointsOf(space: Space, rows: RankingRows): Float64Array | null {
  if (!isCountable(space)) return null;
  const points = rows.indexes.map((_, row) =>
    gridIndex(
      space,
      rows.coordinates.map((column) => column[row]),
    ),
  );
  const ascending = points.toSorted();
  return ascending.some((point, at) => at > 0 && point === ascending[at - 1]) ? points : null;
}

/** The scores without those of points that an earlier row has. */
function scoresOfFirst(points: Float64Array, scores: Float64Array): Float64Array {
  const seen = new Set<number>();
  return scores.map((score, row) => {
    if (seen.has(points[row])) return NaN;
    seen.add(points[row]);
    return score;
  });
}

function varianceOf(values: Float64Array): number {
  return (standardDeviation(values.filter((value) => value === value)) ?? 0) ** 2;
}

/** The daily returns of a row, which is run once more for them. */
function sampleOf(
  context: SweepContext,
  row: RankingRows['top'][number],
): { sample: SharpeSample; curve: EquityCurve } | null {
  const config = configOf(context.job.spec.config, context.space, row.coordinates);
  const prepared = prepareVariant(context, config);
  if ('code' in prepared) return null;
  const reported = prepared.simulate();
  const { returns } = dailyOf(reported);
  const shape = populationShape(returns);
  const { dailySharpe: sharpe } = row;
  if (shape === null || sharpe !== sharpe) return null;
  const { bars, start } = reported.input;
  const { equity } = reported.simulation;
  const points = previewIndexes(equity.length, CURVE_POINTS);
  const held = buyAndHold(bars, start, equity.length, reported.input.config.initialBalance);
  return {
    sample: { sharpe, skew: shape.skew, kurtosis: shape.kurtosis, days: returns.length },
    curve: {
      variant: row.variant,
      points: points.map((at) => [bars.time[start + at], equity[at]]),
      benchmark: points.map((at) => held[at]),
    },
  };
}

function overfittingOf(
  context: SweepContext,
  rows: RankingRows,
  best: SharpeSample | null,
  trials: number,
  variance: number,
): Overfitting {
  const { blocks, daysPerBlock, days } = cscvBlocksOf(context.job, context.space, context.marketOf);
  const compared = Math.min(MAX_SAMPLED, rows.sampled.length);
  const sums = rows.sums.subarray(0, compared * 2 * blocks);
  const threshold = expectedMaximum(trials, variance);
  return {
    trials,
    dailySharpe: best?.sharpe ?? null,
    expectedMaximum: best && threshold,
    probabilisticSharpe: best && probabilisticSharpe(best, 0),
    deflatedSharpe: best && probabilisticSharpe(best, threshold),
    overfittingProbability: best && overfittingProbability({ blocks, daysPerBlock, sums }),
    variantsCompared: compared,
    days: best?.days ?? days.length,
    minTrackRecordDays: best && minTrackRecord(best),
  };
}

function heatmapOfBest(
  space: Space,
  rows: RankingRows,
  values: Float64Array,
  marginals: readonly Marginal[],
  sign: 1 | -1,
): Heatmap | null {
  if (marginals.length < 2) return null;
  const order = marginals
    .map((_, at) => at)
    .sort((a, b) => (marginals[b].influence ?? 0) - (marginals[a].influence ?? 0) || a - b);
  const [x, y] = [Math.min(order[0], order[1]), Math.max(order[0], order[1])];
  return heatmapOf(space, [x, y], rows.coordinates, values, sign);
}

function walkForwardWarnings(walkForward: WalkForwardResult | null): SweepResult['warnings'] {
  const message = walkForward && gapMessage(walkForward);
  return message === null ? [] : [{ code: 'WALK_FORWARD_GAPS', message }];
}

function warningsOf(top: readonly RankedRow[], rows: RankingRows, ranked: number): SweepResult['warnings'] {
  const warnings: { code: string; message: string }[] = [];
  const [best] = top;
  if (best?.plateau.isCliff) {
    const kept = Math.round(100 * best.plateau.score!);
    const what = kept > 0 ? `keep ${kept} % of its lead over the median row` : 'are no better than the median row';
    warnings.push({
      code: 'BEST_ON_CLIFF',
      message:
        `The best row stands alone: its ${best.plateau.neighbors} nearest rows ${what}. A small change of a ` +
        'parameter loses its lead.',
    });
  }
  const positions = best?.metrics.totalPositions ?? Infinity;
  if (positions < FEW_POSITIONS)
    warnings.push({
      code: 'BEST_HARDLY_TRADES',
      message:
        `The best row has ${positions} position${positions === 1 ? '' : 's'}, too few to tell skill from luck. Leave ` +
        `such rows out with the constraint {"left":"totalPositions","op":"gte","right":${FEW_POSITIONS}}.`,
    });
  if (best === undefined)
    warnings.push({
      code: 'NOTHING_RANKED',
      message: 'No variant has a value of the objective and satisfies the constraints on results.',
    });
  if (rows.failures.count > 0)
    warnings.push({
      code: 'VARIANTS_FAILED',
      message:
        `${rows.failures.count === 1 ? 'One variant' : `${rows.failures.count} variants`} could not be run; the ` +
        `first failed with: ${rows.failures.first[0]?.message}`,
    });
  if (ranked > 0 && ranked < rows.indexes.length / 2)
    warnings.push({
      code: 'FEW_RANKED',
      message:
        `Only ${ranked} of ${rows.indexes.length} rows can win: the others have no objective or break a ` +
        'constraint.',
    });
  return warnings;
}
