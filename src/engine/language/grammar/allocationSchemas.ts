// The schema of `strategy.allocation`: when to rebalance, whom to hold, and with which weights.
import { z } from 'zod';
import { named, ParamRef } from '../../definitions/expressionMembers.ts';
import { issueCodes } from '../../definitions/issueCodes.ts';
import { equalWeights } from '../../definitions/weights/equalWeights.ts';
import type { WeightMode } from '../../definitions/weights/weightMode.ts';
import { WEIGHT_MODES } from '../../definitions/weights/weightModes.ts';
import { conditionSlot, valueSlot } from './expressions.ts';

/** Leverage can raise what is affordable up to 1,000 times everything, as for sizes. */
const MAX_GROSS_PERCENT = 100_000;

const number = (schema: z.ZodNumber) =>
  z.union([schema.register(issueCodes, { code: 'ALLOCATION_INVALID' }), ParamRef]);
const percentAbove0 = (max: number) => number(z.number().positive().max(max));
/** A number of instruments. */
const places = () => z.union([z.int().min(1).register(issueCodes, { code: 'ALLOCATION_INVALID' }), ParamRef]);

/** The members of both legs beside the number of places. */
const legMembers = {
  ...named,
  by: valueSlot.optional(),
  where: conditionSlot.optional(),
  require: conditionSlot.optional(),
  keepWithin: places().optional(),
};
const LongLeg = z.strictObject({ ...legMembers, top: places().optional(), topPercent: percentAbove0(100).optional() });
const ShortLeg = z.strictObject({
  ...legMembers,
  bottom: places().optional(),
  bottomPercent: percentAbove0(100).optional(),
});

/** The member that each mode reads. */
const readMembers = {
  none: () => ({}),
  by: () => ({ by: valueSlot }),
  values: () => ({ values: z.record(z.string().min(1), percentAbove0(MAX_GROSS_PERCENT)) }),
};
type ReadMembers<Reads> = ReturnType<(typeof readMembers)[Reads extends 'by' | 'values' ? Reads : 'none']>;

const weightMembers = {
  maxPercent: percentAbove0(MAX_GROSS_PERCENT).optional(),
  grossPercent: z
    .union([
      z.number().min(0).max(MAX_GROSS_PERCENT).register(issueCodes, { code: 'ALLOCATION_INVALID' }),
      ParamRef,
      valueSlot,
    ])
    .default(100),
};
type WeightSchema<D> =
  D extends WeightMode<infer Mode, infer Reads>
    ? z.ZodObject<
        typeof named & { readonly mode: z.ZodLiteral<Mode> } & ReadMembers<Reads> & typeof weightMembers,
        z.core.$strict
      >
    : never;
type WeightSchemas<Modes> = { readonly [I in keyof Modes]: WeightSchema<Modes[I]> };
/** One schema for each mode; `map` of a tuple does not say that it has the same length. */
const WEIGHT_SCHEMAS = WEIGHT_MODES.map(({ mode, reads }) =>
  z.strictObject({ ...named, mode: z.literal(mode), ...readMembers[reads ?? 'none'](), ...weightMembers }),
) as unknown as WeightSchemas<typeof WEIGHT_MODES>;
const Weights = z.discriminatedUnion('mode', WEIGHT_SCHEMAS).register(issueCodes, { code: 'ALLOCATION_INVALID' });

export const Allocation = z.strictObject({
  ...named,
  kind: z.literal('allocation'),
  when: conditionSlot,
  long: LongLeg.optional(),
  short: ShortLeg.optional(),
  weights: Weights.default({ mode: equalWeights.mode, grossPercent: 100 }),
  fallback: z.string().min(1).optional(),
  bandPercent: number(z.number().min(0).max(100)).default(0),
});
export type Allocation = z.input<typeof Allocation>;
