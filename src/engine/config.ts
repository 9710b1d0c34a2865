// The config of a backtest: the zod schema is the type; resolving fills the defaults.
import { z } from 'zod';
import { TIMEFRAMES } from './bars/bars.ts';
import { chargesPerOrder, ORDER_FEE_MEMBERS } from './definitions/fees/orderFees.ts';
import { noSlippage } from './definitions/slippage/noSlippage.ts';
import { SLIPPAGE_KINDS, slippageKindOf } from './definitions/slippage/slippageKinds.ts';
import { taggedSchemas } from './definitions/taggedSchemas.ts';

export const ORDER_ROLES = ['maker', 'taker'] as const;
export const ORDER_TIMINGS = ['next_open', 'bar_close'] as const;
export const AMBIGUITY_RESOLUTIONS = [
  'multi_resolution',
  'pessimistic',
  'optimistic',
  'bar_direction',
  'distance',
] as const;
/** The policies that decide a bar. */
export const AMBIGUITY_FALLBACKS = ['pessimistic', 'optimistic', 'bar_direction', 'distance'] as const;
/** What a config may choose: a policy, or of pessimistic and optimistic the one under which the run earns less. */
export const FALLBACK_CHOICES = [...AMBIGUITY_FALLBACKS, 'worst'] as const;
export type OrderRole = (typeof ORDER_ROLES)[number];
export type AmbiguityFallback = (typeof AMBIGUITY_FALLBACKS)[number];
type FallbackChoice = (typeof FALLBACK_CHOICES)[number];

const FeeTier = z.strictObject({
  /** Notional of all earlier fills from which this tier holds, quote units. First 0, strictly ascending. */
  minCumulativeNotional: z.number().min(0),
  /** Fractions of the notional; negative is a rebate. */
  makerRate: z.number().min(-0.01).max(0.1),
  takerRate: z.number().min(-0.01).max(0.1),
});
export const FeeModel = z.strictObject({
  kind: z.literal('tiered_maker_taker'),
  tiers: z.array(FeeTier).min(1).max(50),
  ...ORDER_FEE_MEMBERS,
  window: z.strictObject({ kind: z.literal('rolling'), days: z.number().positive().max(3650) }).optional(),
});
/** Whether fills pay nothing: no rate of a tier, and nothing per order. */
export const isFreeOfFees = (model: z.infer<typeof FeeModel>): boolean =>
  model.tiers.every(({ makerRate, takerRate }) => makerRate === 0 && takerRate === 0) && !chargesPerOrder(model);
export const Slippage = z.discriminatedUnion('kind', taggedSchemas('kind', {}, SLIPPAGE_KINDS));
/** Whether fills are at the price itself. */
export const isFreeSlippage = (slippage: z.infer<typeof Slippage>): boolean =>
  slippageKindOf(slippage).isFree(slippage);
/** A kind keeps its members. */
export const multipliedSlippage = (slippage: z.infer<typeof Slippage>, factor: number): z.infer<typeof Slippage> =>
  slippageKindOf(slippage).multiplied(slippage, factor) as z.infer<typeof Slippage>;
const Execution = z.strictObject({
  orderTiming: z.enum(ORDER_TIMINGS).optional(),
  entryOrderRole: z.enum(ORDER_ROLES).optional(),
  exitOrderRole: z.enum(ORDER_ROLES).optional(),
  riskOrderRole: z.enum(ORDER_ROLES).optional(),
  feeModel: FeeModel,
  slippage: Slippage,
});
/** The last millisecond that a Date can name. */
const MAX_TIME_MS = 8.64e15;
/** A point in time as people write it, or as numbers. */
const PointInTime = z.union(
  [
    z.int().min(-MAX_TIME_MS).max(MAX_TIME_MS),
    z.iso.date(),
    z.iso.datetime({ offset: true }),
    // To the minute.
    z.iso.datetime({ offset: true, precision: -1 }),
  ],
  { error: 'must be a day such as "2020-01-31", a time with its zone such as "2020-01-31T09:30Z", or milliseconds' },
);
const timeOf = (description: string, examples?: (string | number)[]) =>
  PointInTime.meta({
    description,
    ...(examples !== undefined && { examples }),
    // Replaces the patterns of the formats, which nobody can read.
    override: {
      anyOf: [
        { type: 'integer', minimum: -MAX_TIME_MS, maximum: MAX_TIME_MS },
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
    },
  });
export const ConfigTime = timeOf(
  'A day (midnight UTC), a time with its zone, or a number: milliseconds since 1970, or seconds when it has at ' +
    'most 10 digits.',
  ['2015-01-31', '2015-01-31T09:30:00Z', 1_422_696_600_000],
);
const InstrumentName = z.strictObject({ symbol: z.string().min(1).max(100) });
/** The most instruments that any run may have; tiers allow fewer. */
export const MAX_INSTRUMENTS = 1000;
export const MAX_SLOTS = 100_000;
/** As many as a thousand instruments pay in five years. */
const MAX_DIVIDENDS = 20_000;
const Dividend = z.strictObject({
  symbol: z.string().min(1).max(100).optional().meta({ description: 'Required in a portfolio.' }),
  time: timeOf('The ex-date, written as the times of the range.'),
  amount: z.number().positive().max(1e9).meta({ description: 'Quote currency per unit.' }),
});
const Portfolio = z.strictObject({
  slots: z
    .int()
    .min(1)
    .max(MAX_SLOTS)
    .optional()
    .meta({ description: 'The most positions and pending orders of the whole account. Absent: no bound.' }),
  linked: z
    .array(z.array(z.string().min(1).max(100)).min(2).max(MAX_INSTRUMENTS))
    .max(MAX_INSTRUMENTS)
    .optional()
    .meta({
      description:
        'Groups of symbols. Entries of a group at one close are taken together or not at all, and when one of its ' +
        'positions is closed, the others are closed at their next open.',
    }),
});
const ConfigMembers = z.strictObject({
  timeframe: z.enum(TIMEFRAMES),
  signalInstrument: InstrumentName.optional().meta({
    description: 'The instrument of the run. Required, unless `instruments` is given.',
  }),
  instruments: z
    .array(InstrumentName)
    .min(1)
    .max(MAX_INSTRUMENTS)
    .optional()
    .meta({ description: 'The instruments of a portfolio, traded from one account, in place of `signalInstrument`.' }),
  portfolio: Portfolio.optional(),
  benchmark: InstrumentName.optional().meta({
    description: 'The instrument that is bought and held as the benchmark. Absent: the instruments of the run.',
  }),
  range: z
    .strictObject({ start: ConfigTime.nullish(), end: ConfigTime.nullish() })
    .nullish()
    .meta({
      description:
        'From the first bar that opens at or after `start` to the last that has closed by `end`; null: no limit on ' +
        'that side.',
    }),
  initialBalance: z.number().positive().max(1e15),
  execution: Execution.optional().meta({
    description: 'Absent: no fees and no slippage, with the warning COSTS_NOT_MODELED.',
  }),
  ambiguityResolution: z.enum(AMBIGUITY_RESOLUTIONS).optional(),
  ambiguityFallback: z
    .enum(FALLBACK_CHOICES)
    .optional()
    .meta({
      description:
        'Decides what finer bars do not. "worst" runs pessimistic and optimistic and keeps the one with the lower ' +
        'return.',
    }),
  leverage: z.number().min(1).max(1000).optional(),
  maintenanceMarginRate: z.number().min(0).max(0.5).optional(),
  /** Fraction of notional each 8 hours; a long pays a positive rate. */
  fundingRate: z.number().min(-0.1).max(0.1).optional(),
  borrowRatePerYear: z.number().min(0).max(10).optional().meta({
    description:
      'Fraction of its value that a short pays per year, for each midnight UTC that it is held: 0.03 is 3 %.',
  }),
  dividends: z
    .array(Dividend)
    .max(MAX_DIVIDENDS)
    .optional()
    .meta({ description: 'Cash per unit that longs receive and shorts pay, for prices that are not adjusted for it.' }),
  dividendColumn: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'The imported column of an instrument that has the same amounts, 0 where there is none.' }),
  riskFreeRatePerYear: z.number().min(-0.5).max(1).optional().meta({
    description: 'Fraction per year that Sharpe, Sortino and alpha measure against: 0.02 is 2 %. Default 0.',
  }),
  params: z.record(z.string(), z.union([z.number(), z.boolean(), z.string()])).optional(),
  overrides: z
    .record(z.string(), z.number())
    .optional()
    .meta({
      description:
        'JSON pointer into the payload as it was sent (/strategyAst/… or /signalGraph/…), as answers name places, → ' +
        'the number there for this run.',
    }),
});
/** A config names `signalInstrument` or `instruments`. That it names only one of them, `configIssues` checks. */
export const BacktestConfig = ConfigMembers.superRefine(({ signalInstrument, instruments }, context) => {
  if (signalInstrument !== undefined || instruments !== undefined) return;
  context.addIssue({
    code: 'invalid_type',
    expected: 'object',
    input: undefined,
    path: ['signalInstrument'],
    message: 'Invalid input: expected object, received undefined',
  });
});
export type BacktestConfig = z.infer<typeof BacktestConfig>;
export type FeeModel = z.infer<typeof FeeModel>;
export type Slippage = z.infer<typeof Slippage>;

/** A config with every default filled in and its range in ms; what enters configHash. */
export interface ResolvedConfig {
  readonly timeframe: (typeof TIMEFRAMES)[number];
  /** The instrument of a single run; a portfolio has `instruments` instead. */
  readonly signalInstrument?: { readonly symbol: string };
  readonly instruments?: readonly { readonly symbol: string }[];
  readonly portfolio?: z.infer<typeof Portfolio>;
  readonly benchmark?: { readonly symbol: string };
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
  readonly ambiguityFallback: FallbackChoice;
  readonly leverage: number;
  readonly maintenanceMarginRate: number;
  readonly fundingRate: number;
  /** The next four are absent where they are 0 or empty. */
  readonly borrowRatePerYear?: number;
  readonly dividends?: readonly { readonly symbol: string; readonly time: number; readonly amount: number }[];
  readonly dividendColumn?: string;
  readonly riskFreeRatePerYear?: number;
  readonly params: Readonly<Record<string, number | boolean | string>>;
  readonly overrides: Readonly<Record<string, number>>;
}

/** What fills cost when a config says nothing: nothing. */
const NO_FEES: FeeModel = {
  kind: 'tiered_maker_taker',
  tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }],
};
export const NO_SLIPPAGE: Slippage = { kind: noSlippage.kind };

type NamedInstruments = Pick<BacktestConfig, 'signalInstrument'> & {
  readonly instruments?: ResolvedConfig['instruments'] | undefined;
};

/** Whether a run may have dividends. */
export const hasDividends = ({ dividends, dividendColumn }: Dividends): boolean =>
  dividends !== undefined || dividendColumn !== undefined;
export type Dividends = Pick<ResolvedConfig, 'dividends' | 'dividendColumn'>;

/** The symbols of the run's instruments, in the order of the list. */
export const symbolsOf = ({ signalInstrument, instruments }: NamedInstruments): readonly string[] =>
  (signalInstrument === undefined ? (instruments ?? []) : [signalInstrument]).map(({ symbol }) => symbol);

/** Whether a run is a portfolio; of a config as sent, whether it is written as one. */
export const isPortfolio = ({ instruments }: NamedInstruments): boolean => instruments !== undefined;

/**
 * Fills every default of a parsed config, and turns its range into milliseconds. A portfolio of one instrument without
 * settings of its own is the single run of that instrument.
 * @param hasAllocation whether the strategy has an allocation, which makes a portfolio of one instrument, too
 */
export function resolveConfig(config: BacktestConfig, hasAllocation = false): ResolvedConfig {
  const { execution, instruments, portfolio, benchmark } = config;
  const resolved: ResolvedConfig = {
    timeframe: config.timeframe,
    signalInstrument: config.signalInstrument ?? instruments![0],
    range: { start: toMs(config.range?.start), end: toMs(config.range?.end) },
    initialBalance: config.initialBalance,
    execution: {
      orderTiming: execution?.orderTiming ?? 'next_open',
      entryOrderRole: execution?.entryOrderRole ?? 'taker',
      exitOrderRole: execution?.exitOrderRole ?? 'taker',
      riskOrderRole: execution?.riskOrderRole ?? 'taker',
      feeModel: execution?.feeModel ?? NO_FEES,
      slippage: execution?.slippage ?? NO_SLIPPAGE,
    },
    ambiguityResolution: config.ambiguityResolution ?? 'multi_resolution',
    ambiguityFallback: config.ambiguityFallback ?? 'pessimistic',
    leverage: config.leverage ?? 1,
    maintenanceMarginRate: config.maintenanceMarginRate ?? 0.005,
    fundingRate: config.fundingRate ?? 0,
    ...carryOf(config),
    params: config.params ?? {},
    overrides: config.overrides ?? {},
  };
  const isSingle = instruments === undefined || (instruments.length === 1 && portfolio === undefined && !hasAllocation);
  if (isSingle) return benchmark === undefined ? resolved : { ...resolved, benchmark };
  const { signalInstrument: _first, ...common } = resolved;
  return { ...common, instruments, ...(portfolio && { portfolio }), ...(benchmark && { benchmark }) };
}

/** The members of costs and references that a config mostly leaves out. */
function carryOf(
  config: BacktestConfig,
): Pick<ResolvedConfig, 'borrowRatePerYear' | 'dividends' | 'dividendColumn' | 'riskFreeRatePerYear'> {
  const { borrowRatePerYear = 0, dividends = [], dividendColumn, riskFreeRatePerYear = 0 } = config;
  const [first] = symbolsOf(config);
  return {
    ...(borrowRatePerYear !== 0 && { borrowRatePerYear }),
    ...(dividends.length > 0 && {
      dividends: dividends.map(({ symbol = first, time, amount }) => ({ symbol, time: toMs(time)!, amount })),
    }),
    ...(dividendColumn !== undefined && { dividendColumn }),
    ...(riskFreeRatePerYear !== 0 && { riskFreeRatePerYear }),
  };
}

/** What decides an undecided bar: `ambiguityFallback` matters only under `multi_resolution` (semantics §3.2). */
export const policyInForce = ({
  ambiguityResolution,
  ambiguityFallback,
}: Pick<ResolvedConfig, 'ambiguityResolution' | 'ambiguityFallback'>): FallbackChoice =>
  ambiguityResolution === 'multi_resolution' ? ambiguityFallback : ambiguityResolution;

const SECONDS_LIMIT = 1e10;

/** Days begin at midnight UTC; a number of at most 10 digits is in seconds. */
export function toMs(time: z.infer<typeof ConfigTime> | null | undefined): number | null {
  if (time === undefined || time === null) return null;
  if (typeof time === 'string') return Date.parse(time);
  return Math.abs(time) < SECONDS_LIMIT ? time * 1000 : time;
}
