// A sweep as threads receive it: the strategy, the request, and what is known before the first variant runs.
import type { BacktestTask, RunControl } from '../task.ts';
import { FLAT_KEYS, STATISTICS, statisticOf, type FlatKey } from '../definitions/statistics/statistics.ts';
import { paramFaults, universeFaults } from './levelFaults.ts';
import { comparisonsToCount, countPoints } from './pointCount.ts';
import { uniformPoint } from './draws.ts';
import { DRAWING_METHOD, either, EXHAUSTIVE_METHODS, methodOf, WALK_FORWARD_METHODS } from './methods/sweepMethods.ts';
import { indexCount, takesAll } from './samplers.ts';
import { resolveSpace, type SpaceFault } from './resolveSpace.ts';
import { meetsConstraints, type Space } from './space.ts';
import type { SweepSpec } from './sweepRequest.ts';
import { DRAWS_PER_VARIANT, rareMessage, rareShareMessage } from './tries.ts';

/** What a sweep needs to know of its strategy. */
export type SweepStrategy = Pick<BacktestTask, 'strategyAst' | 'signalGraph' | 'settings' | 'strategyHash'>;

/** Plain data, so that it crosses threads and is stored. */
export interface SweepJob {
  readonly strategy: SweepStrategy;
  readonly spec: SweepSpec;
  /** Variants to run; some may turn out to be invalid. */
  readonly variants: number;
  /** The number of indexes that they are spread over. */
  readonly indexes: number;
  /** As `BacktestTask.owner`. */
  readonly owner?: string;
}

export type SweepControl = Pick<RunControl, 'isCancelled' | 'mayTake' | 'report'>;

interface RefusedSweep {
  readonly ok: false;
  readonly faults: readonly SpaceFault[];
  /** The dimensions of which it is known which values they have. */
  readonly space: Space;
}
type PlannedSweep =
  | {
      readonly ok: true;
      readonly job: SweepJob;
      readonly space: Space;
      /** The coordinates of a variant, by which to check what all of them share. */
      readonly sample: ArrayLike<number>;
    }
  | RefusedSweep;

/** A sweep of which everything is known that does not depend on its constraints. */
interface SizedSweep {
  readonly ok: true;
  readonly strategy: SweepStrategy;
  readonly spec: SweepSpec;
  readonly space: Space;
  /** The indexes that variants are spread over: no sweep has more variants. */
  readonly indexes: number;
  /** Whether constraints between params leave fewer variants than indexes; `countSweep` counts them. */
  readonly isCounted: boolean;
}

/** A grid has at most so many points: each shard visits those of its range. */
const MAX_POINTS = 4_000_000;
/**
 * How many comparisons a request may make to count variants (pointCount.ts): 10 to 30 ms. Three params of 160 values,
 * each compared with the next, take 650,000.
 */
const MAX_COMPARISONS = 2_000_000;
/** How many points are tried for a first variant where the constraints cannot be counted: 5 to 20 ms. */
const MAX_TRIED = 10_000;
/** At a million variants, rows with all keys take half a gigabyte, and rows with the headline keys a tenth of that. */
const ALL_METRICS_UP_TO = 20_000;

const HEADLINE = STATISTICS.filter(({ isHeadline }) => isHeadline).map(({ key }) => key);
/** The keys that the ranking and the verdict read. None of them reads equity at every close. */
const ALWAYS: readonly FlatKey[] = ['returnPct', 'sharpeRatio', 'totalPositions'];

/** Checks what can be checked without market data, and counts the variants. */
export function planSweep(strategy: SweepStrategy, spec: SweepSpec): PlannedSweep {
  const sized = sizeSweep(strategy, spec);
  return sized.ok ? countSweep(sized) : sized;
}

/** Checks the space of a sweep for all faults at once, and says how large it is. The work grows with the body alone. */
export function sizeSweep(strategy: SweepStrategy, spec: SweepSpec): SizedSweep | RefusedSweep {
  const resolved = resolveSpace(spec, strategy);
  const space = resolved.ok ? resolved.space : resolved.sound;
  // Only here: a stored sweep whose variants failed for such a value can still be read.
  const faults = [
    ...(resolved.ok ? [] : resolved.faults),
    ...universeFaults(space, spec, strategy),
    ...paramFaults(space, spec.space, strategy),
    ...methodFaults(spec, resolved.ok ? space.size : null),
  ];
  if (faults.length > 0) return { ok: false, faults, space };
  const isCounted = takesAll(spec, space) && space.constraints.length > 0;
  return { ok: true, strategy, spec, space, indexes: indexCount(spec, space), isCounted };
}

/** Counts the variants, within a bound that is known before it begins. */
export function countSweep({ strategy, spec, space, indexes, isCounted }: SizedSweep): PlannedSweep {
  const refuse = (message: string, suggestion?: string): RefusedSweep => ({
    ok: false,
    space,
    faults: [{ path: '/constraints', message, ...(suggestion !== undefined && { suggestion }) }],
  });
  const comparisons = comparisonsToCount(space);
  if (comparisons > MAX_COMPARISONS) {
    if (methodOf(spec.method).refuses.budget !== null)
      return refuse(
        `Counting the points that the constraints leave takes up to ${comparisons} comparisons; at most ` +
          `${MAX_COMPARISONS} are made. The ${space.constraints.length} constraints connect too many values.`,
        `Use fewer constraints or larger steps in the params that they compare, or ${DRAWING_METHOD} with a budget.`,
      );
    const sample = drawSample(spec, space);
    if (sample === null) return refuse(rareMessage(MAX_TRIED, 0));
    return { ok: true, job: { strategy, spec, variants: indexes, indexes }, space, sample };
  }
  const { count, share, first } = countPoints(space);
  if (first === null) return refuse('The constraints leave no variant.');
  if (!takesAll(spec, space) && share * DRAWS_PER_VARIANT < 1) return refuse(rareShareMessage(share));
  const variants = isCounted ? count : indexes;
  return { ok: true, job: { strategy, spec, variants, indexes }, space, sample: first };
}

/** A point that satisfies the constraints; null when none of those that are tried does. */
function drawSample({ seed }: SweepSpec, space: Space): ArrayLike<number> | null {
  for (let index = 0; index < MAX_TRIED; index++) {
    const coordinates = uniformPoint(space, seed, index, 0);
    if (meetsConstraints(space, coordinates)) return coordinates;
  }
  return null;
}

/**
 * What the method does not allow: a budget, a walk-forward, or a space of this size.
 * @param size null: not known
 */
function methodFaults(spec: SweepSpec, size: number | null): SpaceFault[] {
  const faults: SpaceFault[] = [];
  const { name, refuses } = methodOf(spec.method);
  if (refuses.budget === null && spec.budget === undefined)
    faults.push({
      path: '/budget',
      message: `The method ${name} needs a budget: how many variants to evaluate.`,
      suggestion: `Give a budget, such as 200, or use ${either(EXHAUSTIVE_METHODS)}.`,
    });
  if (refuses.budget !== null && spec.budget !== undefined)
    faults.push({
      path: '/budget',
      message: refuses.budget.message,
      suggestion: `Leave the budget out, or use ${DRAWING_METHOD}, which draws that many.`,
    });
  if (refuses.walkForward !== null && spec.walkForward !== undefined)
    faults.push({
      path: '/walkForward',
      message: `${name} ${refuses.walkForward}, the test windows included; walk-forward needs another method.`,
      suggestion: `Use ${either(WALK_FORWARD_METHODS)}.`,
    });
  if (refuses.budget !== null && size !== null && size > MAX_POINTS)
    faults.push({
      path: '/space',
      message: `The ${name} has ${size} points; a ${name} may have ${MAX_POINTS}.`,
      suggestion: `Use larger steps, or ${DRAWING_METHOD} with a budget.`,
    });
  return faults;
}

/** @throws Error when the job was not planned by `planSweep`. */
export function spaceOf({ strategy, spec }: SweepJob): Space {
  const resolved = resolveSpace(spec, strategy);
  if (!resolved.ok) throw new Error(`A stored sweep has a faulty space: ${JSON.stringify(resolved.faults)}`);
  return resolved.space;
}

/** The key that variants are ranked by, and 1 if higher values are better, -1 if lower ones are. */
export const objectiveOf = ({
  objective,
}: Pick<SweepSpec, 'objective'>): { readonly key: FlatKey; readonly sign: 1 | -1 } => {
  const key = typeof objective === 'string' ? objective : objective.key;
  const given = typeof objective === 'string' ? undefined : objective.direction;
  const isMinimized = given === undefined ? statisticOf(key).better === 'lower' : given === 'minimize';
  return { key, sign: isMinimized ? -1 : 1 };
};

/** Keys of every row, in the order of the summary. */
export function metricsOf({ spec, variants }: Pick<SweepJob, 'spec' | 'variants'>, space: Space): FlatKey[] {
  const asked = spec.metrics ?? (variants <= ALL_METRICS_UP_TO ? 'all' : 'headline');
  if (asked === 'all') return [...FLAT_KEYS];
  const wanted = new Set<FlatKey>([
    ...(asked === 'headline' ? HEADLINE : asked),
    ...ALWAYS,
    objectiveOf(spec).key,
    ...space.resultConstraints.map(({ key }) => key),
  ]);
  return FLAT_KEYS.filter((key) => wanted.has(key));
}
