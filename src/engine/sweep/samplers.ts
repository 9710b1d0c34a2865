// Samplers: from the index of a variant to its coordinates. No list of variants is made; each index is computed
// independently.
import { coordinateAt, levelCount, meetsConstraints, type Space } from './space.ts';
import { permuted, uniform } from './seeded.ts';
import type { SweepSpec } from './sweepRequest.ts';

/** Indexes of the grid above this are not exact in a double. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** How often a draw that breaks a constraint is drawn again. A space that rejects more has hardly any variants. */
const MAX_DRAWS = 1_000;

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

/** The coordinates of a variant; null if its index has none. Not for tpe, whose variants depend on results. */
export function variantAt(
  spec: Pick<SweepSpec, 'method' | 'budget' | 'seed'>,
  space: Space,
  index: number,
): Coordinates | null {
  switch (spec.method) {
    case 'grid': {
      const coordinates = gridPoint(space, index);
      return meetsConstraints(space, coordinates) ? coordinates : null;
    }
    case 'random':
      return randomVariant(space, index, spec.budget!, spec.seed);
    case 'latin_hypercube':
      return drawAllowed(space, (draw) => latinPoint(space, index, spec.budget!, spec.seed + draw));
    case 'tpe':
      return drawAllowed(space, (draw) => uniformPoint(space, spec.seed, index, draw));
  }
}

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

/** Draws from a countable space without replacement: no two indexes draw the same point. */
function randomVariant(space: Space, index: number, budget: number, seed: number): Coordinates | null {
  if (!isCountable(space)) return drawAllowed(space, (draw) => uniformPoint(space, seed, index, draw));
  return drawAllowed(space, (draw) => {
    const at = index + draw * budget;
    return at < space.size ? gridPoint(space, permuted(at, space.size, seed)) : null;
  });
}

/** The first draw that meets the constraints; null when none of MAX_DRAWS does, or nothing is left to draw. */
function drawAllowed(space: Space, draw: (attempt: number) => Coordinates | null): Coordinates | null {
  for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
    const coordinates = draw(attempt);
    if (coordinates === null) return null;
    if (meetsConstraints(space, coordinates)) return coordinates;
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
