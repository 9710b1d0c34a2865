// Linked entries of which some wait at a price, by hand: when one can no longer fill, and when one is closed.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import type { EntryRule } from '../../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput, PortfolioResult } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { configOf, constant, entryAt, exitAt, FLAT, NO_RISK, pending, takeProfit, type Ohlc } from './input.ts';
import { barsAt, instrumentOf, portfolioOf, summaryOf } from './portfolioInput.ts';

const DIP: Ohlc = [100, 100, 95, 100];
const STOP = { ...NO_RISK, stopLoss: { mode: 'percent', value: 4 } } as const;
const BAR_CLOSE = configOf({ execution: { orderTiming: 'bar_close' } });

/** Eight hours, flat but for some of them; null: no bar. */
function hoursOf(symbol: string, some: Readonly<Record<number, Ohlc | null>> = {}): Bars {
  const hours = Array.from({ length: 8 }, (_, hour) => [hour, hour in some ? some[hour] : FLAT] as const);
  return barsAt(
    symbol,
    Object.fromEntries(hours.flatMap(([hour, bar]) => (bar === null ? [] : [[hour, bar] as const]))),
  );
}

type Leg = Partial<SimulationInput> & { readonly bars: Bars };

/** All legs are of one linked group. */
function linked(legs: readonly Leg[], more: Partial<PortfolioInput> = {}): PortfolioResult {
  const instruments = legs.map((leg) => instrumentOf(leg.bars, leg));
  return simulatePortfolio(portfolioOf(instruments, { linked: [legs.map((_, index) => index)], ...more }));
}

/** What became of each entry order: instrument, type, status, reason of what did not fill. */
const outcomes = ({ orders }: PortfolioResult) =>
  orders!
    .filter(({ purpose }) => purpose === 'entry')
    .map(({ instrument, type, status, reason }) => [instrument, type, status, reason])
    .toSorted((a, b) => (String(a) < String(b) ? -1 : 1));

const atMarket = (bars: Bars, rows = [0], more: Partial<EntryRule> = {}): Leg => ({
  bars,
  entries: [entryAt(bars, rows, more)],
});
const atLimit = (bars: Bars, price: number, more: Partial<EntryRule> = {}): Leg => ({
  bars,
  entries: [entryAt(bars, [0], { ...pending('limit', price), ...more })],
});
const expiring = (price: number, expireBars: number): Pick<EntryRule, 'order'> => ({
  order: { type: 'limit', price: constant(price), expireBars },
});

describe('the first fill of linked orders', () => {
  it('cancels a market order when the instrument of a limit order has no bar', () => {
    const result = linked([atMarket(hoursOf('A')), atLimit(hoursOf('B', { 1: null, 2: DIP }), 96)]);
    expect(outcomes(result)).toEqual([
      [0, 'market', 'cancelled', 'linked'],
      [1, 'limit', 'cancelled', 'linked'],
    ]);
  });

  it('cancels a limit order that is reached when another instrument has no bar, inside a bar and at an open', () => {
    const passed: Ohlc = [95, 95, 95, 95];
    for (const bar of [DIP, passed]) {
      const result = linked([atLimit(hoursOf('A', { 2: bar }), 96), atLimit(hoursOf('B', { 2: null, 3: DIP }), 96)]);
      expect(outcomes(result)).toEqual([
        [0, 'limit', 'cancelled', 'linked'],
        [1, 'limit', 'cancelled', 'linked'],
      ]);
    }
  });

  it('needs no bar of others while no price is reached', () => {
    const result = linked([atLimit(hoursOf('A', { 3: DIP }), 96), atLimit(hoursOf('B', { 2: null, 4: DIP }), 96)]);
    // What follows the first fill stands for itself: A fills in hour 3, B in hour 4, its row 3.
    expect(summaryOf(result)).toEqual([
      [0, 3, 96, 7, 100, 'end_of_data'],
      [1, 3, 96, 7 - 1, 100, 'end_of_data'],
    ]);
  });

  it('needs no bar of others for the second fill', () => {
    const result = linked([atLimit(hoursOf('A', { 2: null, 3: null }), 96), atLimit(hoursOf('B', { 1: DIP }), 96)]);
    expect(outcomes(result)).toContainEqual([1, 'limit', 'filled', null]);
    const later = linked([atMarket(hoursOf('A', { 3: null })), atLimit(hoursOf('B', { 3: DIP }), 96)]);
    expect(summaryOf(later)).toEqual([
      [0, 1, 100, 6, 100, 'end_of_data'],
      [1, 3, 96, 7, 100, 'end_of_data'],
    ]);
  });
});

describe('while none of the linked orders has filled', () => {
  it('a market order that is rejected cancels a limit order', () => {
    const small = { ...instrumentOf(hoursOf('A')).instrument, minNotional: 1_000 };
    const result = linked([
      { ...atMarket(hoursOf('A')), instrument: small },
      // Passed by the very open at which the market order is rejected.
      atLimit(hoursOf('B'), 100),
    ]);
    expect(outcomes(result)).toEqual([
      [0, 'market', 'rejected', 'MIN_NOTIONAL'],
      [1, 'limit', 'cancelled', 'linked'],
    ]);
  });

  it('a market order without a slot cancels a limit order, and only the market order counts as lost', () => {
    // C and D are told to sell at the close of hour 2, but have no bar in hour 3: their slots are freed by word only.
    const leaving = ['C', 'D'].map((symbol): Leg => {
      const bars = hoursOf(symbol, { 3: null });
      return { bars, entries: [entryAt(bars, [0])], exits: [exitAt(bars, [2])] };
    });
    const b = hoursOf('B');
    const pair: Leg[] = [atMarket(hoursOf('A'), [2]), { bars: b, entries: [entryAt(b, [2], pending('limit', 96))] }];
    const instruments = [...pair, ...leaving].map((leg) => instrumentOf(leg.bars, leg));
    const result = simulatePortfolio(portfolioOf(instruments, { linked: [[0, 1]], slots: 2 }));
    expect(outcomes(result)).toContainEqual([0, 'market', 'cancelled', 'slots']);
    expect(outcomes(result)).toContainEqual([1, 'limit', 'cancelled', 'linked']);
    expect(result.byInstrument.map(({ rankedOut }) => rankedOut)).toEqual([1, 0, 0, 0]);
  });

  it('a limit order that is rejected at its price cancels another one', () => {
    const result = linked([
      atLimit(hoursOf('A', { 2: DIP }), 96, { sizing: { mode: 'fixed', value: 1_000 } }),
      atLimit(hoursOf('B', { 4: DIP }), 96),
    ]);
    expect(outcomes(result)).toEqual([
      [0, 'limit', 'rejected', 'INSUFFICIENT_BALANCE'],
      [1, 'limit', 'cancelled', 'linked'],
    ]);
  });

  it('a limit order that expires cancels another one', () => {
    const result = linked([
      atLimit(hoursOf('A'), 96, expiring(96, 2)),
      atLimit(hoursOf('B', { 4: DIP }), 96, expiring(96, 6)),
    ]);
    expect(outcomes(result)).toEqual([
      [0, 'limit', 'expired', null],
      [1, 'limit', 'cancelled', 'linked'],
    ]);
  });

  it('a limit order that is replaced cancels what its group of before still waits for', () => {
    const [a, b] = [hoursOf('A'), hoursOf('B', { 4: DIP })];
    const result = linked([
      { bars: a, entries: [entryAt(a, [0, 1], pending('limit', 90))] },
      {
        bars: b,
        entries: [
          entryAt(b, [0], { id: 'first', ...pending('limit', 96) }),
          entryAt(b, [1], { id: 'second', ...pending('limit', 90) }),
        ],
        maxConcurrentPositions: 2,
      },
    ]);
    expect(outcomes(result)).toEqual([
      [0, 'limit', 'expired', null],
      [0, 'limit', 'replaced', null],
      [1, 'limit', 'cancelled', 'linked'],
      [1, 'limit', 'expired', null],
    ]);
  });

  it('orders that expire with the data of an instrument cancel another one', () => {
    const short = barsAt('A', { 0: FLAT, 1: FLAT, 2: FLAT });
    const result = linked([atLimit(short, 96), atLimit(hoursOf('B', { 4: DIP }), 96)]);
    expect(outcomes(result)).toEqual([
      [0, 'limit', 'expired', null],
      [1, 'limit', 'cancelled', 'linked'],
    ]);
  });
});

describe('a linked order that still waits when another entry of its group is closed', () => {
  it('is cancelled by an exit at the open that passes its price', () => {
    const a = hoursOf('A');
    const result = linked([
      { ...atMarket(a), exits: [exitAt(a, [2])] },
      // The exit of A fills at the open of hour 3, in step 2; the limit of B is passed there in step 4.
      atLimit(hoursOf('B', { 3: [95, 95, 95, 95] }), 96),
    ]);
    expect(outcomes(result)).toEqual([
      [0, 'market', 'filled', null],
      [1, 'limit', 'cancelled', 'linked'],
    ]);
  });

  it('is cancelled by a stop that the same open has passed', () => {
    const down: Ohlc = [90, 90, 90, 90];
    const result = linked([
      { ...atMarket(hoursOf('A', { 3: down })), risk: STOP },
      atLimit(hoursOf('B', { 3: down }), 96),
    ]);
    expect(summaryOf(result)).toEqual([[0, 1, 100, 3, 90, 'stop_loss']]);
  });

  it('fills where both pass at one open, though one is closed at it at once, whatever the order of the list', () => {
    // Below the price of the limit of A by more than its stop: bought at 90, and its stop at a fixed 95 is passed.
    const down: Ohlc = [90, 90, 90, 90];
    const high = { ...NO_RISK, stopLoss: { mode: 'price', price: constant(95), update: 'entry' } } as const;
    const closes: Leg = { ...atLimit(hoursOf('A', { 3: down }), 96), risk: high };
    const waits = atLimit(hoursOf('B', { 3: down }), 96);
    expect(summaryOf(linked([closes, waits]))).toEqual([
      [0, 3, 90, 3, 90, 'stop_loss'],
      [1, 3, 90, 4, 100, 'linked'],
    ]);
    expect(summaryOf(linked([waits, closes]))).toEqual([
      [1, 3, 90, 3, 90, 'stop_loss'],
      [0, 3, 90, 4, 100, 'linked'],
    ]);
  });

  it('fills in the same bar, whatever the order of the list, and is closed at the next open', () => {
    const stopped: Leg = { ...atMarket(hoursOf('A', { 3: DIP })), risk: STOP };
    const waits = atLimit(hoursOf('B', { 3: DIP }), 98);
    // Nobody knows which of two bars reached its price first.
    expect(summaryOf(linked([stopped, waits]))).toEqual([
      [0, 1, 100, 3, 96, 'stop_loss'],
      [1, 3, 98, 4, 100, 'linked'],
    ]);
    expect(summaryOf(linked([waits, stopped]))).toEqual([
      [1, 1, 100, 3, 96, 'stop_loss'],
      [0, 3, 98, 4, 100, 'linked'],
    ]);
  });

  it('is cancelled at the close of a bar inside which it was not reached', () => {
    const result = linked([
      { ...atMarket(hoursOf('A', { 3: DIP })), risk: STOP },
      atLimit(hoursOf('B', { 4: DIP }), 98),
    ]);
    expect(outcomes(result)).toContainEqual([1, 'limit', 'cancelled', 'linked']);
  });
});

describe('groups and the account', () => {
  it('close in the order in which their positions were wholly closed', () => {
    const a = hoursOf('A', { 1: [98, 98, 98, 98], 2: [101, 101, 101, 101], 3: [101, 107, 101, 107] });
    const ladder = [1, 5].map((value) => takeProfit({ mode: 'percent', value }, 50));
    const two = { maxConcurrentPositions: 2 };
    const result = linked([
      { ...atMarket(a, [0, 1]), ...two, risk: { ...NO_RISK, takeProfits: ladder } },
      { ...atMarket(hoursOf('B'), [0, 1]), ...two },
    ]);
    // In hour 3 the later position of A sells its half first, the earlier one its last half before the later one does.
    expect(summaryOf(result)).toEqual([
      [0, 1, 98, 2, 101, 'take_profit'],
      [0, 2, 101, 3, 102.01, 'take_profit'],
      [0, 1, 98, 3, expect.closeTo(102.9, 9), 'take_profit'],
      [0, 2, 101, 3, expect.closeTo(106.05, 9), 'take_profit'],
      [1, 1, 100, 4, 100, 'linked'],
      [1, 2, 100, 4, 100, 'linked'],
    ]);
  });

  it('stand in the order of the list where their first member does, when one member alone is at the market', () => {
    const all = { sizing: { mode: 'fixed_cash', value: 6_000 } } as const;
    const bars = ['A', 'B', 'C', 'D'].map((symbol) => hoursOf(symbol));
    const instruments = [
      atLimit(bars[0], 90),
      atMarket(bars[1], [0], all),
      atLimit(bars[2], 90),
      atMarket(bars[3], [0], all),
    ].map((leg) => instrumentOf(leg.bars, leg));
    const first = simulatePortfolio(portfolioOf(instruments, { linked: [[0, 3], [1, 2]] })); // prettier-ignore
    expect(summaryOf(first).map(([instrument]) => instrument)).toEqual([3]);
  });

  it('leave the reason liquidation to an instrument without a bar that the liquidation of another one closes', () => {
    const crash: Ohlc = [40, 40, 40, 40];
    const a = hoursOf('A', { 3: crash });
    const b = hoursOf('B', { 3: null });
    const size = { sizing: { mode: 'fixed', value: 180 } } as const;
    const legs = [atMarket(a, [0], size), atMarket(b, [0], size)];
    for (const execution of [{ orderTiming: 'next_open' }, BAR_CLOSE.execution] as const) {
      const result = linked(legs, { config: configOf({ leverage: 4, execution }) });
      expect(summaryOf(result).map(([instrument, , , , , reason]) => [instrument, reason])).toEqual([
        [0, 'liquidation'],
        [1, 'liquidation'],
      ]);
    }
  });
});
