// Draws: points of a space by index, on its grid or drawn at random. No list of variants is made; each index is
// computed independently.
import { coordinateAt, levelCount, meetsConstraints, type Space } from './space.ts';
import { uniform } from './seeded.ts';
import type { Tries } from './tries.ts';

/** Indexes of the grid above this are not exact in a double. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** How often a draw that breaks a constraint is drawn again. A space that rejects more has hardly any variants. */
export const MAX_DRAWS = 1_000;

export type Coordinates = Float64Array;

/** The first point that meets the constraints, of those drawn uniformly for an index. */
export const uniformVariant = (space: Space, seed: number, index: number, tries: Tries): Coordinates | null =>
  drawAllowed(space, tries, (draw) => uniformPoint(space, seed, index, draw));

/** The last dimension varies fastest. */
export function gridPoint(space: Space, index: number): Coordinates {
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

/** A point of the grid, or null where it breaks a constraint. A grid is walked, so a point is not drawn again. */
export function visitedPoint(space: Space, index: number, tries: Tries): Coordinates | null {
  const coordinates = gridPoint(space, index);
  tries.visited();
  return meetsConstraints(space, coordinates) ? coordinates : null;
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

/** The first draw that meets the constraints; null when none of MAX_DRAWS does, or nothing is left to draw. */
export function drawAllowed(
  space: Space,
  tries: Tries,
  draw: (attempt: number) => Coordinates | null,
): Coordinates | null {
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
