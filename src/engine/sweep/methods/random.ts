// Random: points drawn uniformly. Those of a finite space are drawn without replacement.
import { drawAllowed, gridPoint, isCountable, uniformVariant, visitedPoint } from '../draws.ts';
import { permuted } from '../seeded.ts';
import type { Space } from '../space.ts';
import type { SweepMethod } from './sweepMethod.ts';

const takesAll = (space: Space, budget: number): boolean => isCountable(space) && budget >= space.size;

export const random = {
  name: 'random',
  refuses: { budget: null, continuous: null, walkForward: null },
  // Draws without replacement end when no point is left.
  indexCount: (space, budget) => Math.min(budget, space.size),
  takesAll,
  variantAt({ budget, seed }, space, index, tries) {
    if (!isCountable(space)) return uniformVariant(space, seed, index, tries);
    if (takesAll(space, budget)) return visitedPoint(space, permuted(index, space.size, seed), tries);
    // No two indexes draw the same point. Null: no point is left.
    return drawAllowed(space, tries, (draw) => {
      const at = index + draw * budget;
      return at < space.size ? gridPoint(space, permuted(at, space.size, seed)) : null;
    });
  },
  rounds: null,
} as const satisfies SweepMethod;
