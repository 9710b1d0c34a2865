// The schemas of levels: the modes of a stop, and the members that stand for the triggers of take-profits and for the
// distances of trailing stops.
import { z } from 'zod';
import { bars1, named, ParamRef } from '../../definitions/expressionMembers.ts';
import { issueCodes } from '../../definitions/issueCodes.ts';
import type { LevelForm } from '../../definitions/levels/levelMode.ts';
import {
  DISTANCE_LEVELS,
  STOP_LEVELS,
  TRIGGER_LEVELS,
  type DistanceLevel,
  type Level,
  type StopLevel,
  type TriggerLevel,
} from '../../definitions/levels/levelModes.ts';
import { STOP_UPDATES } from '../../definitions/words.ts';
import { valueSlot } from './expressions.ts';

export const riskNumber = (schema: z.ZodNumber) =>
  z.union([schema.register(issueCodes, { code: 'RISK_INVALID' }), ParamRef]);
const positiveRisk = (max: number | null = null) =>
  riskNumber(max === null ? z.number().positive() : z.number().positive().max(max));

const AtrDistance = z.strictObject({ ...named, period: bars1, multiplier: positiveRisk() });

/** The members of a stop beside its mode, by form. */
const stopMembers = {
  number: () => ({ value: positiveRisk() }),
  atrs: () => ({ period: bars1, multiplier: positiveRisk() }),
  expression: () => ({ value: valueSlot, update: z.enum(STOP_UPDATES).default('entry') }),
} satisfies Readonly<Record<LevelForm, () => object>>;
/** A level that is one member. */
const memberSchemas = {
  number: positiveRisk,
  atrs: () => AtrDistance,
  expression: () => valueSlot,
} satisfies Readonly<Record<LevelForm, (max: number | null) => z.ZodType>>;

type StopSchema<L> = L extends StopLevel
  ? z.ZodObject<
      typeof named & { readonly mode: z.ZodLiteral<L['mode']> } & ReturnType<(typeof stopMembers)[L['form']]>,
      z.core.$strict
    >
  : never;
type MemberSchema<L extends Level> = z.ZodOptional<ReturnType<(typeof memberSchemas)[L['form']]>>;

// What `map` and `fromEntries` say of lists is less than what is known of the registry.

/** One schema for each mode of a stop. */
export const STOP_SCHEMAS = STOP_LEVELS.map(({ mode, form }) =>
  z.strictObject({ ...named, mode: z.literal(mode), ...stopMembers[form]() }),
) as unknown as readonly [StopSchema<StopLevel>, ...StopSchema<StopLevel>[]];

/** The members of a take-profit that are triggers. */
export const TRIGGER_MEMBERS = Object.fromEntries(
  TRIGGER_LEVELS.map(({ trigger, form }) => [trigger.member, memberSchemas[form](null).optional()]),
) as unknown as { readonly [L in TriggerLevel as L['trigger']['member']]: MemberSchema<L> };

/** The members of a trailing stop that are distances. */
export const DISTANCE_MEMBERS = Object.fromEntries(
  DISTANCE_LEVELS.map(({ distance, form }) => [distance.member, memberSchemas[form](distance.max).optional()]),
) as unknown as { readonly [L in DistanceLevel as L['distance']['member']]: MemberSchema<L> };
