// Fees per order: each fill against a sum done by hand, and sizes that leave room for them.
import { describe, expect, it } from 'vitest';
import type { FeeModel } from '../../../src/engine/config.ts';
import { affordableFactor } from '../../../src/engine/definitions/fees/affordable.ts';
import { feeOf, orderFeesOf } from '../../../src/engine/definitions/fees/orderFees.ts';
import type { SizingRule } from '../../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { diceOf } from '../../support/dice.ts';
import { barsOf, configOf, entryAt, exitAt, flatFee, inputOf, NO_RISK, takeProfit, type Ohlc } from './input.ts';

const flat = (price: number): Ohlc => [price, price, price, price];
const steps = (...prices: number[]) => barsOf(prices.map(flat));
/** Interactive Brokers, fixed: 0.005 per share, at least 1, at most 1 %. */
const PER_SHARE: Partial<FeeModel> = { perUnit: 0.005, minPerOrder: 1, maxRate: 0.01 };

const feesOf = (members: Partial<FeeModel>, rate = 0): FeeModel => ({ ...flatFee(rate), ...members });

/** The fees of a position of so many units that is bought and sold at a price. */
function feesAt(quantity: number, price: number, feeModel: FeeModel): readonly [number, number] {
  const bars = steps(price, price, price, price);
  const config = configOf({ initialBalance: 1e6, execution: { feeModel } });
  const entries = [entryAt(bars, [0], { sizing: { mode: 'fixed', value: quantity } })];
  const [trade] = simulate(inputOf(bars, { entries, exits: [exitAt(bars, [1])], config })).trades;
  return [trade.entryFee, trade.exitFee];
}

describe('an order pays', () => {
  it.each([
    // 100 · 0.005 = 0.5, which is less than 1
    [100, 30, 1],
    [1000, 30, 5],
    // 10 · 0.005 = 0.05, raised to 1, cut to 1 % of 20
    [10, 2, 0.2],
  ])('for %d at %d per share, at least 1 and at most 1 %%', (quantity, price, fee) => {
    expect(feesAt(quantity, price, feesOf(PER_SHARE))).toEqual([fee, fee]);
  });

  it('its amount and its rate together', () => {
    // 50 · 20 · 0.1 % + 3
    expect(feesAt(50, 20, feesOf({ perOrder: 3 }, 0.001))).toEqual([4, 4]);
  });

  it('the least fee in place of a rebate, and the greatest in place of a rate', () => {
    expect(feesAt(50, 20, feesOf({ minPerOrder: 0 }, -0.001))).toEqual([0, 0]);
    expect(feesAt(50, 20, feesOf({ maxPerOrder: 0.25 }, 0.001))).toEqual([0.25, 0.25]);
  });

  it('once per fill: each step of a ladder is an order', () => {
    const bars = barsOf([flat(100), flat(100), [100, 103, 100, 103], flat(103)]);
    const takeProfits = [takeProfit({ mode: 'percent', value: 1 }, 50), takeProfit({ mode: 'percent', value: 2 }, 50)];
    const config = configOf({ execution: { feeModel: feesOf({ perOrder: 2 }) } });
    const entries = [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 10 } })];
    const { trades, totals } = simulate(inputOf(bars, { entries, risk: { ...NO_RISK, takeProfits }, config }));
    // The fee of the entry is shared: 1 + 2 for each half.
    expect(trades.map(({ entryFee, exitFee, pnl }) => [entryFee, exitFee, pnl])).toEqual([
      [1, 2, 5 - 3],
      [1, 2, 10 - 3],
    ]);
    expect(totals.takerFees).toBe(6);
    expect(totals.feeKinds).toEqual({ rates: 0, perUnit: 0, perOrder: 6, toMinimum: 0, toMaximum: 0 });
  });

  it('kinds that add up to all fees', () => {
    const bars = steps(2, 2, 2, 30, 30);
    const config = configOf({ execution: { feeModel: feesOf({ ...PER_SHARE, perOrder: 0.1 }, 0.0002) } });
    const entries = [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 100 } })];
    const { totals } = simulate(inputOf(bars, { entries, exits: [exitAt(bars, [2])], config }));
    // In at 2: 0.04 + 0.5 + 0.1 = 0.64, raised to 1. Out at 30: 0.6 + 0.5 + 0.1.
    const { rates, perUnit, perOrder, toMinimum, toMaximum } = totals.feeKinds;
    expect([rates, perUnit, perOrder, toMinimum, toMaximum].map((fee) => Number(fee.toFixed(10)))).toEqual([
      0.64, 1, 0.2, 0.36, 0,
    ]);
    expect(totals.takerFees).toBeCloseTo(2.2, 10);
  });
});

/** The entry of a position with this sizing, of an account of 10,000 at a price of 100. */
function entered(sizing: SizingRule, members: Partial<FeeModel>, more: { rate?: number; leverage?: number } = {}) {
  const { rate = 0, leverage = 1 } = more;
  const bars = barsOf([flat(100), flat(100), [100, 100, 94, 95], flat(95)]);
  const config = configOf({ leverage, execution: { feeModel: feesOf(members, rate) } });
  const stopLoss = { mode: 'percent', value: 5 } as const;
  return simulate(inputOf(bars, { entries: [entryAt(bars, [0], { sizing })], risk: { ...NO_RISK, stopLoss }, config }));
}

describe('a size leaves room for fees per order', () => {
  it.each([
    // q · 100 + q · 0.005 = 10,000
    [{ perUnit: 0.005 }, 0, 10_000 / 100.005],
    // q · 100 + 3 = 10,000
    [{ perOrder: 3 }, 0, 99.97],
    // q · 100 + 25 = 10,000, since q · 0.005 is less
    [{ perUnit: 0.005, minPerOrder: 25 }, 0, 99.75],
    // q · 100 · 1.001 + 3 = 10,000
    [{ perOrder: 3 }, 0.001, 9997 / 100.1],
    // 1 % would be 99: q · 100 + 7 = 10,000
    [{ maxPerOrder: 7 }, 0.01, 99.93],
    // 2 % of the notional instead of 5 per unit
    [{ perUnit: 5, maxRate: 0.02 }, 0, 10_000 / 102],
  ])('percent_equity 100 with %j at a rate of %d', (members, rate, quantity) => {
    const { trades } = entered({ mode: 'percent_equity', value: 100 }, members, { rate });
    expect(trades[0].quantity).toBeCloseTo(quantity, 9);
    expect(trades[0].quantity * 100 + trades[0].entryFee).toBeCloseTo(10_000, 8);
  });

  it('with leverage pays margin and fee from the equity', () => {
    const { trades } = entered({ mode: 'percent_equity', value: 300 }, { perOrder: 100 }, { leverage: 3 });
    // q · 100 / 3 + 100 = 10,000
    expect(trades[0].quantity).toBeCloseTo(297, 9);
  });

  it('loses a percent of equity at the stop, the fees of both orders included', () => {
    const { trades } = entered({ mode: 'risk_percent', value: 1 }, { perUnit: 0.01, minPerOrder: 2 });
    // q · (5 + 0.01 + 0.01) would be 100 at 19.9, whose fees are below 2: q · 5 + 2 + 2 = 100
    expect(trades[0].quantity).toBeCloseTo(19.2, 9);
    expect(trades[0].pnl).toBeCloseTo(-100, 8);
  });

  it('is nothing where the funds do not pay the fee of the smallest order', () => {
    const { trades, counts } = entered({ mode: 'percent_equity', value: 0.01 }, { perOrder: 3 });
    expect(trades).toEqual([]);
    expect(counts.ordersRejected.ZERO_QTY).toBe(1);
  });
});

describe('the factor of several orders', () => {
  it('spends all funds and no more, or is 0', () => {
    const dice = diceOf(35);
    let scaledDown = 0;
    for (let run = 0; run < 300; run++) {
      const fees = orderFeesOf({
        perUnit: dice.pick([0, 0.01, 1]),
        perOrder: dice.pick([0, 5]),
        minPerOrder: dice.pick([0, 3, 20]),
        maxPerOrder: dice.pick([undefined, 40]),
        maxRate: dice.pick([undefined, 0.03]),
      })!;
      const orders = Array.from({ length: dice.whole(1, 8) }, () => ({
        quantity: dice.number(0.1, 300),
        price: dice.number(1, 200),
      }));
      const funds = dice.number(10, 20_000);
      const factor = affordableFactor(funds, orders, 0.5, fees, 0.001);
      const cost = (at: number): number =>
        orders.reduce(
          (sum, { quantity, price }) => sum + at * quantity * price * 0.5 + feeOf(fees, 0.001, at * quantity, price),
          0,
        );
      if (factor === 1) expect(cost(1)).toBeLessThanOrEqual(funds);
      else if (factor === 0) expect(cost(1e-12)).toBeGreaterThan(funds * (1 - 1e-6));
      else {
        expect(cost(factor) / funds).toBeCloseTo(1, 10);
        scaledDown++;
      }
    }
    expect(scaledDown).toBeGreaterThan(100);
  });
});
