// A simulation input built from what a test cares about; everything else is the plainest choice.
import type { Bars, Instrument, Timeframe } from '../../../src/engine/bars/bars.ts';
import { TIMEFRAME_MS } from '../../../src/engine/bars/bars.ts';
import { wordCount } from '../../../src/engine/kernels/bits.ts';
import { laterOpen } from '../../support/timeGrid.ts';
import type { ResolvedConfig } from '../../../src/engine/config.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type {
  EntryRule,
  ExitRule,
  RiskRules,
  StatefulCondition,
  TakeProfitRule,
} from '../../../src/engine/evaluate/tradingRules.ts';

/** Open, high, low, close. */
export type Ohlc = readonly [number, number, number, number];

export interface Columns {
  readonly time: ArrayLike<number>;
  readonly open: ArrayLike<number>;
  readonly high: ArrayLike<number>;
  readonly low: ArrayLike<number>;
  readonly close: ArrayLike<number>;
  readonly volume?: ArrayLike<number>;
}

export function barsFrom(columns: Columns, timeframe: Timeframe, symbol = 'TEST'): Bars {
  const { time, open, high, low, close, volume } = columns;
  return {
    symbol,
    timeframe,
    length: time.length,
    time: Float64Array.from(time),
    open: Float64Array.from(open),
    high: Float64Array.from(high),
    low: Float64Array.from(low),
    close: Float64Array.from(close),
    volume: volume === undefined ? new Float64Array(time.length) : Float64Array.from(volume),
    series: new Map(),
    sha256: '',
    isResampled: false,
    partialBars: 0,
  };
}

/** Bars from [open, high, low, close] rows, one timeframe apart, the first at `from`. */
export function barsOf(rows: readonly Ohlc[], timeframe: Timeframe = '1h', from = Date.UTC(2024, 0, 1)): Bars {
  return barsFrom(
    {
      time: rows.map((_, row) => laterOpen(timeframe, from, row)),
      open: rows.map((bar) => bar[0]),
      high: rows.map((bar) => bar[1]),
      low: rows.map((bar) => bar[2]),
      close: rows.map((bar) => bar[3]),
    },
    timeframe,
  );
}

/** Words with the bits of `rows` set. */
export function bitsAt(length: number, rows: Iterable<number>): Uint32Array {
  const words = new Uint32Array(wordCount(length));
  for (const row of rows) words[row >>> 5] |= 1 << (row & 31);
  return words;
}

export const INSTRUMENT: Instrument = {
  symbol: 'TEST',
  base: null,
  quote: null,
  tickSize: null,
  qtyStep: 0,
  minNotional: 0,
  tradesAllDay: true,
  synthetic: false,
};

type ConfigPart = Partial<Omit<ResolvedConfig, 'execution'>> & { execution?: Partial<ResolvedConfig['execution']> };

export function configOf({ execution, ...rest }: ConfigPart = {}): ResolvedConfig {
  return {
    timeframe: '1h',
    signalInstrument: { symbol: 'TEST' },
    range: { start: null, end: null },
    initialBalance: 10_000,
    ambiguityResolution: 'multi_resolution',
    ambiguityFallback: 'pessimistic',
    leverage: 1,
    maintenanceMarginRate: 0.005,
    fundingRate: 0,
    params: {},
    overrides: {},
    ...rest,
    execution: {
      orderTiming: 'next_open',
      entryOrderRole: 'taker',
      exitOrderRole: 'taker',
      riskOrderRole: 'taker',
      feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }] },
      slippage: { kind: 'none' },
      ...execution,
    },
  };
}

/** One fee rate for makers and takers. */
export const flatFee = (rate: number): ResolvedConfig['execution']['feeModel'] => ({
  kind: 'tiered_maker_taker',
  tiers: [{ minCumulativeNotional: 0, makerRate: rate, takerRate: rate }],
});

export const NO_RISK: RiskRules = {
  stopLoss: null,
  takeProfits: [],
  trailingStop: null,
  breakeven: null,
  timeStop: null,
};

export const takeProfit = (
  trigger: TakeProfitRule['trigger'],
  closePercent = 100,
  more: Partial<TakeProfitRule> = {},
): TakeProfitRule => ({ trigger, closePercent, closeBasis: 'initial', moveStopToBreakeven: false, ...more });

export function entryAt(bars: Bars, rows: Iterable<number>, more: Partial<EntryRule> = {}): EntryRule {
  return {
    id: 'enter',
    side: 1,
    signal: { kind: 'bits', isTrue: bitsAt(bars.length, rows) },
    sizing: { mode: 'fixed', value: 1 },
    order: { type: 'market' },
    cooldownBars: 0,
    conflict: 'ignore',
    ...more,
  };
}

export function exitAt(bars: Bars, rows: Iterable<number>, more: Partial<ExitRule> = {}): ExitRule {
  return {
    id: 'leave',
    appliesTo: 0,
    priority: 0,
    when: { kind: 'bits', isTrue: bitsAt(bars.length, rows) },
    action: { mode: 'percent_position', value: 100 },
    ...more,
  };
}

export function inputOf(bars: Bars, more: Partial<SimulationInput> = {}): SimulationInput {
  return {
    bars,
    instrument: INSTRUMENT,
    start: 0,
    end: bars.length,
    fine: null,
    config: configOf(),
    maxConcurrentPositions: 1,
    entries: [],
    exits: [],
    risk: NO_RISK,
    slippageAtr: null,
    control: null,
    keepOrders: false,
    ...more,
  };
}

/** A bar on which nothing moves. */
export const FLAT: Ohlc = [100, 100, 100, 100];

export type Resolution = ResolvedConfig['ambiguityResolution'];

/** A config under one way of settling undecided bars, with enough money for anything. */
export const under = (ambiguityResolution: Resolution, more: ConfigPart = {}): ResolvedConfig =>
  configOf({ ambiguityResolution, initialBalance: 1e6, ...more });

export const constant = (value: number) => ({ kind: 'constant', value }) as const;

/** Quarters of an hour as children, the first at the open of row `row` of \`barsOf(…)\`, whose bars are of one hour. */
export const quarters = (row: number, bars: readonly Ohlc[]): Bars =>
  barsOf(bars, '15m', Date.UTC(2024, 0, 1) + row * TIMEFRAME_MS['1h']);

/** A limit or stop entry that waits for nine bars. */
export const pending = (type: 'limit' | 'stop', price: number): Pick<EntryRule, 'order'> => ({
  order: { type, price: constant(price), expireBars: 9 },
});

/** A condition over state without a history. */
export const stateCondition = (test: StatefulCondition['test']): StatefulCondition => ({
  gate: null,
  hasAccountHistory: false,
  hasPositionHistory: false,
  newMemory: () => [],
  recordAccount: () => undefined,
  recordPosition: () => undefined,
  test,
});
