// The options of a robustness check: how much of each analysis to run. The zod schema is the type.
import { z } from 'zod';

const MAX_SEED = 0xffffffff;
/** Percentiles hardly move beyond this. */
const MAX_SAMPLES = 1_000;
/** With the other analyses, a default check stays below the 200 runs of the smallest tier. */
const DEFAULT_SAMPLES = 64;

export const CheckOptions = z.strictObject({
  seed: z.int().min(0).max(MAX_SEED).default(1).meta({ description: 'The same seed gives the same result.' }),
  samples: z
    .int()
    .min(10)
    .max(MAX_SAMPLES)
    .default(DEFAULT_SAMPLES)
    .meta({ description: 'Runs of the block bootstrap, and again of the parameter jitter.' }),
  blockBars: z.int().min(1).max(1_000_000).optional().meta({
    description: 'Length of the blocks of bars. Default: the square root of the number of bars, at least 10.',
  }),
  trials: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .meta({
      description:
        'How many variants were tried before this one was chosen, itself included, where more were tried than the ' +
        'workspace knows of; the larger number counts.',
    }),
  jitterPercent: z
    .number()
    .positive()
    .max(90)
    .default(10)
    .meta({ description: 'The most percent that each number is moved by; a whole number moves by at least 1.' }),
});
export type CheckOptions = z.infer<typeof CheckOptions>;
