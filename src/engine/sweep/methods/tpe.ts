// TPE: points where earlier variants did well, by the tree-structured Parzen estimator; the first ones are drawn
// uniformly.
import { uniformVariant } from '../draws.ts';
import { proposeVariants, STARTUP_VARIANTS } from '../parzen.ts';
import type { SweepMethod } from './sweepMethod.ts';

export const tpe = {
  name: 'tpe',
  refuses: { budget: null, continuous: null, walkForward: 'chooses variants by results over the whole range' },
  indexCount: (_, budget) => budget,
  takesAll: () => false,
  variantAt: ({ seed }, space, index, tries) => uniformVariant(space, seed, index, tries),
  rounds: { startupVariants: STARTUP_VARIANTS, propose: proposeVariants },
} as const satisfies SweepMethod;
