// Counting points: how many points of a grid satisfy its constraints. Dimensions that no constraint compares with each
// other are counted apart and multiplied, and the largest of those that are compared is searched instead of walked. So
// the work is known before it begins, and is small for nearly every grid.
import { lowerBound, upperBound } from '../kernels/search.ts';
import { MIRRORED_OPS, type CompareOp } from '../definitions/words.ts';
import { coordinateAt, holds, levelCount, valueAt, type Side, type Space, type SpaceConstraint } from './space.ts';

interface PointCount {
  /** Infinity when a dimension is continuous. */
  readonly count: number;
  /** Of all points. */
  readonly share: number;
  /** The coordinates of a point that satisfies every constraint; null when no point does. */
  readonly first: Float64Array | null;
}

/** Reading the value of a level takes as long as this many comparisons. */
const COMPARISONS_PER_LEVEL = 20;

/**
 * How many comparisons `countPoints` makes at most, from the sizes of the dimensions and the constraints alone;
 * Infinity where a constraint names a continuous dimension.
 */
export function comparisonsToCount(space: Space): number {
  let comparisons = 0;
  space.dimensions.forEach((dimension, at) => {
    const own = space.constraints.filter((constraint) => namedIn(constraint).includes(at));
    if (own.length > 0) comparisons += levelCount(dimension) * (COMPARISONS_PER_LEVEL + own.length);
  });
  for (const group of groupsOf(space)) {
    let prefixes = 1;
    for (const { at, pairs } of group.walked) {
      prefixes *= levelCount(space.dimensions[at]);
      comparisons += prefixes * (1 + pairs.length);
    }
    const searches = Math.ceil(Math.log2(1 + levelCount(space.dimensions[group.searched.at])));
    comparisons += prefixes * (1 + group.searched.pairs.length * (1 + 2 * searches));
  }
  return comparisons;
}

/** Counts the points that satisfy the constraints. `comparisonsToCount` says beforehand how long it takes. */
export function countPoints(space: Space): PointCount {
  const { dimensions, constraints } = space;
  if (constraints.some((each) => namedIn(each).length === 0 && !isMetBy(each, NaN))) return NONE;
  // Of a continuous dimension, every value is allowed: none of the constraints names it.
  const first = Float64Array.from(dimensions, (dimension) => coordinateAt(dimension, 0));
  const levels = dimensions.map((_, at) => allowedLevels(space, at));
  let count = 1;
  let share = 1;
  const add = (found: number, ofPoints: number): void => {
    count *= found;
    if (ofPoints < Infinity) share *= found / ofPoints;
  };
  const groups = groupsOf(space);
  const isGrouped = new Set(groups.flatMap((group) => [group.searched, ...group.walked].map(({ at }) => at)));
  for (const [at, { size, coordinates }] of levels.entries()) {
    if (size === 0) return NONE;
    if (isGrouped.has(at)) continue;
    add(size, levelCount(dimensions[at]));
    first[at] = coordinates[0] ?? first[at];
  }
  for (const group of groups) {
    const found = countGroup(group, levels, first);
    if (found === 0) return NONE;
    add(
      found,
      [group.searched, ...group.walked].reduce((points, { at }) => points * levelCount(dimensions[at]), 1),
    );
  }
  return { count, share, first };
}

const NONE: PointCount = { count: 0, share: 0, first: null };

const dimensionsOf = (side: Side): number[] => ('dimension' in side ? [side.dimension] : []);
const namedIn = ({ left, right }: SpaceConstraint): number[] => [...dimensionsOf(left), ...dimensionsOf(right)];

/** `earlier op` a value of the dimension that holds this pair. */
interface Pair {
  readonly earlier: number;
  readonly op: CompareOp;
}
/** A dimension with the constraints between it and those that are chosen before it. */
interface Step {
  readonly at: number;
  readonly pairs: readonly Pair[];
}
/** Dimensions that constraints connect, directly or through others. The one with the most levels is searched. */
interface Group {
  readonly walked: readonly Step[];
  readonly searched: Step;
}

function groupsOf({ dimensions, constraints }: Space): Group[] {
  const between = constraints.filter((each) => new Set(namedIn(each)).size === 2);
  const joined: (readonly number[])[] = [];
  for (const constraint of between) {
    const touched = joined.filter((group) => namedIn(constraint).some((at) => group.includes(at)));
    for (const group of touched) joined.splice(joined.indexOf(group), 1);
    joined.push([...new Set([...touched.flat(), ...namedIn(constraint)])]);
  }
  return joined.map((group) => {
    const order = group.toSorted((a, b) => levelCount(dimensions[a]) - levelCount(dimensions[b]) || a - b);
    const steps = order.map((at, depth) => ({
      at,
      pairs: between.flatMap((constraint) => pairOf(constraint, at, order.slice(0, depth))),
    }));
    return { walked: steps.slice(0, -1), searched: steps.at(-1)! };
  });
}

function pairOf({ left, op, right }: SpaceConstraint, at: number, earlier: readonly number[]): Pair[] {
  const [[a], [b]] = [dimensionsOf(left), dimensionsOf(right)];
  if (b === at && earlier.includes(a)) return [{ earlier: a, op }];
  return a === at && earlier.includes(b) ? [{ earlier: b, op: MIRRORED_OPS[op] }] : [];
}

/** The levels of a dimension that satisfy the constraints on it alone. */
interface AllowedLevels {
  readonly size: number;
  /** Ascending; empty for a dimension without constraints. */
  readonly values: Float64Array;
  /** Of each value. */
  readonly coordinates: ArrayLike<number>;
}

function allowedLevels({ dimensions, constraints }: Space, at: number): AllowedLevels {
  const dimension = dimensions[at];
  const size = levelCount(dimension);
  const own = constraints.filter((constraint) => namedIn(constraint).includes(at));
  if (own.length === 0) return { size, values: new Float64Array(0), coordinates: [] };
  const alone = own.filter((constraint) => namedIn(constraint).every((each) => each === at));
  const allowed: { value: number; coordinate: number }[] = [];
  for (let coordinate = 0; coordinate < size; coordinate++) {
    // Constraints name numeric dimensions only.
    const value = valueAt(dimension, coordinate) as number;
    if (alone.every((constraint) => isMetBy(constraint, value))) allowed.push({ value, coordinate });
  }
  allowed.sort((a, b) => a.value - b.value);
  return {
    size: allowed.length,
    values: Float64Array.from(allowed, ({ value }) => value),
    coordinates: allowed.map(({ coordinate }) => coordinate),
  };
}

/** @param value of the dimension that the constraint names, if it names one */
function isMetBy({ left, op, right }: SpaceConstraint, value: number): boolean {
  const read = (side: Side): number => ('number' in side ? side.number : value);
  return holds(read(left), op, read(right));
}

/** Walks all but the last dimension of a group. Sets the coordinates of its first point in `first`. */
function countGroup({ walked, searched }: Group, levels: readonly AllowedLevels[], first: Float64Array): number {
  const values = new Float64Array(levels.length);
  const chosen = new Int32Array(walked.length).fill(-1);
  let count = 0;
  for (let depth = 0; depth >= 0;) {
    const { at, pairs } = walked[depth];
    const column = levels[at].values;
    if (++chosen[depth] >= column.length) {
      chosen[depth--] = -1;
      continue;
    }
    const value = (values[at] = column[chosen[depth]]);
    if (!pairs.every(({ earlier, op }) => holds(values[earlier], op, value))) continue;
    if (++depth < walked.length) continue;
    depth--;
    const found = search(levels[searched.at].values, searched.pairs, values);
    if (count === 0 && found.count > 0) {
      walked.forEach((step, each) => (first[step.at] = levels[step.at].coordinates[chosen[each]]));
      first[searched.at] = levels[searched.at].coordinates[found.first];
    }
    count += found.count;
  }
  return count;
}

/** How many of the ascending `column` satisfy the constraints with the values chosen before, and the first of them. */
function search(
  column: Float64Array,
  pairs: readonly Pair[],
  values: Float64Array,
): { readonly count: number; readonly first: number } {
  let from = 0;
  let to = column.length;
  const excluded = new Set<number>();
  for (const { earlier, op } of pairs) {
    const value = values[earlier];
    if (op === 'lt') from = Math.max(from, upperBound(column, value));
    if (op === 'lte' || op === 'eq') from = Math.max(from, lowerBound(column, value));
    if (op === 'gt') to = Math.min(to, lowerBound(column, value));
    if (op === 'gte' || op === 'eq') to = Math.min(to, upperBound(column, value));
    if (op === 'neq') excluded.add(value);
  }
  let count = Math.max(0, to - from);
  if (count === 0 || excluded.size === 0) return { count, first: from };
  for (const value of excluded)
    count -= Math.max(0, Math.min(to, upperBound(column, value)) - Math.max(from, lowerBound(column, value)));
  let first = from;
  while (first < to && excluded.has(column[first])) first++;
  return { count, first };
}
