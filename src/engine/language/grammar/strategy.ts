// The sections of a strategy as zod schemas: entries, exits, sizing, orders, risk, params and defaults.
import { z } from 'zod';
import { conditionSlot, valueSlot } from './expressions.ts';
import { bars0, bars1, InstrumentRef, Int, named, ParamRef, timeframe } from '../../definitions/expressionMembers.ts';
import { issueCodes } from '../../definitions/issueCodes.ts';
import {
  APPLIES_TO,
  CLOSE_BASES,
  CONFLICT_POLICIES,
  EXIT_SIZING_MODES,
  PARAM_TYPES,
  SIDES,
  STOP_UPDATES,
} from '../../definitions/words.ts';

/**
 * Percents are in points: 100 is everything. The config's leverage can raise what is affordable up to 1,000 times that.
 */
const MAX_SIZING_PERCENT = 100_000;
const MAX_RULES = 256;
const MAX_PARAMS = 256;

const sizingNumber = (schema: z.ZodNumber) =>
  z.union([schema.register(issueCodes, { code: 'SIZING_INVALID' }), ParamRef]);
const riskNumber = (schema: z.ZodNumber) => z.union([schema.register(issueCodes, { code: 'RISK_INVALID' }), ParamRef]);
const positiveSize = () => sizingNumber(z.number().positive());
const sizePercent = (max: number) => sizingNumber(z.number().positive().max(max));
const positiveRisk = () => riskNumber(z.number().positive());

const Sizing = z
  .discriminatedUnion('mode', [
    z.strictObject({ ...named, mode: z.literal('fixed'), value: positiveSize() }),
    z.strictObject({ ...named, mode: z.literal('fixed_cash'), value: positiveSize() }),
    z.strictObject({ ...named, mode: z.literal('percent_equity'), value: sizePercent(MAX_SIZING_PERCENT) }),
    z.strictObject({ ...named, mode: z.literal('percent_balance'), value: sizePercent(MAX_SIZING_PERCENT) }),
    z.strictObject({ ...named, mode: z.literal('risk_percent'), value: sizePercent(100) }),
    z.strictObject({
      ...named,
      mode: z.literal('volatility_target'),
      value: sizePercent(10_000),
      atrPeriod: bars1.default(14),
    }),
  ])
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
  action: z.strictObject({ ...named, side: z.enum(SIDES), sizing: Sizing, order: Order.default({ type: 'market' }) }),
});
export type Entry = z.input<typeof Entry>;

const ExitAction = z
  .discriminatedUnion('mode', [
    z.strictObject({ ...named, mode: z.literal(EXIT_SIZING_MODES[0]), value: sizePercent(100) }),
    z.strictObject({ ...named, mode: z.literal(EXIT_SIZING_MODES[1]), value: positiveSize() }),
  ])
  .register(issueCodes, { code: 'SIZING_INVALID' });
export const Exit = z.strictObject({
  ...named,
  kind: z.literal('exit'),
  when: conditionSlot,
  appliesTo: z.enum(APPLIES_TO).default('any'),
  priority: Int.default(0),
  reason: z.string().max(100).optional(),
  action: ExitAction.default({ mode: 'percent_position', value: 100 }),
});
export type Exit = z.input<typeof Exit>;

const AtrDistance = z.strictObject({ ...named, period: bars1, multiplier: positiveRisk() });
const StopLoss = z
  .discriminatedUnion('mode', [
    z.strictObject({ ...named, mode: z.literal('percent'), value: positiveRisk() }),
    z.strictObject({ ...named, mode: z.literal('atr'), period: bars1, multiplier: positiveRisk() }),
    z.strictObject({
      ...named,
      mode: z.literal('price'),
      value: valueSlot,
      update: z.enum(STOP_UPDATES).default('entry'),
    }),
    z.strictObject({ ...named, mode: z.literal('fixed'), value: positiveRisk() }),
  ])
  .register(issueCodes, { code: 'RISK_INVALID' });
/** Exactly one trigger… member is given (RISK_INVALID otherwise). */
const TakeProfit = z.strictObject({
  ...named,
  triggerPercent: positiveRisk().optional(),
  triggerR: positiveRisk().optional(),
  triggerAtr: AtrDistance.optional(),
  triggerPrice: valueSlot.optional(),
  closePercent: riskNumber(z.number().positive().max(100)),
  closeBasis: z.enum(CLOSE_BASES).default('initial'),
  moveStopToBreakeven: z.boolean().default(false),
});
/** Exactly one distance… member is given (RISK_INVALID otherwise). */
const TrailingStop = z.strictObject({
  ...named,
  distancePercent: riskNumber(z.number().positive().max(100)).optional(),
  distanceAtr: AtrDistance.optional(),
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

export const Strategy = z.strictObject({
  ...named,
  kind: z.literal('strategy'),
  defaults: Defaults.optional(),
  params: z.array(Param).max(MAX_PARAMS).optional(),
  entry: z.union([Entry, z.array(Entry).min(1).max(MAX_RULES)]),
  exits: z.array(Exit).max(MAX_RULES).optional(),
  /** One exit, written back as `exits`. */
  exit: Exit.optional(),
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
