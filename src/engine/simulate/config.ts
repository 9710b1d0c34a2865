// The config of a backtest (spec §4.3.13, design §4): the zod schema is the type; resolving fills the defaults.
import { z } from 'zod';
import { TIMEFRAMES } from '../columns/bars.ts';

export const ORDER_ROLES = ['maker', 'taker'] as const;
export const ORDER_TIMINGS = ['next_open', 'bar_close'] as const;
export const AMBIGUITY_RESOLUTIONS = [
  'multi_resolution',
  'pessimistic',
  'optimistic',
  'bar_direction',
  'distance',
] as const;
export const AMBIGUITY_FALLBACKS = ['pessimistic', 'optimistic', 'bar_direction', 'distance'] as const;
export const SLIPPAGE_KINDS = ['none', 'fixed', 'volatility_scaled'] as const;
export type OrderRole = (typeof ORDER_ROLES)[number];
export type AmbiguityFallback = (typeof AMBIGUITY_FALLBACKS)[number];

export const FeeTier = z.strictObject({
  /** Notional of all earlier fills from which this tier holds, quote units. First 0, strictly ascending. */
  minCumulativeNotional: z.number().min(0),
  /** Fractions of the notional; negative is a rebate. */
  makerRate: z.number().min(-0.01).max(0.1),
  takerRate: z.number().min(-0.01).max(0.1),
});
export const FeeModel = z.strictObject({
  kind: z.literal('tiered_maker_taker'),
  tiers: z.array(FeeTier).min(1).max(50),
  window: z.strictObject({ kind: z.literal('rolling'), days: z.number().positive().max(3650) }).optional(),
});
export const Slippage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('fixed'), unit: z.enum(['bps', 'ticks']), value: z.number().min(0).max(10_000) }),
  z.strictObject({
    kind: z.literal('volatility_scaled'),
    reference: z.enum(['atr_pct', 'bar_range_pct']),
    multiplier: z.number().min(0).max(100),
    /** Bars of the ATR for atr_pct; default 14. */
    atrPeriod: z.int().min(1).max(10_000).optional(),
  }),
]);
export const Execution = z.strictObject({
  orderTiming: z.enum(ORDER_TIMINGS).optional(),
  entryOrderRole: z.enum(ORDER_ROLES).optional(),
  exitOrderRole: z.enum(ORDER_ROLES).optional(),
  riskOrderRole: z.enum(ORDER_ROLES).optional(),
  feeModel: FeeModel,
  slippage: Slippage,
});
export const BacktestConfig = z.strictObject({
  timeframe: z.enum(TIMEFRAMES),
  signalInstrument: z.strictObject({ symbol: z.string().min(1).max(100) }),
  /** [start, end), ms, or seconds when both have at most 10 digits. */
  range: z.strictObject({ start: z.int().optional(), end: z.int().optional() }).optional(),
  initialBalance: z.number().positive().max(1e15),
  execution: Execution,
  ambiguityResolution: z.enum(AMBIGUITY_RESOLUTIONS).optional(),
  ambiguityFallback: z.enum(AMBIGUITY_FALLBACKS).optional(),
  leverage: z.number().min(1).max(1000).optional(),
  maintenanceMarginRate: z.number().min(0).max(0.5).optional(),
  /** Fraction of notional each 8 hours; a long pays a positive rate. */
  fundingRate: z.number().min(-0.1).max(0.1).optional(),
  params: z.record(z.string(), z.union([z.number(), z.boolean(), z.string()])).optional(),
  /** JSON pointer into the strategy payload → number. */
  overrides: z.record(z.string(), z.number()).optional(),
});
export type BacktestConfig = z.infer<typeof BacktestConfig>;
export type FeeModel = z.infer<typeof FeeModel>;
export type Slippage = z.infer<typeof Slippage>;

/** A config with every default filled in and its range in ms; what enters configHash. */
export interface ResolvedConfig {
  readonly timeframe: (typeof TIMEFRAMES)[number];
  readonly signalInstrument: { readonly symbol: string };
  /** null: from the first bar, to the last. */
  readonly range: { readonly start: number | null; readonly end: number | null };
  readonly initialBalance: number;
  readonly execution: {
    readonly orderTiming: (typeof ORDER_TIMINGS)[number];
    readonly entryOrderRole: OrderRole;
    readonly exitOrderRole: OrderRole;
    readonly riskOrderRole: OrderRole;
    readonly feeModel: FeeModel;
    readonly slippage: Slippage;
  };
  readonly ambiguityResolution: (typeof AMBIGUITY_RESOLUTIONS)[number];
  readonly ambiguityFallback: AmbiguityFallback;
  readonly leverage: number;
  readonly maintenanceMarginRate: number;
  readonly fundingRate: number;
  readonly params: Readonly<Record<string, number | boolean | string>>;
  readonly overrides: Readonly<Record<string, number>>;
}

const SECONDS_LIMIT = 1e10;
/** A timestamp of at most 10 digits is in seconds (design §4.8). */
const toMs = (time: number | undefined): number | null =>
  time === undefined ? null : Math.abs(time) < SECONDS_LIMIT ? time * 1000 : time;

export function resolveConfig(config: BacktestConfig): ResolvedConfig {
  const { execution } = config;
  return {
    timeframe: config.timeframe,
    signalInstrument: config.signalInstrument,
    range: { start: toMs(config.range?.start), end: toMs(config.range?.end) },
    initialBalance: config.initialBalance,
    execution: {
      orderTiming: execution.orderTiming ?? 'next_open',
      entryOrderRole: execution.entryOrderRole ?? 'taker',
      exitOrderRole: execution.exitOrderRole ?? 'taker',
      riskOrderRole: execution.riskOrderRole ?? 'taker',
      feeModel: execution.feeModel,
      slippage: execution.slippage,
    },
    ambiguityResolution: config.ambiguityResolution ?? 'multi_resolution',
    ambiguityFallback: config.ambiguityFallback ?? 'pessimistic',
    leverage: config.leverage ?? 1,
    maintenanceMarginRate: config.maintenanceMarginRate ?? 0.005,
    fundingRate: config.fundingRate ?? 0,
    params: config.params ?? {},
    overrides: config.overrides ?? {},
  };
}
