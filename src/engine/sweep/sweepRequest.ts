// The request of a sweep: what to vary, how to choose variants, and how to rank them. The zod schema is the type.
import { z } from 'zod';
import { BacktestConfig, MAX_INSTRUMENTS } from '../config.ts';
import { FLAT_KEYS } from '../definitions/statistics/statistics.ts';
import { COMPARE_OPS } from '../definitions/words.ts';
import { either, EXHAUSTIVE_METHODS, SWEEP_METHODS } from './methods/sweepMethods.ts';

/** The most variants that any tier allows. */
const MAX_VARIANTS = 1_000_000;
/** No strategy has more numbers that are worth varying together. */
const MAX_DIMENSIONS = 32;
const MAX_LEVELS = 10_000;
const MAX_CONSTRAINTS = 64;
const MAX_FOLDS = 100;
const MAX_SEED = 0xffffffff;

const Text = z.string().min(1).max(100);
/** A list is a universe, of `instruments`. */
const Level = z.union([z.number(), z.boolean(), Text, z.array(Text).min(1).max(MAX_INSTRUMENTS)]);

const SpaceDimension = z.union(
  [
    z.strictObject({ values: z.array(Level).min(1).max(MAX_LEVELS) }),
    z.strictObject({
      min: z.number().optional().meta({ description: 'Default: the minimum that the strategy declares.' }),
      max: z.number().optional().meta({ description: 'Default: the maximum that the strategy declares.' }),
      step: z
        .number()
        .positive()
        .optional()
        .meta({
          description:
            'Distance of neighboring values; with log, their ratio. Whole numbers have 1. Without it the range is ' +
            'continuous.',
        }),
      log: z.boolean().optional(),
    }),
  ],
  { error: 'must be {"values": […]}, or a range such as {"min": 2, "max": 30}' },
);

const Objective = z.union([
  z.enum(FLAT_KEYS),
  z.strictObject({ key: z.enum(FLAT_KEYS), direction: z.enum(['maximize', 'minimize']).optional() }),
]);

export const SweepConstraint = z.strictObject({
  left: z.union([z.string().min(1).max(500), z.number()]),
  op: z.enum(COMPARE_OPS),
  right: z.union([z.string().min(1).max(500), z.number()]),
});

const WalkForward = z.strictObject({
  kind: z.enum(['anchored', 'rolling']),
  folds: z.int().min(1).max(MAX_FOLDS).meta({ description: 'Test windows, one after the other, of equal length.' }),
  trainFraction: z.number().min(0.05).max(0.95).default(0.5).meta({
    description: 'The part of the bars that lies before the first test window.',
  }),
  purgeBars: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .meta({ description: 'Bars dropped at the end of each training window.' }),
  embargoBars: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .meta({ description: 'Bars dropped at the start of each test window.' }),
});

export const SweepSpec = z.strictObject({
  config: BacktestConfig,
  space: z
    .record(z.string().min(1).max(500), SpaceDimension)
    .refine((space) => Object.keys(space).length >= 1 && Object.keys(space).length <= MAX_DIMENSIONS, {
      message: `must have 1 to ${MAX_DIMENSIONS} members`,
    })
    .meta({
      description:
        'By param name or JSON pointer into the payload as it was sent; also `symbol` and `timeframe`; of portfolios ' +
        '`slots` and `instruments`, whose values are lists of symbols.',
    }),
  method: z.enum(SWEEP_METHODS),
  budget: z
    .int()
    .min(1)
    .max(MAX_VARIANTS)
    .optional()
    .meta({ description: `Variants to evaluate; required unless the method is ${either(EXHAUSTIVE_METHODS)}.` }),
  seed: z.int().min(0).max(MAX_SEED).default(1),
  objective: Objective.default('sharpeRatio'),
  constraints: z
    .array(SweepConstraint)
    .max(MAX_CONSTRAINTS)
    .default([])
    .meta({
      description:
        'Between members of the space, variants that break one are not run; on a summary key, they are run and ' +
        'cannot win.',
    }),
  walkForward: WalkForward.optional(),
  metrics: z
    .union([z.enum(['all', 'headline']), z.array(z.enum(FLAT_KEYS)).min(1).max(FLAT_KEYS.length)])
    .optional()
    .meta({
      description: 'Summary keys of every row. Default: all up to 20,000 variants, beyond that the headline.',
    }),
});
/** The request with every default filled in. */
export type SweepSpec = z.infer<typeof SweepSpec>;
export type SweepConstraint = z.infer<typeof SweepConstraint>;
type WalkForward = z.infer<typeof WalkForward>;
