// Samplers: from the index of a variant to its coordinates. No list of variants is made; each index is computed
// independently.
import { coordinateAt, levelCount, meetsConstraints, type Space } from './space.ts';
import { permuted, uniform } from './seeded.ts';
import type { SweepSpec } from './sweepRequest.ts';
import { UNWATCHED, type Tries } from './tries.ts';

/** Indexes of the grid above this are not exact in a double. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** How often a draw that breaks a constraint is drawn again. A space that rejects more has hardly any variants. */
export const MAX_DRAWS = 1_000;

export type Coordinates = Float64Array;

/**
 * The indexes that a sweep visits. Some may have no variant: those that break a constraint, or find nothing left to
 * draw.
 */
export function indexCount({ method, budget }: Pick<SweepSpec, 'method' | 'budget'>, space: Space): number {
  if (method === 'grid') return space.size;
  // Draws without replacement end when no point is left.
  return method === 'random' ? Math.min(budget!, space.size) : budget!;
}

/** Whether the indexes stand for every point of a grid, each once, as those of random with such a budget do. */
export const takesAll = ({ method, budget }: Pick<SweepSpec, 'method' | 'budget'>, space: Space): boolean =>
  method === 'grid' || (method === 'random' && isCountable(space) && budget! >= space.size);

/**
 * The coordinates of a variant; null if its index has none. Of tpe only the first round, whose variants do not depend
 * on results.
 * @param tries is told of every point that is tried, and may throw
 */
export function variantAt(
  spec: Pick<SweepSpec, 'method' | 'budget' | 'seed'>,
  space: Space,
  index: number,
  tries: Tries = UNWATCHED,
): Coordinates | null {
  if (takesAll(spec, space)) {
    const at = spec.method === 'grid' ? index : permuted(index, space.size, spec.seed);
    const coordinates = gridPoint(space, at);
    tries.visited();
    return meetsConstraints(space, coordinates) ? coordinates : null;
  }
  const { seed } = spec;
  switch (spec.method) {
    case 'latin_hypercube':
      return drawAllowed(space, tries, (draw) => latinPoint(space, index, spec.budget!, seed + draw));
    case 'random':
      if (isCountable(space)) return drawAllowed(space, tries, (draw) => unusedPoint(space, index, draw, spec));
  }
  return uniformVariant(space, seed, index, tries);
}

/** The first point that meets the constraints, of those drawn uniformly for an index. */
export const uniformVariant = (space: Space, seed: number, index: number, tries: Tries): Coordinates | null =>
  drawAllowed(space, tries, (draw) => uniformPoint(space, seed, index, draw));

/** The last dimension varies fastest. */
function gridPoint(space: Space, index: number): Coordinates {
  const { dimensions } = space;
  const coordinates = new Float64Array(dimensions.length);
  let rest = index;
  for (let at = dimensions.length - 1; at >= 0; at--) {
    const count = levelCount(dimensions[at]);
    coordinates[at] = rest % count;
    rest = Math.floor(rest / count);
  }
  return coordinates;
}

/**
 * The position of a point on the grid, which identifies it if no dimension is continuous and the grid is not too large.
 */
export function gridIndex(space: Space, coordinates: ArrayLike<number>): number {
  let index = 0;
  space.dimensions.forEach((dimension, at) => (index = index * levelCount(dimension) + coordinates[at]));
  return index;
}

/** Whether the points of the grid can be numbered exactly. */
export const isCountable = (space: Space): boolean => space.size <= MAX_EXACT;

/** Draws from a countable space without replacement: no two indexes draw the same point. Null: no point is left. */
function unusedPoint(
  space: Space,
  index: number,
  draw: number,
  { budget, seed }: Pick<SweepSpec, 'budget' | 'seed'>,
): Coordinates | null {
  const at = index + draw * budget!;
  return at < space.size ? gridPoint(space, permuted(at, space.size, seed)) : null;
}

/** The first draw that meets the constraints; null when none of MAX_DRAWS does, or nothing is left to draw. */
function drawAllowed(space: Space, tries: Tries, draw: (attempt: number) => Coordinates | null): Coordinates | null {
  for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
    const coordinates = draw(attempt);
    if (coordinates === null) return null;
    const isAllowed = meetsConstraints(space, coordinates);
    tries.drawn(isAllowed);
    if (isAllowed) return coordinates;
  }
  return null;
}

/** A point drawn uniformly from every dimension. @param draw another one gives another point of the same index */
export const uniformPoint = (space: Space, seed: number, index: number, draw: number): Coordinates =>
  Float64Array.from(space.dimensions, (dimension, at) => coordinateAt(dimension, uniform(seed, index, at, draw)));

/** One variant in each of `budget` equal strata of every dimension (McKay, Beckman and Conover 1979). */
function latinPoint(space: Space, index: number, budget: number, seed: number): Coordinates {
  return Float64Array.from(space.dimensions, (dimension, at) => {
    const stratum = permuted(index, budget, seed ^ Math.imul(at + 1, 0x9e3779b1));
    return coordinateAt(dimension, (stratum + uniform(seed, index, at)) / budget);
  });
}
