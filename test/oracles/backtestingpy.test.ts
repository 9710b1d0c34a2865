// backtesting.py's fixed-size scenarios, fed from its own order log: what it asked at each close, we ask too, and every
// trade must agree.
import { describe, expect, it } from 'vitest';
import type { Bars, Timeframe } from '../../src/engine/bars/bars.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import type { Trade } from '../../src/engine/simulate/trade.ts';
import type { EntryRule, RiskRules, ValueSource } from '../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import {
  barsFrom,
  configOf,
  entryAt,
  exitAt,
  flatFee,
  INSTRUMENT,
  inputOf,
  NO_RISK,
  takeProfit,
} from '../engine/simulate/input.ts';
import { readSeries } from './series.ts';
import { readOracle } from './shared.ts';

interface OrderDetail {
  readonly size?: number;
  readonly sl?: number;
  readonly tp?: number;
  readonly limit?: number;
  readonly stop?: number;
}
type LoggedOrder = readonly [bar: number, kind: 'buy' | 'sell' | 'close' | 'set_sl' | 'cancel', detail: OrderDetail];
interface PeerTrade {
  readonly size: number;
  readonly entryBar: number;
  readonly exitBar: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly sl: number | null;
  readonly tp: number | null;
  readonly pnl: number;
}
interface Scenario {
  readonly scenario: string;
  readonly engine: { readonly cash: number; readonly commission?: number; readonly trade_on_close?: boolean };
  readonly orders: readonly LoggedOrder[];
  readonly trades: readonly PeerTrade[];
}

/** Fixed sizes only; fixed_commission and spread follow rules that are not ours. */
const COMPARED = [
  'sma_both_nocost',
  'sma_both_toc',
  'sma_long_exit_signal',
  'sma_short_exit_signal',
  'sma_long_sltp',
  'sma_short_sltp',
  'sma_long_tight_sltp',
  'sma_long_trail',
  'sma_both_trail_sltp_exit',
  'sma_both_nofinalize',
  'rsi_meanrev_long',
  'donchian_both',
];

const FILES: readonly [string, Timeframe][] = [
  ['GOOG-1d', '1d'],
  ['SPY-1d', '1d'],
  ['EURUSD-1h', '1h'],
  ['BTCUSDT-1h', '1h'],
];

/** A column that holds what `field` of the orders of these kinds said, at their bars. */
function columnOf(
  bars: Bars,
  orders: readonly LoggedOrder[],
  field: keyof OrderDetail,
  kinds: readonly string[],
): ValueSource {
  const values = new Float64Array(bars.length).fill(NaN);
  for (const [bar, kind, detail] of orders) {
    if (kinds.includes(kind)) values[bar] = detail[field] ?? NaN;
  }
  return { kind: 'column', values };
}

const rowsOf = (orders: readonly LoggedOrder[], kind: string) =>
  orders.filter((order) => order[1] === kind).map(([bar]) => bar);

function riskOf(bars: Bars, orders: readonly LoggedOrder[]): RiskRules {
  const entries = ['buy', 'sell'];
  const hasStop = orders.some(([, , { sl }]) => sl !== undefined);
  const hasTarget = orders.some(([, , { tp }]) => tp !== undefined);
  return {
    ...NO_RISK,
    // set_sl is a trailing stop kept by the strategy itself: a stop price read again at every close.
    stopLoss: hasStop
      ? { mode: 'price', price: columnOf(bars, orders, 'sl', [...entries, 'set_sl']), update: 'bar' }
      : null,
    takeProfits: hasTarget ? [takeProfit({ mode: 'price', price: columnOf(bars, orders, 'tp', entries) })] : [],
  };
}

function inputFor(bars: Bars, { orders, engine }: Scenario): SimulationInput {
  const size = orders.find(([, , detail]) => detail.size !== undefined)![2].size!;
  const sizing = { mode: 'fixed', value: size } as const;
  const entries: EntryRule[] = [
    entryAt(bars, rowsOf(orders, 'buy'), { id: 'buy', sizing, conflict: 'reverse' }),
    entryAt(bars, rowsOf(orders, 'sell'), { id: 'sell', side: -1, sizing, conflict: 'reverse' }),
  ];
  return inputOf(bars, {
    entries,
    exits: [exitAt(bars, rowsOf(orders, 'close'))],
    risk: riskOf(bars, orders),
    instrument: { ...INSTRUMENT, qtyStep: 1 },
    config: configOf({
      initialBalance: engine.cash,
      // Both levels in one bar: theirs is the stop.
      ambiguityResolution: 'pessimistic',
      execution: {
        orderTiming: engine.trade_on_close === true ? 'bar_close' : 'next_open',
        feeModel: flatFee(engine.commission ?? 0),
      },
    }),
  });
}

const near = (value: number) => expect.closeTo(value, 9 - Math.ceil(Math.log10(Math.max(1, Math.abs(value)))));

const told = (trade: Trade) => ({
  size: trade.side * trade.quantity,
  entryBar: trade.entryRow,
  exitBar: trade.exitRow,
  entryPrice: trade.entryPrice,
  exitPrice: trade.exitPrice,
  pnl: trade.pnl,
});
/**
 * Filled at an open already past its target (by a price fixed at the signal), its stop touched later in that bar:
 * theirs looks at the stop first, ours sells at that open (semantics §2.5: a level already passed fills at the open, on
 * the entry bar too).
 */
function opensPastTarget(bars: Bars, { size, entryBar, exitBar, sl, tp }: PeerTrade): boolean {
  if (sl === null || tp === null || entryBar !== exitBar) return false;
  return size > 0 ? bars.open[entryBar] >= tp : bars.open[entryBar] <= tp;
}

const expected = (trade: PeerTrade) => ({
  size: trade.size,
  entryBar: trade.entryBar,
  exitBar: trade.exitBar,
  entryPrice: near(trade.entryPrice),
  exitPrice: near(trade.exitPrice),
  pnl: near(trade.pnl),
});

/** One trade of a limit or stop entry, from the order that made it. */
function checkEntryTrade(bars: Bars, scenario: Scenario, trade: PeerTrade): void {
  const own = scenario.orders.findLast(
    ([bar, kind, { sl, tp }]) => kind === 'buy' && bar < trade.entryBar && sl === trade.sl && tp === trade.tp,
  )!;
  const [signalRow, , detail] = own;
  const constant = (value: number): ValueSource => ({ kind: 'constant', value });
  const type = detail.limit === undefined ? 'stop' : 'limit';
  const input = inputOf(bars, {
    start: signalRow,
    end: Math.min(bars.length, trade.exitBar + 2),
    instrument: { ...INSTRUMENT, qtyStep: 1 },
    entries: [
      entryAt(bars, [signalRow], {
        sizing: { mode: 'fixed', value: detail.size! },
        order: { type, price: constant(detail[type]!), expireBars: trade.entryBar - signalRow },
      }),
    ],
    risk: {
      ...NO_RISK,
      stopLoss: { mode: 'price', price: constant(trade.sl!), update: 'entry' },
      takeProfits: [takeProfit({ mode: 'price', price: constant(trade.tp!) })],
    },
    config: configOf({
      initialBalance: scenario.engine.cash,
      ambiguityResolution: 'pessimistic',
      execution: { feeModel: flatFee(scenario.engine.commission ?? 0) },
    }),
  });
  const [ours] = simulate(input).trades;
  const label = JSON.stringify(trade);
  expect({ row: ours?.entryRow, price: ours?.entryPrice }, label).toEqual({
    row: trade.entryBar,
    price: near(trade.entryPrice),
  });
  const touchesOnEntryBar = bars.low[trade.entryBar] <= trade.sl! || bars.high[trade.entryBar] >= trade.tp!;
  if (touchesOnEntryBar || trade.exitBar === bars.length - 1) return;
  expect(told(ours), label).toEqual(expected(trade));
}

for (const [name, timeframe] of FILES) {
  const { scenarios } = readOracle<{ scenarios: Scenario[] }>(`backtestingpy-${name}`);
  const bars = barsFrom(readSeries(name), timeframe);
  const named = (names: readonly string[]) =>
    scenarios.filter(({ scenario }) => names.includes(scenario)).map((each) => [each.scenario, each] as const);

  describe(`the engine, compared with backtesting.py on ${name},`, () => {
    it.each(named(COMPARED))('gives the same trades for %s', (_, scenario) => {
      const { trades } = simulate(inputFor(bars, scenario));
      // Theirs ends at the open of the last bar (finalize_trades) or stays open; ours at its close.
      const last = trades.find(({ exitReason }) => exitReason === 'end_of_data')?.entryRow;
      const ours = trades.filter(({ entryRow }) => entryRow !== last);
      const theirs = scenario.trades.filter(({ entryBar }) => entryBar !== last);
      const inOrder = theirs.toSorted((a, b) => a.entryBar - b.entryBar);
      const isOwnRule = inOrder.map((trade) => opensPastTarget(bars, trade));
      expect(ours.length).toBe(theirs.length);
      expect(ours.filter((_, index) => !isOwnRule[index]).map(told)).toEqual(
        inOrder.filter((_, index) => !isOwnRule[index]).map(expected),
      );
      for (const trade of ours.filter((_, index) => isOwnRule[index])) {
        expect(trade).toMatchObject({
          exitReason: 'take_profit',
          exitMethod: 'gap',
          exitPrice: bars.open[trade.entryRow],
        });
      }
      expect(theirs.length).toBeGreaterThan(5);
    });

    it.each(named(['stop_entry_sltp', 'limit_entry_sltp']))(
      'gives the same trade from each order of %s',
      (_, scenario) => {
        for (const trade of scenario.trades) checkEntryTrade(bars, scenario, trade);
      },
    );
  });
}
