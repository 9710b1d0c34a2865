// Samplers: from the index of a variant to its coordinates, by the method of a sweep.
import type { Coordinates } from './draws.ts';
import { methodOf } from './methods/sweepMethods.ts';
import type { Space } from './space.ts';
import type { SweepSpec } from './sweepRequest.ts';
import { UNWATCHED, type Tries } from './tries.ts';

/**
 * The indexes that a sweep visits. Some may have no variant: those that break a constraint, or find nothing left to
 * draw.
 */
export const indexCount = ({ method, budget }: Pick<SweepSpec, 'method' | 'budget'>, space: Space): number =>
  methodOf(method).indexCount(space, budget!);

/** Whether the indexes stand for every point of a grid, each once, as those of random with such a budget do. */
export const takesAll = ({ method, budget }: Pick<SweepSpec, 'method' | 'budget'>, space: Space): boolean =>
  methodOf(method).takesAll(space, budget!);

/**
 * The coordinates of a variant; null if its index has none. Of a method that learns only the first round, whose
 * variants do not depend on results.
 * @param tries is told of every point that is tried, and may throw
 */
export const variantAt = (
  { method, budget, seed }: Pick<SweepSpec, 'method' | 'budget' | 'seed'>,
  space: Space,
  index: number,
  tries: Tries = UNWATCHED,
): Coordinates | null => methodOf(method).variantAt({ budget: budget!, seed }, space, index, tries);
