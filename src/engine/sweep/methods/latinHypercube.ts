// The Latin hypercube: one variant in each of as many equal strata of every dimension as the budget has variants
// (McKay, Beckman and Conover 1979).
import { drawAllowed, type Coordinates } from '../draws.ts';
import { permuted, uniform } from '../seeded.ts';
import { coordinateAt, type Space } from '../space.ts';
import type { SweepMethod } from './sweepMethod.ts';

export const latinHypercube = {
  name: 'latin_hypercube',
  refuses: { budget: null, continuous: null, walkForward: null },
  indexCount: (_, budget) => budget,
  takesAll: () => false,
  variantAt: ({ budget, seed }, space, index, tries) =>
    drawAllowed(space, tries, (draw) => pointOf(space, index, budget, seed + draw)),
  rounds: null,
} as const satisfies SweepMethod;

const pointOf = (space: Space, index: number, budget: number, seed: number): Coordinates =>
  Float64Array.from(space.dimensions, (dimension, at) => {
    const stratum = permuted(index, budget, seed ^ Math.imul(at + 1, 0x9e3779b1));
    return coordinateAt(dimension, (stratum + uniform(seed, index, at)) / budget);
  });
