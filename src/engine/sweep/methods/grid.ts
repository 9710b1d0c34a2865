// The grid: every point of the space, in order.
import { visitedPoint } from '../draws.ts';
import type { SweepMethod } from './sweepMethod.ts';

export const grid = {
  name: 'grid',
  refuses: {
    budget: {
      message: 'A grid has as many variants as its space has points, and takes no budget.',
      onCommandLine: 'A grid runs every point of the space and takes no budget.',
    },
    continuous: (dimension) => `A grid needs a step or a list of values for ${dimension}, whose range is continuous.`,
    walkForward: null,
  },
  indexCount: (space) => space.size,
  takesAll: () => true,
  variantAt: (_, space, index, tries) => visitedPoint(space, index, tries),
  rounds: null,
} as const satisfies SweepMethod;
