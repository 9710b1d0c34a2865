// Quantities, funds, fees, slippage, funding and liquidation, each against a sum done by hand.
import { describe, expect, it } from 'vitest';
import type { ResolvedConfig } from '../../../src/engine/config.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type { Trade } from '../../../src/engine/simulate/trade.ts';
import type { SizingRule } from '../../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import {
  barsFrom,
  barsOf,
  configOf,
  entryAt,
  exitAt,
  flatFee,
  INSTRUMENT,
  inputOf,
  NO_RISK,
  type Ohlc,
} from './input.ts';

const flat = (price: number): Ohlc => [price, price, price, price];
const steps = (...prices: number[]) => barsOf(prices.map(flat));
type Config = Parameters<typeof configOf>[0];

/** The first trade of a long (or short) entered at 100 with this sizing. */
function sized(
  sizing: SizingRule,
  config: Config = {},
  more: Partial<SimulationInput> = {},
  side: 1 | -1 = 1,
): Trade | undefined {
  const bars = steps(100, 100, 100);
  return simulate(inputOf(bars, { entries: [entryAt(bars, [0], { sizing, side })], config: configOf(config), ...more }))
    .trades[0];
}
const fee = (rate: number): Config => ({ execution: { feeModel: flatFee(rate) } });
const stopAt = (value: number) => ({ ...NO_RISK, stopLoss: { mode: 'percent', value } as const });

describe('sizing', () => {
  it('takes units, cash, equity or free cash', () => {
    expect(sized({ mode: 'fixed', value: 3 })!.quantity).toBe(3);
    expect(sized({ mode: 'fixed_cash', value: 250 })!.quantity).toBe(2.5);
    expect(sized({ mode: 'percent_equity', value: 50 })!.quantity).toBe(50);
    expect(sized({ mode: 'percent_balance', value: 50 })!.quantity).toBe(50);
  });

  it('lets percent_equity 100 pay its own fee and slippage, so that it is never rejected for them', () => {
    const config: Config = {
      execution: { feeModel: flatFee(0.01), slippage: { kind: 'fixed', unit: 'bps', value: 200 } },
    };
    const trade = sized({ mode: 'percent_equity', value: 100 }, config)!;
    expect(trade.quantity * trade.entryPrice * 1.01).toBeCloseTo(10_000, 8);
    const leveraged = sized({ mode: 'percent_equity', value: 300 }, { ...config, leverage: 3 })!;
    expect((leveraged.quantity * leveraged.entryPrice) / 3 + leveraged.entryFee).toBeCloseTo(10_000, 8);
  });

  it('rounds down to the step, but division noise costs no step', () => {
    const instrument = { ...INSTRUMENT, qtyStep: 0.1 };
    expect(sized({ mode: 'fixed', value: 0.3 }, {}, { instrument })!.quantity).toBeCloseTo(0.3, 12);
    expect(sized({ mode: 'fixed', value: 0.39 }, {}, { instrument })!.quantity).toBeCloseTo(0.3, 12);
  });

  it('buys 1.15 at a step of 1e-8, where one unit in the last place is more than 1e-9 steps', () => {
    const instrument = { ...INSTRUMENT, qtyStep: 1e-8 };
    for (const value of [1.15, 0.29, 9.95, 64.1]) {
      expect(sized({ mode: 'fixed', value }, {}, { instrument })!.quantity).toBe(value);
    }
    expect(sized({ mode: 'fixed', value: 1.149999994 }, {}, { instrument })!.quantity).toBe(1.14999999);
  });

  it('by risk_percent charges each leg the rate of its own role', () => {
    const bars = barsOf([flat(100), [100, 100, 98.5, 99], flat(99)]);
    const tiers = [{ minCumulativeNotional: 0, makerRate: 0.001, takerRate: 0.005 }];
    const feeModel: ResolvedConfig['execution']['feeModel'] = { kind: 'tiered_maker_taker', tiers };
    for (const entryOrderRole of ['maker', 'taker'] as const) {
      for (const riskOrderRole of ['maker', 'taker'] as const) {
        const config = configOf({ leverage: 10, execution: { feeModel, entryOrderRole, riskOrderRole } });
        const entries = [entryAt(bars, [0], { sizing: { mode: 'risk_percent', value: 1 } })];
        const { trades } = simulate(inputOf(bars, { entries, risk: stopAt(1), config }));
        expect(trades[0]).toMatchObject({ exitReason: 'stop_loss', exitPrice: 99 });
        expect(trades[0].pnl).toBeCloseTo(-100, 9);
      }
    }
  });

  it('by risk_percent counts a rebate on either leg as nothing', () => {
    const tiers = [{ minCumulativeNotional: 0, makerRate: -0.001, takerRate: 0.005 }];
    const feeModel: ResolvedConfig['execution']['feeModel'] = { kind: 'tiered_maker_taker', tiers };
    const sizing = { mode: 'risk_percent', value: 1 } as const;
    const quantity = (entryOrderRole: 'maker' | 'taker', riskOrderRole: 'maker' | 'taker') =>
      sized(sizing, { leverage: 10, execution: { feeModel, entryOrderRole, riskOrderRole } }, { risk: stopAt(1) })!
        .quantity;
    expect(quantity('maker', 'maker')).toBeCloseTo(100 / 1, 9);
    expect(quantity('maker', 'taker')).toBeCloseTo(100 / (1 + 0.005 * 99), 9);
    expect(quantity('taker', 'maker')).toBeCloseTo(100 / (1 + 0.005 * 100), 9);
  });

  it('by risk_percent loses that percent of equity at the stop, fees and slippage included', () => {
    const bars = barsOf([flat(100), [100, 100, 90, 95]]);
    const execution: Config = {
      execution: { feeModel: flatFee(0.002), slippage: { kind: 'fixed', unit: 'bps', value: 25 } },
    };
    const entries = [entryAt(bars, [0], { sizing: { mode: 'risk_percent', value: 2 } })];
    const { trades } = simulate(inputOf(bars, { entries, risk: stopAt(5), config: configOf(execution) }));
    expect(trades[0]).toMatchObject({ exitReason: 'stop_loss' });
    expect(trades[0].pnl).toBeCloseTo(-200, 9);
  });

  it('by volatility_target takes the notional whose yearly volatility is that percent, capped by free cash', () => {
    // Three hourly bars on one day: 3 × 365 bars per year; ATR 2 on a close of 100 is 2 % per bar.
    const atr = Float64Array.of(2, 2, 2);
    const expected = (10_000 * 0.2) / (0.02 * Math.sqrt(3 * 365));
    expect(sized({ mode: 'volatility_target', value: 20, atr })!.quantity).toBeCloseTo(expected / 100, 9);
    expect(sized({ mode: 'volatility_target', value: 2000, atr }, fee(0.01))!.quantity).toBeCloseTo(
      10_000 / 1.01 / 100,
      9,
    );
  });

  it('by equal_slots takes an equal part of equity, which pays its own fee, and at most what free cash can pay', () => {
    const slots = (count: number, more: Config = {}) => ({ portfolio: { slots: count }, ...more });
    expect(sized({ mode: 'equal_slots', value: NaN }, slots(4))!.quantity).toBeCloseTo(10_000 / 4 / 100, 9);
    expect(sized({ mode: 'equal_slots', value: NaN }, slots(4, fee(0.01)))!.quantity).toBeCloseTo(2_500 / 101, 9);
    // With leverage one slot is all of the equity, without its fee, and never more than the balance pays for.
    expect(sized({ mode: 'equal_slots', value: NaN }, slots(1, fee(0.01)))!.quantity).toBeCloseTo(10_000 / 101, 9);
    const levered = slots(1, { ...fee(0.01), leverage: 2 });
    expect(sized({ mode: 'equal_slots', value: NaN }, levered)!.quantity).toBeCloseTo(10_000 / 101, 9);
  });

  it('by equal_slots caps the second position at the cash that the first has left', () => {
    const bars = steps(100, 100, 200, 200, 200);
    const sizing = { mode: 'equal_slots', value: NaN } as const;
    const entries = [entryAt(bars, [0, 2], { sizing })];
    const config = configOf({ portfolio: { slots: 2 } });
    const { trades } = simulate(inputOf(bars, { entries, config, maxConcurrentPositions: 2 }));
    // The first takes 5,000 of 10,000; then equity is 15,000, and half of it is more than the 5,000 that are left.
    expect(trades.map(({ quantity }) => quantity)).toEqual([50, 25]);
  });

  it('by volatility_target counts the bars of short days where the days of a year were counted', () => {
    // Days of one, three and three bars: their median is three.
    const time = [0, 24, 25, 26, 48, 49, 50].map((hour) => Date.UTC(2024, 0, 1, hour));
    const bars = { ...steps(...time.map(() => 100)), time: Float64Array.from(time) };
    const instrument = { ...INSTRUMENT, periodsPerYear: 300 };
    const sizing = { mode: 'volatility_target', value: 20, atr: new Float64Array(7).fill(2) } as const;
    const entries = [entryAt(bars, [0], { sizing })];
    const { trades } = simulate(inputOf(bars, { entries, instrument }));
    const barsPerYear = 300 * (7 / 3);
    expect(trades[0].quantity).toBeCloseTo((10_000 * 0.2) / (0.02 * Math.sqrt(barsPerYear)) / 100, 9);
  });

  it('marks equity at the instant of the fill, exits of that instant first', () => {
    const bars = steps(100, 100, 200, 200);
    const entries = [
      entryAt(bars, [0], { sizing: { mode: 'fixed', value: 50 } }),
      entryAt(bars, [1], { side: -1, conflict: 'reverse', sizing: { mode: 'percent_equity', value: 100 } }),
    ];
    const { trades } = simulate(inputOf(bars, { entries }));
    expect(trades[1].quantity).toBe(15_000 / 200);
  });
});

describe('an order that cannot be paid', () => {
  const rejected = (sizing: SizingRule, config: Config = {}, more: Partial<SimulationInput> = {}) => {
    const bars = steps(100, 100, 100);
    return simulate(inputOf(bars, { entries: [entryAt(bars, [0], { sizing })], config: configOf(config), ...more }))
      .counts.ordersRejected;
  };

  it('is rejected and counted by reason, never rescaled', () => {
    const none = { INSUFFICIENT_BALANCE: 0, MIN_NOTIONAL: 0, ZERO_QTY: 0, LEVEL_MISSING: 0 };
    expect(rejected({ mode: 'fixed', value: 100 })).toEqual(none);
    expect(rejected({ mode: 'fixed', value: 100 }, fee(0.001))).toEqual({ ...none, INSUFFICIENT_BALANCE: 1 });
    expect(rejected({ mode: 'fixed', value: 250 }, { leverage: 3 })).toEqual(none);
    expect(rejected({ mode: 'fixed', value: 0.4 }, {}, { instrument: { ...INSTRUMENT, minNotional: 50 } })).toEqual({
      ...none,
      MIN_NOTIONAL: 1,
    });
    expect(rejected({ mode: 'fixed', value: 0.4 }, {}, { instrument: { ...INSTRUMENT, qtyStep: 1 } })).toEqual({
      ...none,
      ZERO_QTY: 1,
    });
    // 0.5 units at 100 are exactly the least notional.
    for (const keepOrders of [false, true]) {
      const more = { keepOrders, instrument: { ...INSTRUMENT, minNotional: 50 } };
      expect(rejected({ mode: 'fixed', value: 0.5 }, {}, more)).toEqual(none);
    }
    const atr = new Float64Array(3).fill(NaN);
    expect(rejected({ mode: 'volatility_target', value: 10, atr })).toEqual({ ...none, LEVEL_MISSING: 1 });
  });

  it('counts unrealized profit as nothing: it is not spendable', () => {
    const bars = steps(100, 100, 500, 500, 500);
    const entries = [entryAt(bars, [0, 1], { sizing: { mode: 'fixed', value: 60 } })];
    const { counts } = simulate(inputOf(bars, { entries, maxConcurrentPositions: 2 }));
    expect(counts).toMatchObject({ entriesFilled: 1, ordersRejected: { INSUFFICIENT_BALANCE: 1 } });
  });
});

describe('fees', () => {
  const tiers = [
    { minCumulativeNotional: 0, makerRate: 0.001, takerRate: 0.01 },
    { minCumulativeNotional: 250, makerRate: 0, takerRate: 0.005 },
    { minCumulativeNotional: 500, makerRate: -0.001, takerRate: 0.001 },
  ];
  const bars = steps(100, 100, 100, 100, 100, 100, 100, 100, 100);
  const rounds = { entries: [entryAt(bars, [0, 2, 4, 6])], exits: [exitAt(bars, [1, 3, 5])] };
  const run = (execution: Partial<ResolvedConfig['execution']>) =>
    simulate(inputOf(bars, { ...rounds, config: configOf({ execution }) }));

  it('are those of the tier that the notional traded strictly before the fill reaches', () => {
    const { trades, totals } = run({ feeModel: { kind: 'tiered_maker_taker', tiers } });
    expect(trades.map(({ entryFee, exitFee }) => [entryFee, exitFee])).toEqual([
      [1, 1],
      [1, 0.5],
      [0.5, 0.1],
      [0.1, 0.1],
    ]);
    expect(totals.tiers).toEqual([
      { notional: 300, fees: 3, fills: 3 },
      { notional: 200, fees: 1, fills: 2 },
      { notional: 300, fees: expect.closeTo(0.3, 12), fills: 3 },
    ]);
  });

  it('forget what a rolling window has left behind: (now − days, now]', () => {
    const window = { kind: 'rolling', days: 3 / 24 } as const;
    const { trades } = run({ feeModel: { kind: 'tiered_maker_taker', tiers, window } });
    // One fill an hour: at most two earlier fills are less than three hours old.
    expect(trades.map(({ entryFee, exitFee }) => [entryFee, exitFee])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it('follow the role of the order, entry, exit or risk', () => {
    const feeModel = { kind: 'tiered_maker_taker', tiers: [tiers[0]] } as const;
    const [trade] = run({ feeModel: { ...feeModel, tiers: [tiers[0]] }, entryOrderRole: 'maker' }).trades;
    expect(trade).toMatchObject({ entryFee: 0.1, exitFee: 1 });
    const [other] = run({ feeModel: { ...feeModel, tiers: [tiers[0]] }, exitOrderRole: 'maker' }).trades;
    expect(other).toMatchObject({ entryFee: 1, exitFee: 0.1 });
    const falling = barsOf([flat(100), [100, 100, 90, 95]]);
    const config = configOf({ execution: { feeModel: { ...feeModel, tiers: [tiers[0]] }, riskOrderRole: 'maker' } });
    const [stopped] = simulate(inputOf(falling, { entries: [entryAt(falling, [0])], risk: stopAt(5), config })).trades;
    expect(stopped.exitFee).toBeCloseTo(0.095, 12);
  });
});

describe('slippage', () => {
  const bars = barsOf([[100, 110, 90, 100], [100, 101, 99, 100], flat(100)]);
  const prices = (slippage: ResolvedConfig['execution']['slippage'], more: Partial<SimulationInput> = {}) => {
    const entries = [entryAt(bars, [0])];
    const { trades, totals } = simulate(
      inputOf(bars, { entries, config: configOf({ execution: { slippage } }), ...more }),
    );
    expect(totals.slippageCost).toBeCloseTo(trades[0].slippage, 12);
    return [trades[0].entryPrice, trades[0].exitPrice];
  };

  it('moves market fills against the trader by bps or ticks, at the end of the data too', () => {
    expect(prices({ kind: 'fixed', unit: 'bps', value: 10 })).toEqual(
      [100.1, 99.9].map((price) => expect.closeTo(price, 10)),
    );
    expect(
      prices({ kind: 'fixed', unit: 'ticks', value: 3 }, { instrument: { ...INSTRUMENT, tickSize: 0.5 } }),
    ).toEqual([101.5, 98.5]);
  });

  it('never takes a price below 0', () => {
    const cheap = steps(10, 10, 3);
    const config = configOf({ execution: { slippage: { kind: 'fixed', unit: 'ticks', value: 10 } } });
    const instrument = { ...INSTRUMENT, tickSize: 0.5 };
    const { trades } = simulate(inputOf(cheap, { entries: [entryAt(cheap, [0])], config, instrument }));
    expect(trades).toMatchObject([{ entryPrice: 15, exitPrice: 0, pnl: -15 }]);
  });

  it('scaled by volatility reads the last bar closed before the fill', () => {
    // Entry at the open of row 1 reads row 0 (range 20 %), the end at the close of row 2 reads row 2 (no range).
    expect(prices({ kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: 0.5 })).toEqual([
      expect.closeTo(110, 10),
      100,
    ]);
    const slippageAtr = Float64Array.of(4, 6, 8);
    expect(prices({ kind: 'volatility_scaled', reference: 'atr_pct', multiplier: 0.5 }, { slippageAtr })).toEqual([
      expect.closeTo(102, 10),
      expect.closeTo(96, 10),
    ]);
  });
});

describe('funding', () => {
  it('is paid once for each of 00, 08 and 16 UTC between the opens, by what was carried over them', () => {
    const hour = 3_600_000;
    const times = [6, 7, 8, 9, 16, 41].map((at) => Date.UTC(2024, 0, 1) + at * hour);
    const prices = [100, 100, 110, 100, 120, 130];
    const bars = barsFrom({ time: times, open: prices, high: prices, low: prices, close: prices }, '1h');
    const config = configOf({ fundingRate: 0.001 });
    const paid = (0.11 + 0.12 + 3 * 0.13) * 2;
    for (const side of [1, -1] as const) {
      const entries = [entryAt(bars, [0], { side, sizing: { mode: 'fixed', value: 2 } })];
      const { trades, totals, equity } = simulate(inputOf(bars, { entries, config }));
      expect(totals.fundingPaid).toBeCloseTo(side * paid, 12);
      expect(trades[0].pnl).toBeCloseTo(side * (60 - paid), 12);
      expect(equity[2]).toBeCloseTo(10_000 + side * (20 - 0.22), 9);
    }
  });

  it('is not paid on the bar of the entry', () => {
    const bars = barsOf([flat(100), flat(100), flat(100)], '1h', Date.UTC(2024, 0, 1, 7));
    const { totals } = simulate(
      inputOf(bars, { entries: [entryAt(bars, [0])], config: configOf({ fundingRate: 0.01 }) }),
    );
    expect(totals.fundingPaid).toBe(0);
  });
});

describe('liquidation', () => {
  const run = (rows: Ohlc[], side: 1 | -1, quantity: number, more: Partial<SimulationInput> = {}) => {
    const bars = barsOf([flat(100), ...rows]);
    const entries = [entryAt(bars, [0], { side, sizing: { mode: 'fixed', value: quantity } })];
    const config = configOf({ leverage: 10, initialBalance: 1_000, maintenanceMarginRate: 0.005 });
    return simulate(inputOf(bars, { entries, config, ...more }));
  };

  it('comes where equity meets the maintenance margin: (Σq·e − B)/(Σq·(1 − m)) for a long', () => {
    const { trades } = run([[100, 100, 50, 100]], 1, 100);
    expect(trades).toMatchObject([{ exitReason: 'liquidation', exitPrice: expect.closeTo(9_000 / 99.5, 9) }]);
  });

  it('comes at (B + Σq·e)/(Σq·(1 + m)) for a short', () => {
    const { trades } = run([[100, 150, 100, 100]], -1, 100);
    expect(trades).toMatchObject([{ exitReason: 'liquidation', exitPrice: expect.closeTo(11_000 / 100.5, 9) }]);
  });

  it('gives way to a stop that is nearer', () => {
    expect(run([[100, 100, 50, 100]], 1, 100, { risk: stopAt(5) }).trades).toMatchObject([
      { exitReason: 'stop_loss', exitPrice: 95 },
    ]);
  });

  it('gives way to a stop at the same price', () => {
    // 20 bought at 100 with 1,000: both the stop of 50 % and the liquidation stand at 50.
    const config = configOf({ leverage: 2, initialBalance: 1_000, maintenanceMarginRate: 0 });
    for (const keepOrders of [false, true])
      expect(run([[100, 100, 40, 60]], 1, 20, { risk: stopAt(50), config, keepOrders }).trades).toMatchObject([
        { exitReason: 'stop_loss', exitPrice: 50 },
      ]);
  });

  it('ends trading when it leaves exactly nothing, and the next signal makes no order', () => {
    const bars = barsOf([flat(100), [100, 100, 40, 60], flat(60), flat(60), flat(60)]);
    const entries = [entryAt(bars, [0, 2], { sizing: { mode: 'fixed', value: 20 } })];
    const config = configOf({ leverage: 2, initialBalance: 1_000, maintenanceMarginRate: 0 });
    const { finalBalance, counts } = simulate(inputOf(bars, { entries, config }));
    expect(finalBalance).toBe(0);
    expect(counts).toMatchObject({ entrySignals: 2, entriesFilled: 1, ordersRejected: { INSUFFICIENT_BALANCE: 0 } });
  });

  it('at an open cancels the pending orders that the same open has passed', () => {
    const bars = barsOf([flat(100), flat(100), flat(80), flat(80)]);
    const order = { type: 'limit', price: { kind: 'constant', value: 85 }, expireBars: 5 } as const;
    const sizing = { mode: 'fixed', value: 100 } as const;
    const entries = [entryAt(bars, [0], { sizing }), entryAt(bars, [1], { sizing, order })];
    const config = configOf({ leverage: 10, initialBalance: 1_000 });
    const { trades, counts } = simulate(inputOf(bars, { entries, config, maxConcurrentPositions: 2 }));
    expect(trades).toMatchObject([{ exitReason: 'liquidation', exitPrice: 80 }]);
    expect(counts).toMatchObject({ blockedMaxPositions: 1, ordersRejected: { INSUFFICIENT_BALANCE: 0 } });
  });

  it('at exactly the low of a bar comes after a nearer stop of a younger position, whose loss moves it', () => {
    // Two times 50 at 100 with 1,000: liquidated at 90. Stopped at 95, the younger leaves 750 to the older: 85.
    const bars = barsOf([flat(100), flat(100), flat(100), [100, 100, 90, 92]]);
    const price = { kind: 'column', values: Float64Array.of(60, 95, NaN, NaN) } as const;
    const { trades } = simulate(
      inputOf(bars, {
        entries: [entryAt(bars, [0, 1], { sizing: { mode: 'fixed', value: 50 } })],
        config: configOf({ leverage: 10, initialBalance: 1_000, maintenanceMarginRate: 0 }),
        risk: { ...NO_RISK, stopLoss: { mode: 'price', price, update: 'entry' } },
        maxConcurrentPositions: 2,
      }),
    );
    expect(trades.map(({ positionId, exitReason, exitPrice }) => [positionId, exitReason, exitPrice])).toEqual([
      [2, 'stop_loss', 95],
      [1, 'end_of_data', 92],
    ]);
  });

  it.each<[string, Ohlc, number]>([
    ['at an open', flat(70), 70],
    ['inside a bar', [100, 100, 60, 70], 8_000 / 89.55],
  ])('%s closes every position once, with their stops behind it', (_, bar, exitPrice) => {
    const bars = barsOf([flat(100), flat(100), flat(100), bar, flat(70)]);
    const entries = [entryAt(bars, [0, 1], { sizing: { mode: 'fixed', value: 45 } })];
    const config = configOf({ leverage: 10, initialBalance: 1_000 });
    const { trades } = simulate(inputOf(bars, { entries, config, risk: stopAt(20), maxConcurrentPositions: 2 }));
    expect(trades.map(({ positionId, exitReason }) => [positionId, exitReason])).toEqual([
      [1, 'liquidation'],
      [2, 'liquidation'],
    ]);
    for (const trade of trades) expect(trade.exitPrice).toBeCloseTo(exitPrice, 9);
  });

  it('fills at the open when the open has passed it, and ends trading when nothing is left', () => {
    const bars = barsOf([flat(100), flat(100), flat(80), flat(80), flat(80)]);
    const entries = [entryAt(bars, [0, 2, 3], { sizing: { mode: 'fixed', value: 100 } })];
    const config = configOf({ leverage: 10, initialBalance: 1_000 });
    const { trades, equity, counts } = simulate(inputOf(bars, { entries, config }));
    expect(trades).toMatchObject([{ exitRow: 2, exitReason: 'liquidation', exitMethod: 'gap', exitPrice: 80 }]);
    expect([...equity]).toEqual([1_000, 1_000, -1_000, -1_000, -1_000]);
    expect(counts).toMatchObject({ entrySignals: 3, entriesFilled: 1 });
  });

  it('closes every position, after the stops that are nearer', () => {
    const bars = barsOf([flat(100), flat(100), flat(100), [100, 100, 50, 60]]);
    const price = (value: number) => ({ kind: 'column', values: Float64Array.of(value, 60, 60, 60) }) as const;
    const entries = [entryAt(bars, [0, 1], { sizing: { mode: 'fixed', value: 45 } })];
    const config = configOf({ leverage: 10, initialBalance: 1_000 });
    const risk = { ...NO_RISK, stopLoss: { mode: 'price', price: price(99), update: 'entry' } as const };
    const { trades } = simulate(inputOf(bars, { entries, config, risk, maxConcurrentPositions: 2 }));
    expect(trades).toMatchObject([
      { exitReason: 'stop_loss', exitPrice: 99 },
      { exitReason: 'liquidation', exitPrice: expect.closeTo((45 * 100 - 955) / (45 * 0.995), 9) },
    ]);
  });
});
