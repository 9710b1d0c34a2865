// The sections of a strategy as zod schemas: entries, exits, sizing, orders, risk, params and defaults.
import { z } from 'zod';
import { Allocation } from './allocationSchemas.ts';
import { conditionSlot, valueSlot } from './expressions.ts';
import { DISTANCE_MEMBERS, riskNumber, STOP_SCHEMAS, TRIGGER_MEMBERS } from './levelSchemas.ts';
import { bars0, bars1, InstrumentRef, Int, named, timeframe } from '../../definitions/expressionMembers.ts';
import { issueCodes } from '../../definitions/issueCodes.ts';
import { EXIT_SIZES } from '../../definitions/sizing/exitSizes.ts';
import { percentPosition } from '../../definitions/sizing/percentPosition.ts';
import { SIZING_MODES } from '../../definitions/sizing/sizingModes.ts';
import { taggedSchemas } from '../../definitions/taggedSchemas.ts';
import { APPLIES_TO, CLOSE_BASES, CONFLICT_POLICIES, PARAM_TYPES, SIDES } from '../../definitions/words.ts';

const MAX_RULES = 256;
const MAX_PARAMS = 256;

const Sizing = z
  .discriminatedUnion('mode', taggedSchemas('mode', named, SIZING_MODES))
  .register(issueCodes, { code: 'SIZING_INVALID' });
type Sizing = z.input<typeof Sizing>;

export const Order = z.discriminatedUnion('type', [
  z.strictObject({ ...named, type: z.literal('market') }),
  z.strictObject({ ...named, type: z.literal('limit'), price: valueSlot, expireBars: bars1 }),
  z.strictObject({ ...named, type: z.literal('stop'), price: valueSlot, expireBars: bars1 }),
]);
export type Order = z.input<typeof Order>;

export const Entry = z.strictObject({
  ...named,
  kind: z.literal('entry'),
  setup: conditionSlot.optional(),
  trigger: conditionSlot,
  filters: z.array(conditionSlot).max(MAX_RULES).default([]),
  cooldownBars: bars0.default(0),
  conflict: z.enum(CONFLICT_POLICIES).default('ignore'),
  /** Which signals get the free slots of a portfolio: the largest. */
  rank: valueSlot.optional(),
  action: z.strictObject({ ...named, side: z.enum(SIDES), sizing: Sizing, order: Order.default({ type: 'market' }) }),
});
export type Entry = z.input<typeof Entry>;

const ExitAction = z
  .discriminatedUnion('mode', taggedSchemas('mode', named, EXIT_SIZES))
  .register(issueCodes, { code: 'SIZING_INVALID' });
export const Exit = z.strictObject({
  ...named,
  kind: z.literal('exit'),
  when: conditionSlot,
  appliesTo: z.enum(APPLIES_TO).default('any'),
  priority: Int.default(0),
  reason: z.string().max(100).optional(),
  action: ExitAction.default({ mode: percentPosition.mode, value: 100 }),
});
export type Exit = z.input<typeof Exit>;

const StopLoss = z.discriminatedUnion('mode', STOP_SCHEMAS).register(issueCodes, { code: 'RISK_INVALID' });
/** Exactly one trigger… member is given (RISK_INVALID otherwise). */
const TakeProfit = z.strictObject({
  ...named,
  ...TRIGGER_MEMBERS,
  closePercent: riskNumber(z.number().positive().max(100)),
  closeBasis: z.enum(CLOSE_BASES).default('initial'),
  moveStopToBreakeven: z.boolean().default(false),
});
/** Exactly one distance… member is given (RISK_INVALID otherwise). */
const TrailingStop = z.strictObject({
  ...named,
  ...DISTANCE_MEMBERS,
  activateAfterPercent: riskNumber(z.number().min(0)).optional(),
});
export const Risk = z.strictObject({
  ...named,
  stopLoss: StopLoss.optional(),
  takeProfits: z.array(TakeProfit).max(10).register(issueCodes, { code: 'RISK_INVALID' }).default([]),
  trailingStop: TrailingStop.optional(),
  breakeven: z
    .strictObject({
      ...named,
      activateAfterPercent: riskNumber(z.number().min(0)),
      offsetPercent: riskNumber(z.number().min(0)).default(0),
    })
    .optional(),
  timeStop: z.strictObject({ ...named, maxBars: bars1 }).optional(),
});
export type Risk = z.input<typeof Risk>;

const paramValue = z.union([z.number(), z.boolean(), z.string()]);
export const Param = z.strictObject({
  ...named,
  name: z.string().min(1).max(100),
  type: z.enum(PARAM_TYPES),
  default: paramValue,
  min: z.number().optional(),
  max: z.number().optional(),
  step: z.number().positive().optional(),
  values: z.array(paramValue).min(1).max(10_000).optional(),
  log: z.boolean().optional(),
});
export type Param = z.input<typeof Param>;

const Defaults = z.strictObject({
  ...named,
  instrument: InstrumentRef.optional(),
  timeframe: timeframe.optional(),
  timezone: z.string().optional(),
  warmupBars: z.int().min(0).optional(),
  maxConcurrentPositions: z.int().min(1).max(100).optional(),
});

/** Members that are required unless another member is given: entries, unless there is an allocation in their place. */
export const requiredUnless = z.registry<{ readonly member: string }>();

export const Strategy = z.strictObject({
  ...named,
  kind: z.literal('strategy'),
  defaults: Defaults.optional(),
  params: z.array(Param).max(MAX_PARAMS).optional(),
  entry: z
    .union([Entry, z.array(Entry).min(1).max(MAX_RULES)])
    .register(requiredUnless, { member: 'allocation' })
    .optional(),
  exits: z.array(Exit).max(MAX_RULES).optional(),
  /** One exit, written back as `exits`. */
  exit: Exit.optional(),
  /** In place of entries and exits: what to hold, not when to trade. */
  allocation: Allocation.optional(),
  risk: Risk.optional(),
});
export type Strategy = z.input<typeof Strategy>;

export const StrategyAst = z.strictObject({
  ...named,
  protocol: z.literal('svc.strategy').register(issueCodes, { code: 'PROTOCOL_UNSUPPORTED' }),
  version: z.literal(1).register(issueCodes, { code: 'VERSION_UNSUPPORTED' }),
  strategy: Strategy,
});
export type StrategyAst = z.input<typeof StrategyAst>;

/** `settings` of strategy writes. */
export const Settings = z.strictObject({
  maxConcurrentPositions: z.int().min(1).max(100).optional(),
  warmupPeriod: z.int().min(0).optional(),
});
export type Settings = z.input<typeof Settings>;
