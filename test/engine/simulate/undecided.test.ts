// Which bars are undecided, and what of them is called a fallback.
import { describe, expect, it } from 'vitest';
import { AMBIGUITY_FALLBACKS } from '../../../src/engine/config.ts';
import type { RiskRules } from '../../../src/engine/evaluate/tradingRules.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import {
  barsOf,
  constant,
  entryAt,
  exitAt,
  FLAT,
  INSTRUMENT,
  inputOf,
  NO_RISK,
  quarters,
  takeProfit,
  under,
  type Ohlc,
  type Resolution,
} from './input.ts';

describe('a rehearsal', () => {
  it('prices its fees by the rolling window of its own bar', () => {
    // 10 bought at 100 with 50 left after the fee: liquidated at 95. A tenth sold at 101 costs a fee of 10.1 again,
    // because the entry has left the window, and raises that to 95.46, which the low of 95.2 reaches on a path only.
    const bars = barsOf([FLAT, FLAT, FLAT, FLAT, FLAT, [100, 101, 95.2, 98], FLAT]);
    const tiers = [
      { minCumulativeNotional: 0, makerRate: 0.1, takerRate: 0.1 },
      { minCumulativeNotional: 1_000, makerRate: 0, takerRate: 0 },
    ];
    const made = (days: number) =>
      simulate(
        inputOf(bars, {
          entries: [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 10 } })],
          risk: {
            ...NO_RISK,
            trailingStop: { distance: { mode: 'percent', value: 50 }, activateAfterPercent: null },
            takeProfits: [takeProfit({ mode: 'price', price: constant(101) }, 10)],
          },
          config: under('pessimistic', {
            initialBalance: 150,
            leverage: 100,
            maintenanceMarginRate: 0,
            execution: { feeModel: { kind: 'tiered_maker_taker', tiers, window: { kind: 'rolling', days } } },
          }),
        }),
      );
    expect(made(2 / 24).ambiguity).toMatchObject({ undecidedBars: 1, fallbackBars: 1 });
    // Within a window that still counts the entry, the sale is free and nothing is liquidated.
    expect(made(1).ambiguity).toMatchObject({ undecidedBars: 1, fallbackBars: 0 });
  });

  it.each<[string, 1 | -1, Ohlc, Ohlc]>([
    ['long', 1, [100, 111, 95.2, 98], [100, 111, 94.9, 98]],
    ['short', -1, [100, 104.8, 89, 102], [100, 105.1, 89, 102]],
  ])('knows where a partial exit without a fee leaves the liquidation: %s', (_, side, before, at) => {
    // 10 at 100 with 50: liquidated at 95 (short: 105). A tenth closed at a profit of 10 moves that to 93.3 (106.7).
    const methods = (bar: Ohlc) => {
      const bars = barsOf([FLAT, FLAT, bar, FLAT]);
      const { trades, ambiguity } = simulate(
        inputOf(bars, {
          entries: [entryAt(bars, [0], { side, sizing: { mode: 'fixed', value: 10 } })],
          risk: {
            ...NO_RISK,
            trailingStop: { distance: { mode: 'percent', value: 50 }, activateAfterPercent: null },
            takeProfits: [takeProfit({ mode: 'price', price: constant(100 + side * 10) }, 10)],
          },
          config: under('bar_direction', { initialBalance: 50, leverage: 100, maintenanceMarginRate: 0 }),
        }),
      );
      return [ambiguity.fallbackBars, ...trades.map(({ exitReason }) => exitReason)];
    };
    expect(methods(before)).toEqual([0, 'take_profit', 'end_of_data']);
    // Pessimistic is liquidated first; the paths come to the target first and then stop short of the liquidation.
    expect(methods(at)).toEqual([1, 'take_profit', 'end_of_data']);
  });
});

describe('a break-even stop beyond the price that sets it off', () => {
  // The stop moves above the market and is hit at once: the rest of the path finds no position.
  const bar: Ohlc = [100, 102, 98, 99];
  const breakeven = { activateAfterPercent: 1, offsetPercent: 5 };

  it.each([
    ['inside a bar', [FLAT, bar, FLAT, FLAT], 102],
    ['at the next open', [FLAT, FLAT, [101.5, 103, 98, 102.5], FLAT], 101.5],
  ] as const)('closes the position once %s', (_, rows, exitPrice) => {
    const bars = barsOf(rows);
    const { trades } = simulate(
      inputOf(bars, {
        entries: [entryAt(bars, [0])],
        risk: { ...NO_RISK, breakeven },
        config: under('bar_direction'),
      }),
    );
    expect(trades).toHaveLength(1);
    expect(trades[0]).toMatchObject({ exitPrice, exitReason: 'breakeven' });
  });
});

describe('a bar', () => {
  const bar: Ohlc = [100, 113, 99, 112];
  const children = quarters(3, [
    [100, 101, 99, 101],
    [101, 109, 101, 109],
    [112, 113, 111, 112],
  ]);
  const bars = barsOf([FLAT, FLAT, FLAT, bar, [112, 112, 112, 112]]);
  const run = (takeProfits: RiskRules['takeProfits'], more: Partial<SimulationInput> = {}) =>
    simulate(
      inputOf(bars, {
        entries: [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 10 } })],
        exits: [exitAt(bars, [1], { action: { mode: 'percent_position', value: 50 } })],
        risk: { ...NO_RISK, takeProfits },
        config: under('multi_resolution'),
        fine: children,
        ...more,
      }),
    );
  const at = (price: number, percent: number, moveStopToBreakeven = true) =>
    takeProfit({ mode: 'price', price: constant(price) }, percent, { moveStopToBreakeven });

  it('is undecided only if a quantity is left after earlier partial exits', () => {
    const { trades, ambiguity } = run([at(110, 60)]);
    expect(trades[1]).toMatchObject({ quantity: 5, exitPrice: 110, exitMethod: 'direct' });
    expect(ambiguity.undecidedBars).toBe(0);
  });

  it('is undecided only if something is left after all the steps that it reaches', () => {
    const { trades, ambiguity } = run([at(108, 30), at(110, 70)]);
    expect(trades.slice(1).map(({ exitPrice, exitMethod }) => [exitPrice, exitMethod])).toEqual([
      [108, 'direct'],
      [110, 'direct'],
    ]);
    expect(ambiguity.undecidedBars).toBe(0);
    expect(run([at(108, 30), at(120, 70)]).ambiguity.undecidedBars).toBe(1);
  });

  it('is undecided when the stop that a step moves has been passed before the next step', () => {
    // Bought at 101 from 100. The step at 100.5 moves the stop to 101: on a path the rest is sold there, pessimistic
    // goes on to 102.
    const slippage = { kind: 'fixed', unit: 'bps', value: 100 } as const;
    const slipped = barsOf([FLAT, [100, 103, 99, 102], FLAT]);
    const takeProfits = [at(100.5, 50), at(102, 50, false)];
    const made = (policy: Resolution) =>
      simulate(
        inputOf(slipped, {
          entries: [entryAt(slipped, [0])],
          risk: { ...NO_RISK, takeProfits },
          config: under(policy, { execution: { slippage } }),
        }),
      );
    expect(made('pessimistic').ambiguity).toMatchObject({ undecidedBars: 1, fallbackBars: 1 });
    expect(made('pessimistic').trades.map(({ exitMethod }) => exitMethod)).toEqual(['direct', 'fallback']);
    expect(made('bar_direction').trades[1]).toMatchObject({ exitReason: 'breakeven', exitMethod: 'fallback' });
  });

  it.each<[string, 1 | -1, Ohlc]>([
    ['long', 1, [100, 125, 100, 119]],
    ['short', -1, [100, 100, 75, 81]],
  ])('is undecided when its best price is exactly where break-even begins: %s', (_, side, best) => {
    // Break-even from 25 % on moves the stop of the long to 120, where a path comes back to it.
    const touching = barsOf([FLAT, FLAT, best, [best[3], best[3], best[3], best[3]]]);
    const made = (policy: Resolution) =>
      simulate(
        inputOf(touching, {
          entries: [entryAt(touching, [0], { side })],
          risk: { ...NO_RISK, breakeven: { activateAfterPercent: 25, offsetPercent: 20 } },
          config: under(policy),
        }),
      );
    expect(made('pessimistic').ambiguity).toMatchObject({ undecidedBars: 1, fallbackBars: 1 });
    expect(made('bar_direction').trades).toMatchObject([{ exitRow: 2, exitPrice: 100 + side * 20 }]);
    // Pessimistic moves the stop after the bar, and the next open has passed it.
    expect(made('pessimistic').trades).toMatchObject([{ exitRow: 3, exitPrice: best[3], exitMethod: 'gap' }]);
  });

  it('is not undecided for a step too small to close anything', () => {
    const risk = { stopLoss: { mode: 'fixed', value: 1 } as const, takeProfits: [at(110, 5, false)] };
    const made = run([], { risk: { ...NO_RISK, ...risk }, instrument: { ...INSTRUMENT, qtyStep: 1 } });
    expect(made.trades[1]).toMatchObject({ exitPrice: 99, exitReason: 'stop_loss', exitMethod: 'direct' });
    expect(made.ambiguity.undecidedBars).toBe(0);
  });
});

describe('a fallback', () => {
  const both: RiskRules = {
    ...NO_RISK,
    stopLoss: { mode: 'fixed', value: 5 },
    takeProfits: [
      takeProfit({ mode: 'price', price: constant(105) }, 50),
      takeProfit({ mode: 'price', price: constant(108) }),
    ],
  };
  const methods = (bar: Ohlc, risk: RiskRules, policy: Resolution) => {
    const bars = barsOf([FLAT, bar, FLAT]);
    const entries = [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 10 } })];
    const { trades, ambiguity } = simulate(inputOf(bars, { entries, risk, config: under(policy) }));
    return [...trades.map(({ exitPrice, exitMethod }) => [exitPrice, exitMethod]), ambiguity.fallbackBars];
  };

  it('is what another policy would have decided otherwise', () => {
    expect(methods([100, 106, 94, 100], both, 'pessimistic')).toEqual([[95, 'fallback'], 1]);
    expect(methods([100, 106, 94, 100], both, 'optimistic')).toEqual([[105, 'fallback'], [95, 'fallback'], 1]);
  });

  it('is not the fill that every policy makes, only what follows it', () => {
    const moving: RiskRules = {
      ...NO_RISK,
      takeProfits: [takeProfit({ mode: 'price', price: constant(105) }, 50, { moveStopToBreakeven: true })],
    };
    expect(methods([100, 106, 99, 104], moving, 'optimistic')).toEqual([[105, 'direct'], [100, 'fallback'], 1]);
    expect(methods([100, 106, 99, 104], moving, 'pessimistic')).toEqual([[105, 'direct'], [100, 'gap'], 1]);
  });

  it.each<[string, number, Ohlc, number]>([
    ['the open has moved, at the low', 2, [105, 110.5, 102, 110], 102.9],
    ['the high has moved, at the close', 10, [98, 110, 97, 99], 99],
  ])('is a stop that %s is hit on a path only', (_, value, bar, exitPrice) => {
    const bars = barsOf([FLAT, FLAT, bar, [bar[3], bar[3], bar[3], bar[3]]]);
    const trailingStop = { distance: { mode: 'percent', value }, activateAfterPercent: null } as const;
    const made = (policy: Resolution) =>
      simulate(
        inputOf(bars, {
          entries: [entryAt(bars, [0])],
          risk: { ...NO_RISK, trailingStop },
          config: under(policy),
          // The general loop; round trips leave such a bar to it.
          keepOrders: true,
        }),
      );
    for (const policy of ['bar_direction', 'distance'] as const) {
      const [trade] = made(policy).trades;
      expect(trade).toMatchObject({ exitRow: 2, exitReason: 'trailing_stop', exitMethod: 'fallback' });
      expect(trade.exitPrice).toBeCloseTo(exitPrice, 9);
    }
    expect(made('pessimistic').trades[0].exitRow).toBe(3);
    expect(made('pessimistic').ambiguity).toMatchObject({ undecidedBars: 1, fallbackBars: 1 });
  });

  it('is not a stop that moves but is hit at the same price by every policy', () => {
    const trailing: RiskRules = {
      ...NO_RISK,
      trailingStop: { distance: { mode: 'percent', value: 5 }, activateAfterPercent: null },
    };
    for (const policy of AMBIGUITY_FALLBACKS)
      expect(methods([100, 100, 94, 95], trailing, policy)).toEqual([[95, 'direct'], 0]);
  });
});
