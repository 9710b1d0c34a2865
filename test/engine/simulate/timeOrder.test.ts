// The order of things inside a bar: reversals, stops that have been passed, paths, pending orders, and slots that are
// freed.
import { describe, expect, it } from 'vitest';
import { AMBIGUITY_FALLBACKS } from '../../../src/engine/config.ts';
import type { EntryRule, RiskRules } from '../../../src/engine/evaluate/tradingRules.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import {
  barsOf,
  constant,
  entryAt,
  FLAT,
  inputOf,
  NO_RISK,
  quarters,
  takeProfit,
  under,
  type Ohlc,
  type Resolution,
  pending,
} from './input.ts';

const filled = (input: SimulationInput) =>
  simulate(input).trades.map(({ side, entryRow, entryPrice, exitPrice, exitReason, exitMethod }) => [
    side,
    entryRow,
    entryPrice,
    exitPrice,
    exitReason,
    exitMethod,
  ]);

describe('the price of a reversal', () => {
  const reversing = (type: 'limit' | 'stop', price: number, more: Partial<EntryRule> = {}) =>
    ({ side: -1, conflict: 'reverse', ...pending(type, price), ...more }) as const;

  it('is the open of the child that opens past a stop order', () => {
    const bars = barsOf([FLAT, FLAT, [100, 100, 94, 95], [95, 95, 95, 95]]);
    const fine = quarters(2, [
      [100, 100, 99, 99],
      [96, 96, 95, 95],
      [95, 95, 94, 95],
    ]);
    const input = inputOf(bars, { fine, entries: [entryAt(bars, [0]), entryAt(bars, [1], reversing('stop', 98))] });
    expect(filled(input)).toEqual([
      [1, 1, 100, 96, 'reverse', 'drill'],
      [-1, 2, 96, 95, 'end_of_data', 'direct'],
    ]);
  });

  it('is the limit without slippage for a limit order, the slipped price for a stop order', () => {
    const slippage = { kind: 'fixed', unit: 'bps', value: 100 } as const;
    const config = under('pessimistic', { execution: { slippage } });
    const bars = barsOf([FLAT, FLAT, [100, 104, 96, 103], [103, 103, 103, 103]]);
    for (const conflict of ['reverse', 'close'] as const) {
      const prices = (type: 'limit' | 'stop', price: number) =>
        simulate(
          inputOf(bars, {
            config,
            entries: [entryAt(bars, [0]), entryAt(bars, [1], reversing(type, price, { conflict }))],
          }),
        ).trades.map(({ exitPrice, entryPrice }) => [entryPrice, exitPrice]);
      expect(prices('limit', 103)[0]).toEqual([101, 103]);
      expect(prices('stop', 97)[0][1]).toBeCloseTo(96.03, 9);
      expect(prices('limit', 103).length).toBe(conflict === 'reverse' ? 2 : 1);
      if (conflict === 'reverse') {
        expect(prices('limit', 103)[1][0]).toBe(103);
        expect(prices('stop', 97)[1][0]).toBeCloseTo(96.03, 9);
      }
    }
  });

  it('is the better open for a limit order that the open has passed', () => {
    const bars = barsOf([FLAT, FLAT, [105, 106, 104, 105], [105, 105, 105, 105]]);
    const entries = [entryAt(bars, [0]), entryAt(bars, [1], reversing('limit', 103))];
    expect(filled(inputOf(bars, { entries })).map(([, , entry, exit]) => [entry, exit])).toEqual([
      [100, 105],
      [105, 105],
    ]);
  });
});

describe('a level that the market has passed', () => {
  const slippage = { kind: 'fixed', unit: 'bps', value: 100 } as const;
  const step = takeProfit({ mode: 'price', price: constant(99) }, 50, { moveStopToBreakeven: true });

  it('fills at the open too when a fill at the open has moved it there', () => {
    const bars = barsOf([FLAT, [100, 100.5, 98, 99], [99, 100, 98, 99]]);
    for (const policy of AMBIGUITY_FALLBACKS) {
      const config = under(policy, { execution: { slippage } });
      const input = inputOf(bars, { entries: [entryAt(bars, [0])], risk: { ...NO_RISK, takeProfits: [step] }, config });
      expect(filled(input)).toEqual([
        [1, 1, 101, 100, 'take_profit', 'gap'],
        [1, 1, 101, 99, 'breakeven', 'gap'],
      ]);
    }
  });

  it('fills at the stop price of the entry order when a target behind the slipped entry has moved it there', () => {
    // A stop order slips: it is filled at 101.5 from 100.5, beyond its own target of 100.
    const bars = barsOf([FLAT, [100, 102, 99, 101], FLAT]);
    const target = takeProfit({ mode: 'price', price: constant(100) }, 50, { moveStopToBreakeven: true });
    const config = under('pessimistic', { execution: { slippage } });
    const entries = [entryAt(bars, [0], pending('stop', 100.5))];
    const { trades } = simulate(inputOf(bars, { entries, risk: { ...NO_RISK, takeProfits: [target] }, config }));
    expect(trades.map(({ exitReason }) => exitReason)).toEqual(['take_profit', 'breakeven']);
    expect(trades[1].exitPrice).toBeCloseTo(100.5 * 0.99, 9);
  });

  it('fills at the price at which it was moved there, or at a worse open of the next bar', () => {
    // Bought at 101 (100 and 1 %). The step at 100.5 moves the stop to 101, where the market is not: it sells at 100.5.
    const bars = barsOf([FLAT, [100, 100.8, 98, 100.2], FLAT]);
    const target = takeProfit({ mode: 'price', price: constant(100.5) }, 50, { moveStopToBreakeven: true });
    for (const policy of AMBIGUITY_FALLBACKS) {
      const config = under(policy, { execution: { slippage } });
      const risk: RiskRules = { ...NO_RISK, takeProfits: [target] };
      const { trades } = simulate(inputOf(bars, { entries: [entryAt(bars, [0])], risk, config }));
      // Under pessimistic the moved stop acts from the next bar, which opens at 100, below it.
      const [exitRow, price] = policy === 'pessimistic' ? [2, 100] : [1, 100.5];
      expect(trades[1]).toMatchObject({ exitReason: 'breakeven', exitRow });
      expect(trades[1].exitPrice).toBeCloseTo(price * 0.99, 9);
    }
  });
});

describe('a path', () => {
  const trailing: RiskRules = {
    ...NO_RISK,
    trailingStop: { distance: { mode: 'percent', value: 5 }, activateAfterPercent: null },
  };
  const QUIET: Ohlc = [100, 101, 99, 100];

  it('starts at the open, which may be a new best', () => {
    const bars = barsOf([FLAT, QUIET, [120, 121, 112, 120.5], [120, 121, 119, 120]]);
    const input = (policy: Resolution) =>
      inputOf(bars, { entries: [entryAt(bars, [0])], risk: trailing, config: under(policy) });
    for (const policy of ['bar_direction', 'distance'] as const) {
      expect(filled(input(policy))[0].slice(3)).toEqual([
        policy === 'bar_direction' ? 114 : 121 * 0.95,
        'trailing_stop',
        'fallback',
      ]);
    }
    expect(filled(input('pessimistic'))[0][4]).toBe('end_of_data');
  });

  it('goes on from an entry inside the bar, with both extremes if it still reaches them', () => {
    const bars = barsOf([[98.5, 98.5, 98.5, 98.5], [98.5, 103, 97.9, 99], [99, 99.5, 97, 98], FLAT]);
    const input = (policy: Resolution) =>
      inputOf(bars, { entries: [entryAt(bars, [0], pending('limit', 98))], risk: trailing, config: under(policy) });
    const [trade] = simulate(input('bar_direction')).trades;
    expect(trade).toMatchObject({ exitRow: 2, exitReason: 'trailing_stop', exitMethod: 'direct' });
    expect(trade.exitPrice).toBeCloseTo(103 * 0.95, 9);
    expect(trade.mfePct).toBeCloseTo(103 / 98 - 1, 12);
    // Of the bar before the low nothing is surely the position's: its best is the close of 99.
    expect(simulate(input('pessimistic')).trades[0].exitReason).toBe('end_of_data');
    expect(simulate(input('bar_direction')).ambiguity.fallbackBars).toBe(1);
  });

  it('leaves a stop that its close puts beyond the market to the next open', () => {
    // Open, high, low, close: bought at 100 on the way down; the close of 101 sets off a stop at 105.
    const bars = barsOf([FLAT, [102, 103, 99, 101], [102, 102, 100, 101], FLAT]);
    const breakeven = { activateAfterPercent: 1, offsetPercent: 5 };
    const entries = [entryAt(bars, [0], pending('limit', 100))];
    const input = inputOf(bars, { entries, risk: { ...NO_RISK, breakeven }, config: under('bar_direction') });
    expect(simulate(input).trades).toMatchObject([{ exitRow: 2, exitPrice: 102, exitReason: 'breakeven' }]);
  });

  it('is followed in the same way by a child that is undecided itself', () => {
    const bars = barsOf([FLAT, QUIET, [100, 110, 99, 101], [101, 111, 101, 110]]);
    const fine = quarters(2, [
      [100, 110, 99, 101],
      [101, 102, 101, 101],
    ]);
    const config = under('multi_resolution', { ambiguityFallback: 'bar_direction' });
    const [trade] = simulate(inputOf(bars, { entries: [entryAt(bars, [0])], risk: trailing, config, fine })).trades;
    expect(trade).toMatchObject({
      exitPrice: 104.5,
      exitMethod: 'fallback',
      exitPolicy: 'bar_direction',
      exitResolution: '15m',
      exitFineTime: bars.time[2],
    });
  });
});

describe('pending orders of one bar', () => {
  const bars = barsOf([FLAT, FLAT, [100, 106, 94, 95], [95, 95, 95, 95]]);
  const all = { sizing: { mode: 'percent_equity', value: 100 } } as const;
  const entered = (config: SimulationInput['config'], rules: readonly Partial<EntryRule>[], fine = null as never) =>
    simulate(
      inputOf(bars, {
        config,
        fine,
        maxConcurrentPositions: 2,
        entries: rules.map((rule, index) => entryAt(bars, [index], { ...all, ...rule })),
      }),
    ).trades.map(({ entryPrice }) => entryPrice);
  const sellStop = (price: number) => ({ side: -1, ...pending('stop', price) }) as const;

  it('settle nearest to the open first, whatever their listing', () => {
    for (const policy of AMBIGUITY_FALLBACKS) {
      expect(entered(under(policy), [sellStop(95), sellStop(98)])).toEqual([98]);
      expect(entered(under(policy), [sellStop(98), sellStop(95)])).toEqual([98]);
    }
  });

  it('on both sides of the open go by the path of the policy', () => {
    const sides = [sellStop(99), { side: -1, ...pending('limit', 104) } as const];
    expect(entered(under('pessimistic'), sides)).toEqual([99]);
    expect(entered(under('optimistic'), sides)).toEqual([99]);
    // The close is below the open: O-H-L-C.
    expect(entered(under('bar_direction'), sides)).toEqual([104]);
    const input = inputOf(bars, {
      config: under('pessimistic'),
      entries: sides.map((rule, index) => entryAt(bars, [index], rule)),
      maxConcurrentPositions: 2,
    });
    expect(simulate(input).ambiguity.fallbackBars).toBe(1);
  });

  it('go by the children where there are any', () => {
    const fine = quarters(2, [
      [100, 106, 100, 104],
      [104, 104, 94, 95],
    ]) as never;
    const sides = [sellStop(99), { side: -1, ...pending('limit', 104) } as const];
    expect(entered(under('multi_resolution'), sides, fine)).toEqual([104]);
  });
});

describe('a slot or a side that is freed inside a bar', () => {
  const risk: RiskRules = { ...NO_RISK, stopLoss: { mode: 'fixed', value: 5 } };
  /**
   * An order placed at the close of row 0, before the long exists, so that it is checked at its fill alone; the long
   * opens at row 2.
   */
  const twoRules = (rule: Partial<EntryRule>, more: Partial<SimulationInput> = {}) => {
    const early = barsOf([FLAT, FLAT, FLAT, [100, 104, 94, 95], [95, 95, 95, 95]]);
    return inputOf(early, {
      entries: [entryAt(early, [0], { side: -1, ...rule }), entryAt(early, [1])],
      risk,
      maxConcurrentPositions: 2,
      ...more,
    });
  };
  const sides = (made: SimulationInput) => simulate(made).trades.map(({ side, exitPrice }) => [side, exitPrice]);

  it('stays taken until the close of a bar that is not walked', () => {
    for (const policy of AMBIGUITY_FALLBACKS) {
      // The long is stopped at 95 somewhere in the bar, the limit at 103 is reached somewhere in it.
      expect(sides(twoRules(pending('limit', 103), { config: under(policy) }))).toEqual([[1, 95]]);
      // A pending long order holds the only slot before that: the other long does not open.
      const again = twoRules({ side: 1, ...pending('limit', 94.5) }, { config: under(policy) });
      const { trades, counts } = simulate({ ...again, maxConcurrentPositions: 1 });
      expect(trades).toMatchObject([{ entryPrice: 94.5, exitPrice: 95 }]);
      expect(counts.blockedMaxPositions).toBe(1);
    }
  });

  it('is free from the next child on where the bar is walked', () => {
    const early = (children: readonly Ohlc[]) =>
      sides(twoRules(pending('limit', 103), { fine: quarters(3, children), config: under('multi_resolution') }));
    // The order first: it meets an open long.
    expect(
      early([
        [100, 104, 100, 104],
        [104, 104, 99, 99],
        [99, 99, 94, 95],
      ]),
    ).toEqual([[1, 95]]);
    // The stop in an earlier child: the short opens.
    expect(
      early([
        [100, 100, 94, 95],
        [95, 104, 95, 104],
        [104, 104, 95, 95],
      ]),
    ).toEqual([
      [1, 95],
      [-1, 95],
    ]);
    // Both in one child: nobody knows.
    expect(early([[100, 104, 94, 95]])).toEqual([[1, 95]]);
  });

  it('stays taken until the close for an order that the bar reaches and no child does', () => {
    const children: Ohlc[] = [
      [100, 100, 99, 99],
      [99, 99, 94, 95],
    ];
    const made = twoRules(pending('limit', 103), { fine: quarters(3, children), config: under('multi_resolution') });
    expect(sides(made)).toEqual([[1, 95]]);
    expect(simulate(made).ambiguity).toMatchObject({ drilledBars: 1, childrenMissingBars: 1 });
  });

  it('is free at once where a child opens past the stop', () => {
    const children: Ohlc[] = [FLAT, [94.5, 104, 94, 95]];
    const made = twoRules(pending('limit', 103), { fine: quarters(3, children), config: under('multi_resolution') });
    expect(sides(made)).toEqual([
      [1, 94.5],
      [-1, 95],
    ]);
  });

  it('does not stop an order that reverses, whose own close would have freed it', () => {
    const made = twoRules({ conflict: 'reverse', ...pending('stop', 94.5) }, { config: under('pessimistic') });
    expect(simulate(made).trades).toMatchObject([
      { side: 1, exitPrice: 95, exitReason: 'stop_loss' },
      { side: -1, entryPrice: 94.5 },
    ]);
    expect(sides(twoRules({ conflict: 'close', ...pending('stop', 94.5) }, { config: under('pessimistic') }))).toEqual([
      [1, 95],
    ]);
  });

  it('does not let the second of two reversals close the position of the first', () => {
    const bars = barsOf([FLAT, FLAT, FLAT, FLAT, [98, 98, 93, 94], [94, 94, 94, 94]]);
    const reversing = (price: number) => ({ side: -1, conflict: 'reverse', ...pending('stop', price) }) as const;
    const entries = [entryAt(bars, [0], reversing(94.5)), entryAt(bars, [1], reversing(94)), entryAt(bars, [2])];
    const made = inputOf(bars, { entries, risk, maxConcurrentPositions: 3, config: under('pessimistic') });
    expect(filled(made)).toEqual([
      [1, 3, 100, 95, 'stop_loss', 'direct'],
      [-1, 4, 94.5, 94, 'end_of_data', 'direct'],
      [-1, 4, 94, 94, 'end_of_data', 'direct'],
    ]);
  });
});

describe('an order that reverses', () => {
  const reversing = (price: number, type: 'limit' | 'stop') =>
    ({ side: -1, conflict: 'reverse', ...pending(type, price) }) as const;
  const run = (bar: Ohlc, order: ReturnType<typeof reversing>, risk: Partial<RiskRules>, policy: Resolution) => {
    const bars = barsOf([FLAT, FLAT, bar, [95, 95, 95, 95]]);
    const entries = [entryAt(bars, [0]), entryAt(bars, [1], order)];
    return filled(inputOf(bars, { entries, risk: { ...NO_RISK, ...risk }, config: under(policy) }))[0].slice(3, 5);
  };

  it('comes before a level that lies beyond its price', () => {
    for (const policy of AMBIGUITY_FALLBACKS) {
      const stopLoss = { mode: 'fixed', value: 6 } as const;
      expect(run([100, 101, 93, 95], reversing(96, 'stop'), { stopLoss }, policy)).toEqual([96, 'reverse']);
      const takeProfits = [takeProfit({ mode: 'price', price: constant(105) })];
      expect(run([100, 106, 99, 101], reversing(103, 'limit'), { takeProfits }, policy)).toEqual([103, 'reverse']);
    }
  });

  it('comes after a level that lies before its price, or at it', () => {
    for (const policy of AMBIGUITY_FALLBACKS) {
      for (const value of [3, 4]) {
        const stopLoss = { mode: 'fixed', value } as const;
        const expected = [100 - value, 'stop_loss'];
        expect(run([100, 101, 93, 95], reversing(96, 'stop'), { stopLoss }, policy)).toEqual(expected);
      }
    }
  });

  it('ends the path of a position at its price, although that is the low of the bar', () => {
    // O-L-H-C: the market comes to 95 first, and to the target of 105 when nothing is left.
    const takeProfits = [takeProfit({ mode: 'price', price: constant(105) })];
    expect(run([100, 106, 95, 104], reversing(95, 'stop'), { takeProfits }, 'bar_direction')).toEqual([95, 'reverse']);
  });

  it('goes by the policy against a level on the other side of the open', () => {
    const risk = { stopLoss: { mode: 'fixed', value: 5 } as const };
    const bar: Ohlc = [100, 104, 94, 95];
    expect(run(bar, reversing(103, 'limit'), risk, 'pessimistic')).toEqual([95, 'stop_loss']);
    // O-H-L-C: the market comes to 103 first.
    expect(run(bar, reversing(103, 'limit'), risk, 'bar_direction')).toEqual([103, 'reverse']);
  });
});

describe('several positions', () => {
  it('fill first what the open has passed of any of them, then what the inside of the bar touches', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], [97, 98, 90, 92], FLAT]);
    const stops = Float64Array.of(92, 98, NaN, NaN);
    const stopLoss = { mode: 'price', price: { kind: 'column', values: stops }, update: 'entry' } as const;
    const entries = [entryAt(bars, [0, 1])];
    const input = inputOf(bars, { entries, risk: { ...NO_RISK, stopLoss }, maxConcurrentPositions: 2 });
    // The younger position opens at 97, below its stop; the older one is stopped at 92 inside the bar.
    expect(simulate(input).trades.map(({ positionId, exitPrice }) => [positionId, exitPrice])).toEqual([
      [2, 97],
      [1, 92],
    ]);
  });

  /** The exits of two positions of 100 units with these stops, which are liquidated at 95. */
  const stopped = (bar: Ohlc, stops: readonly [number, number], more: Partial<SimulationInput> = {}) => {
    const bars = barsOf([FLAT, FLAT, FLAT, bar, FLAT]);
    const values = Float64Array.of(...stops, 50, NaN, NaN);
    const stopLoss = { mode: 'price', price: { kind: 'column', values }, update: 'entry' } as const;
    const config = under('multi_resolution', { initialBalance: 1_000, leverage: 20, maintenanceMarginRate: 0 });
    const entries = [entryAt(bars, [0, 1], { sizing: { mode: 'fixed', value: 100 } })];
    const input = inputOf(bars, { entries, risk: { ...NO_RISK, stopLoss }, maxConcurrentPositions: 2, config });
    return simulate({ ...input, ...more }).trades.map(({ positionId, exitPrice }) => [positionId, exitPrice]);
  };

  it('are stopped oldest first at one price, the open, whatever the bar does later', () => {
    const oldestFirst = [
      [1, 95.5],
      [2, 95.5],
    ];
    expect(stopped([95.5, 96, 95.2, 96], [96, 97])).toEqual(oldestFirst);
    expect(stopped([95.5, 96, 94, 95], [96, 97])).toEqual(oldestFirst);
  });

  it('are stopped nearest first in a child, whatever later children do', () => {
    const bar: Ohlc = [100, 100, 94, 95];
    const bars = barsOf([FLAT, FLAT, FLAT, bar, FLAT]);
    const order = entryAt(bars, [2], pending('limit', 94.5));
    const entries = [entryAt(bars, [0, 1], { sizing: { mode: 'fixed', value: 100 } }), order];
    const fine = quarters(3, [[100, 100, 96, 97], [97, 97, 94, 95]]); // prettier-ignore
    expect(stopped(bar, [96.5, 97], { entries, fine, maxConcurrentPositions: 3 }).slice(0, 2)).toEqual([
      [2, 97],
      [1, 96.5],
    ]);
  });

  it('are stopped nearest first in a bar, one that reaches liquidation too', () => {
    expect(stopped([100, 100, 94, 95], [96, 97])).toEqual([
      [2, 97],
      [1, 96],
    ]);
  });
});

describe('long and short', () => {
  it('are never open together, whatever is pending', () => {
    const fine = quarters(2, [
      [100, 103, 100, 103],
      [103, 104, 99, 99],
      [99, 99, 95, 95],
      [95, 97, 94, 97],
    ]);
    const bars = barsOf([FLAT, FLAT, [100, 104, 94, 97], FLAT, FLAT]);
    const entries = [
      entryAt(bars, [0], { side: -1, ...pending('limit', 103) }),
      entryAt(bars, [1], { side: 1, ...pending('stop', 101) }),
    ];
    const risk: RiskRules = { ...NO_RISK, stopLoss: { mode: 'fixed', value: 5 } };
    const { trades, counts } = simulate(
      inputOf(bars, { entries, risk, fine, maxConcurrentPositions: 5, config: under('multi_resolution') }),
    );
    expect(trades.map(({ side, entryPrice, exitPrice }) => [side, entryPrice, exitPrice])).toEqual([[1, 101, 96]]);
    expect(counts.blockedInPosition).toBe(1);
  });
});
