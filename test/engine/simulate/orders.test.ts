// When orders fill, wait, are replaced, refused or dropped.
import { describe, expect, it } from 'vitest';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { barsOf, configOf, entryAt, exitAt, INSTRUMENT, inputOf, NO_RISK, type Ohlc } from './input.ts';

const flat = (price: number): Ohlc => [price, price, price, price];
/** Bars of one price each. */
const steps = (...prices: number[]) => barsOf(prices.map(flat));
const constant = (value: number) => ({ kind: 'constant', value }) as const;
const atClose = configOf({ execution: { orderTiming: 'bar_close' } });

const told = (input: SimulationInput) =>
  simulate(input).trades.map((trade) => [
    trade.entryRow,
    trade.entryPrice,
    trade.exitRow,
    trade.exitPrice,
    trade.exitReason,
  ]);

describe('market orders', () => {
  const bars = barsOf([
    [10, 12, 9, 11],
    [20, 22, 19, 21],
    [30, 32, 29, 31],
    [40, 42, 39, 41],
  ]);
  const rules = { entries: [entryAt(bars, [0])], exits: [exitAt(bars, [1])] };

  it('fill at the open after the signal', () => {
    expect(told(inputOf(bars, rules))).toEqual([[1, 20, 2, 30, 'signal']]);
  });

  it('fill at the signal close itself under bar_close', () => {
    expect(told(inputOf(bars, { ...rules, config: atClose }))).toEqual([[0, 11, 1, 21, 'signal']]);
  });

  it('of the last bar never fill, and count as expired', () => {
    const result = simulate(inputOf(bars, { entries: [entryAt(bars, [3])] }));
    expect(result.trades).toEqual([]);
    expect(result.counts).toMatchObject({ entrySignals: 1, ordersExpired: 1, entriesFilled: 0 });
    expect(simulate(inputOf(bars, { entries: [entryAt(bars, [3])], config: atClose })).counts.ordersExpired).toBe(1);
  });

  it('close what is open at the last close, costs included', () => {
    const result = simulate(inputOf(bars, { entries: [entryAt(bars, [1])] }));
    expect(result.trades).toMatchObject([
      { exitRow: 3, exitPrice: 41, exitReason: 'end_of_data', exitMethod: 'direct' },
    ]);
    expect(result.equity.at(-1)).toBe(result.finalBalance);
  });

  it('are marked at every close, under bar_close after the fills of that close', () => {
    expect([...simulate(inputOf(bars, rules)).equity]).toEqual([10_000, 10_001, 10_010, 10_010]);
    const fee = {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.1, takerRate: 0.1 }],
    } as const;
    const config = configOf({ execution: { orderTiming: 'bar_close', feeModel: { ...fee, tiers: [...fee.tiers] } } });
    expect(simulate(inputOf(bars, { ...rules, config })).equity[0]).toBeCloseTo(10_000 - 1.1, 9);
  });
});

describe('slots', () => {
  const bars = steps(10, 10, 10, 10, 10, 10, 10);

  it('are checked at the signal: every true signal while all are taken is blocked, and not remembered', () => {
    const { trades, counts } = simulate(inputOf(bars, { entries: [entryAt(bars, [0, 1, 2, 3])] }));
    expect(trades.length).toBe(1);
    expect(counts).toMatchObject({ entrySignals: 4, blockedInPosition: 3, blockedMaxPositions: 0, entriesFilled: 1 });
  });

  it('with several, one entry may signal again while there is room', () => {
    const { trades, counts } = simulate(
      inputOf(bars, { entries: [entryAt(bars, [0, 1, 2, 3])], maxConcurrentPositions: 3 }),
    );
    expect(trades.map(({ entryRow }) => entryRow)).toEqual([1, 2, 3]);
    expect(counts).toMatchObject({ blockedInPosition: 0, blockedMaxPositions: 1 });
  });

  it('are free again on the close whose orders close the position wholly', () => {
    const input = inputOf(bars, { entries: [entryAt(bars, [0, 2])], exits: [exitAt(bars, [2])] });
    expect(simulate(input).trades.map(({ entryRow, exitRow }) => [entryRow, exitRow])).toEqual([
      [1, 3],
      [3, 6],
    ]);
  });

  it('are taken by a pending limit order too', () => {
    const waiting = entryAt(bars, [0], { order: { type: 'limit', price: constant(5), expireBars: 3 } });
    const { counts } = simulate(inputOf(bars, { entries: [waiting, entryAt(bars, [1])] }));
    expect(counts).toMatchObject({ blockedMaxPositions: 1, ordersExpired: 1, entriesFilled: 0 });
  });

  it('go to one entry per close: the first rule that is true and not blocked', () => {
    const entries = [entryAt(bars, [0, 3], { id: 'first', cooldownBars: 10 }), entryAt(bars, [0, 3], { id: 'second' })];
    const { trades, counts } = simulate(inputOf(bars, { entries, exits: [exitAt(bars, [1])] }));
    expect(trades.map(({ entryRule }) => entryRule)).toEqual([0, 1]);
    expect(counts).toMatchObject({ blockedCooldown: 1, signalsByRule: [2, 2], fillsByRule: [1, 1] });
  });
});

describe('the cooldown', () => {
  it('blocks a signal at t while t − exitBar is less than its bars', () => {
    const bars = steps(1, 1, 1, 1, 1, 1, 1, 1, 1);
    const input = inputOf(bars, {
      entries: [entryAt(bars, [0, 3, 4, 5, 6], { cooldownBars: 3 })],
      exits: [exitAt(bars, [1])],
    });
    const { trades, counts } = simulate(input);
    expect(trades.map(({ entryRow }) => entryRow)).toEqual([1, 6]);
    expect(counts.blockedCooldown).toBe(2);
    expect(counts.blockedInPosition).toBe(1);
  });

  const quiet = steps(1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  const every = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const entryRows = (more: Partial<SimulationInput>, cooldownBars = 2) =>
    simulate(inputOf(quiet, { entries: [entryAt(quiet, every, { cooldownBars })], ...more })).trades.map(
      ({ entryRow, exitRow }) => [entryRow, exitRow],
    );

  it('counts an exit from the close that orders it', () => {
    // Ordered at the close of 3, filled at the open of 4: blocked at 3, 4 and 5.
    expect(entryRows({ exits: [exitAt(quiet, [3])] })).toEqual([
      [1, 4],
      [7, 9],
    ]);
    // Filled at the close of 3: blocked at 3 and 4.
    expect(entryRows({ exits: [exitAt(quiet, [3])], config: atClose })).toEqual([
      [0, 3],
      [5, 9],
    ]);
  });

  it('counts a time stop from the close that orders it', () => {
    const risk = { ...NO_RISK, timeStop: { maxBars: 3 } };
    expect(entryRows({ risk })).toEqual([
      [1, 4],
      [7, 9],
    ]);
    expect(entryRows({ risk, config: atClose })).toEqual([
      [0, 3],
      [5, 8],
    ]);
  });

  it('is not started by a partial exit, nor by the exits of a reversal', () => {
    const half = exitAt(quiet, [3], { action: { mode: 'percent_position', value: 50 } });
    const more = { exits: [half], maxConcurrentPositions: 2, entries: [entryAt(quiet, [0, 3], { cooldownBars: 2 })] };
    expect(entryRows(more).map(([entryRow]) => entryRow)).toContain(4);
    const short = entryAt(quiet, [3], { side: -1, conflict: 'reverse', cooldownBars: 5 });
    expect(entryRows({ entries: [entryAt(quiet, [0]), short] })).toEqual([
      [1, 4],
      [4, 9],
    ]);
  });
});

describe('an opposite signal', () => {
  const bars = steps(10, 10, 12, 12, 15, 15);
  const both = (conflict: 'ignore' | 'close' | 'reverse', more: Partial<SimulationInput> = {}) =>
    inputOf(bars, { entries: [entryAt(bars, [0]), entryAt(bars, [2], { side: -1, conflict })], ...more });

  it('is dropped under ignore', () => {
    expect(told(both('ignore'))).toEqual([[1, 10, 5, 15, 'end_of_data']]);
  });

  it('is dropped under ignore for limit and stop entries too, and leaves the close to the next rule', () => {
    for (const type of ['limit', 'stop'] as const) {
      const order = { type, price: constant(type === 'limit' ? 14 : 9), expireBars: 5 };
      const short = entryAt(bars, [2], { side: -1, order });
      const input = inputOf(bars, {
        entries: [entryAt(bars, [0]), short, entryAt(bars, [2], { id: 'next' })],
        maxConcurrentPositions: 2,
        keepOrders: true,
      });
      const { counts, orders, trades } = simulate(input);
      expect(counts).toMatchObject({ blockedInPosition: 1, ordersExpired: 0 });
      expect(orders!.filter(({ rule, type: made }) => rule === 'enter' && made === type)).toEqual([]);
      expect(trades.map(({ entryRule, entryRow }) => [entryRule, entryRow])).toEqual([
        [0, 1],
        [2, 3],
      ]);
    }
  });

  it('closes all and opens nothing under close', () => {
    expect(told(both('close'))).toEqual([[1, 10, 3, 12, 'reverse']]);
  });

  it('closes all and opens at the same price under reverse', () => {
    expect(told(both('reverse'))).toEqual([
      [1, 10, 3, 12, 'reverse'],
      [3, 12, 5, 15, 'end_of_data'],
    ]);
  });

  it('still closes when the entry that reverses is rejected', () => {
    const input = both('reverse', { instrument: { ...INSTRUMENT, minNotional: 11.5 } });
    const small = {
      ...input,
      entries: [
        entryAt(bars, [0], { sizing: { mode: 'fixed', value: 2 } }),
        { ...input.entries[1], sizing: { mode: 'fixed', value: 0.1 } as const },
      ],
    };
    expect(told(small)).toEqual([[1, 10, 3, 12, 'reverse']]);
    expect(simulate(small).counts.ordersRejected.MIN_NOTIONAL).toBe(1);
  });
});

describe('limit and stop entries', () => {
  const bars = barsOf([flat(10), [10, 11, 9, 10], [10, 13, 10, 12], [12, 12, 7, 8], [6, 9, 5, 9], flat(9)]);
  const pending = (type: 'limit' | 'stop', price: number, expireBars: number, side: 1 | -1 = 1) =>
    inputOf(bars, { entries: [entryAt(bars, [0], { side, order: { type, price: constant(price), expireBars } })] });
  const entry = (input: SimulationInput) =>
    simulate(input).trades.map(({ entryRow, entryPrice }) => [entryRow, entryPrice]);

  it('fill at their price on the first bar that touches it', () => {
    expect(entry(pending('limit', 8, 5))).toEqual([[3, 8]]);
    expect(entry(pending('stop', 13, 5))).toEqual([[2, 13]]);
    expect(entry(pending('limit', 12, 5, -1))).toEqual([[2, 12]]);
    expect(entry(pending('stop', 9, 5, -1))).toEqual([[1, 9]]);
  });

  it('fill at an open that is past it: a limit better, a stop worse', () => {
    expect(entry(pending('limit', 6.5, 5))).toEqual([[4, 6]]);
    expect(entry(pending('stop', 6.5, 5, -1))).toEqual([[4, 6]]);
    expect(entry(pending('limit', 11, 5))).toEqual([[1, 10]]);
    expect(entry(pending('stop', 9.5, 5))).toEqual([[1, 10]]);
  });

  it('are live for expireBars bars and then expire', () => {
    expect(entry(pending('limit', 8, 2))).toEqual([]);
    expect(simulate(pending('limit', 8, 2)).counts.ordersExpired).toBe(1);
    expect(entry(pending('limit', 8, 3))).toEqual([[3, 8]]);
  });

  it('are replaced by a later signal of the same entry', () => {
    const prices = Float64Array.of(8.5, 7.5, NaN, NaN, NaN, NaN);
    const order = { type: 'limit', price: { kind: 'column', values: prices }, expireBars: 5 } as const;
    const result = simulate(inputOf(bars, { entries: [entryAt(bars, [0, 1], { order })], keepOrders: true }));
    expect(result.trades).toMatchObject([{ entryRow: 3, entryPrice: 7.5 }]);
    expect(result.orders!.map(({ status }) => status)).toEqual(['replaced', 'filled', 'filled']);
  });

  it('without a price are rejected, and leave the pending one', () => {
    const prices = Float64Array.of(8, NaN, NaN, NaN, NaN, NaN);
    const order = { type: 'limit', price: { kind: 'column', values: prices }, expireBars: 5 } as const;
    const { counts, trades } = simulate(inputOf(bars, { entries: [entryAt(bars, [0, 1], { order })] }));
    expect(counts.ordersRejected.LEVEL_MISSING).toBe(1);
    expect(trades).toMatchObject([{ entryRow: 3, entryPrice: 8 }]);
  });

  it('whose size needs a missing value are rejected at the signal, and take no slot', () => {
    const order = { type: 'limit', price: constant(8), expireBars: 5 } as const;
    const atr = Float64Array.of(NaN, 1, 1, 1, 1, 1);
    const stop = { mode: 'price', price: { kind: 'column', values: atr }, update: 'bar' } as const;
    const first = [
      { entry: { sizing: { mode: 'volatility_target', value: 10, atr } as const, order }, risk: NO_RISK },
      {
        entry: { sizing: { mode: 'risk_percent', value: 1 } as const, order },
        risk: { ...NO_RISK, stopLoss: stop },
      },
    ];
    for (const { entry, risk } of first) {
      const entries = [entryAt(bars, [0], entry), entryAt(bars, [1])];
      const { counts, trades } = simulate(inputOf(bars, { entries, risk }));
      expect(counts).toMatchObject({ ordersRejected: { LEVEL_MISSING: 1 }, blockedMaxPositions: 0 });
      expect(trades).toMatchObject([{ entryRow: 2, entryRule: 1 }]);
    }
  });

  it('settle conflict at the fill: reverse closes the other side at the price of the order', () => {
    const short = entryAt(bars, [0], {
      side: -1,
      conflict: 'reverse',
      order: { type: 'stop', price: constant(7.5), expireBars: 5 },
    });
    expect(told(inputOf(bars, { entries: [short, entryAt(bars, [1])], maxConcurrentPositions: 2 }))).toEqual([
      [2, 10, 3, 7.5, 'reverse'],
      [3, 7.5, 5, 9, 'end_of_data'],
    ]);
  });

  it('are cancelled when they cannot open at the moment their price is reached', () => {
    const short = entryAt(bars, [0], { side: -1, order: { type: 'stop', price: constant(7.5), expireBars: 5 } });
    const result = simulate(
      inputOf(bars, { entries: [short, entryAt(bars, [1])], maxConcurrentPositions: 2, keepOrders: true }),
    );
    expect(result.counts).toMatchObject({ blockedInPosition: 1, entriesFilled: 1 });
    expect(result.orders!.find(({ rule, side }) => rule === 'enter' && side === 'sell')).toMatchObject({
      status: 'cancelled',
    });
  });
});

describe('exits true at one close', () => {
  const bars = steps(10, 10, 10, 10, 10);
  const partial = (value: number, more = {}) =>
    exitAt(bars, [1, 2], { action: { mode: 'percent_position', value }, ...more });
  const quantities = (input: SimulationInput) =>
    simulate(input).trades.map(({ quantity, exitReason, exitRule }) => [quantity, exitReason, exitRule]);
  const sized = (value: number) => [entryAt(bars, [0], { sizing: { mode: 'fixed', value } })];

  it('apply by priority, then listing, each on what then remains', () => {
    const exits = [partial(50, { priority: 2 }), partial(50, { priority: 1 })];
    expect(quantities(inputOf(bars, { entries: sized(8), exits }))).toEqual([
      [4, 'signal', 1],
      [2, 'signal', 0],
      [2, 'end_of_data', null],
    ]);
  });

  it('end with the first that closes all', () => {
    expect(quantities(inputOf(bars, { entries: sized(8), exits: [partial(100), partial(50)] }))).toEqual([
      [8, 'signal', 0],
    ]);
  });

  it('fire a partial exit once per position', () => {
    expect(quantities(inputOf(bars, { entries: sized(8), exits: [partial(25)] }))).toEqual([
      [2, 'signal', 0],
      [6, 'end_of_data', null],
    ]);
  });

  it('round a partial quantity down to the step, skip zero, and leave no dust', () => {
    const instrument = { ...INSTRUMENT, qtyStep: 1 };
    expect(quantities(inputOf(bars, { entries: sized(5), exits: [partial(50)], instrument }))[0][0]).toBe(2);
    expect(quantities(inputOf(bars, { entries: sized(2), exits: [partial(20)], instrument }))).toEqual([
      [2, 'end_of_data', null],
    ]);
    const fixed = [exitAt(bars, [1], { action: { mode: 'fixed', value: 7.9999999999 } })];
    expect(quantities(inputOf(bars, { entries: sized(8), exits: fixed, instrument }))).toEqual([[8, 'signal', 0]]);
  });

  it('apply only to their side', () => {
    const exits = [exitAt(bars, [1], { appliesTo: -1 })];
    expect(quantities(inputOf(bars, { entries: sized(8), exits }))).toEqual([[8, 'end_of_data', null]]);
  });
});

describe('the time stop', () => {
  const bars = steps(1, 1, 1, 1, 1, 1, 1);
  const risk = { ...NO_RISK, timeStop: { maxBars: 2 } };

  it('exits so that the position is held for maxBars', () => {
    expect(told(inputOf(bars, { entries: [entryAt(bars, [0])], risk }))).toEqual([[1, 1, 3, 1, 'time_stop']]);
    expect(told(inputOf(bars, { entries: [entryAt(bars, [0])], risk, config: atClose }))).toEqual([
      [0, 1, 2, 1, 'time_stop'],
    ]);
  });

  it('gives way to an exit rule of the same close', () => {
    const input = inputOf(bars, { entries: [entryAt(bars, [0])], exits: [exitAt(bars, [2])], risk });
    expect(told(input)).toEqual([[1, 1, 3, 1, 'signal']]);
  });
});

describe('a run', () => {
  it('over no bars at all gives an empty result', () => {
    const bars = steps(1, 2, 3);
    const result = simulate(inputOf(bars, { start: 5, end: 3, entries: [entryAt(bars, [0])] }));
    expect(result).toMatchObject({ trades: [], finalBalance: 10_000, counts: { entrySignals: 0 } });
    expect(result.equity.length).toBe(0);
  });

  it('stops when it is cancelled, and reports how far it is', () => {
    const bars = steps(...new Array<number>(70_000).fill(1));
    const done: number[] = [];
    const control = { isCancelled: () => done.length > 0, report: (bars: number) => void done.push(bars) };
    const every = Array.from({ length: 70_000 }, (_, row) => row);
    const first = simulate(inputOf(bars, { entries: [entryAt(bars, every)], exits: [exitAt(bars, every)], control }));
    expect(first.cancelled).toBe(false);
    expect(done[0]).toBeGreaterThanOrEqual(65_536);
    expect(done.at(-1)).toBe(70_000);
    expect(
      simulate(inputOf(bars, { entries: [entryAt(bars, every)], exits: [exitAt(bars, every)], control })).cancelled,
    ).toBe(true);
  });
});
