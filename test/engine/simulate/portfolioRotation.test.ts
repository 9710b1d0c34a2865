// Rotations by hand: how the orders of an allocation fill, and what becomes of its holdings.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import type { AllocationRule } from '../../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { bitsAt, configOf, constant, flatFee, INSTRUMENT, NO_RISK, type Ohlc } from './input.ts';
import { barsAt, flatBars, instrumentOf, portfolioOf, summaryOf, tradesOf } from './portfolioInput.ts';

/** All instruments in equal parts, rebalanced at the closes of these rows. */
function equalParts(bars: Bars, rows: readonly number[], more: Partial<AllocationRule> = {}): AllocationRule {
  return {
    id: 'rotate',
    when: bitsAt(bars.length, rows),
    long: { by: null, where: null, require: null, places: { kind: 'eligible' }, keepWithin: null },
    short: null,
    weights: { mode: 'equal', by: null, values: null, maxPercent: null },
    gross: constant(100),
    fallback: null,
    bandPercent: 0,
    ...more,
  };
}

type Holding = readonly [Bars, readonly number[], Partial<AllocationRule>?, Partial<SimulationInput>?];
const rotate = (holdings: readonly Holding[], more: Partial<PortfolioInput> = {}) =>
  simulatePortfolio(
    portfolioOf(
      holdings.map(([bars, rows, allocation, input]) =>
        instrumentOf(bars, { ...input, allocation: equalParts(bars, rows, allocation) }),
      ),
      more,
    ),
  );
const quantitiesOf = (result: ReturnType<typeof rotate>) =>
  tradesOf(result).map(({ instrument, quantity, exitReason }) => [instrument, Number(quantity.toFixed(6)), exitReason]);
/** Only instruments with a true condition on these rows. */
const onlyOn = (bars: Bars, rows: readonly number[]): Partial<AllocationRule> => ({
  long: { by: null, where: bitsAt(bars.length, rows), require: null, places: { kind: 'eligible' }, keepWithin: null },
});

describe('a rebalance', () => {
  it('sells first, and buys from what it has sold, at the next open', () => {
    const a = flatBars('A', [100, 100, 100, 120, 120, 120]);
    const b = flatBars('B', [50, 50, 50, 50, 50, 50]);
    const result = rotate([
      [b, [1, 3]],
      [a, [1, 3]],
    ]);
    // 10,000 buys 50 A and 100 B at hour 2. At 11,000, 5,500 each: 4 1/6 A are sold, 10 B bought at hour 4.
    expect(quantitiesOf(result)).toEqual([
      [1, 4.166667, 'rebalance'],
      [0, 110, 'end_of_data'],
      [1, 45.833333, 'end_of_data'],
    ]);
    expect(result.finalBalance).toBeCloseTo(11_000, 9);
    expect(result.counts.entriesFilled).toBe(3);
    expect([...result.weights!.subarray(8, 10)].map((weight) => weight.toFixed(9))).toEqual([
      '0.500000000',
      '0.500000000',
    ]);
  });

  it('closes what it drops, and averages the prices of what it adds to', () => {
    const a = flatBars('A', [100, 100, 100, 100, 50, 50, 60]);
    const b = flatBars('B', [10, 10, 10, 10, 10, 10, 10]);
    const result = rotate([
      [a, [1, 3, 4], onlyOn(a, [1, 3, 4])],
      [b, [1, 3, 4], onlyOn(b, [1, 3])],
    ]);
    // Half each at hour 2: 50 A and 500 B. B is dropped at hour 5, and 5,000 more of A bought at 50: 150 at 66 2/3.
    expect(quantitiesOf(result)).toEqual([
      [1, 500, 'dropped'],
      [0, 150, 'end_of_data'],
    ]);
    const last = tradesOf(result)[1];
    expect(last.entryPrice).toBeCloseTo(200 / 3, 9);
    expect(last.pnl).toBeCloseTo(150 * 60 - 10_000, 9);
    expect(last.maePct).toBeCloseTo(50 / (200 / 3) - 1, 9);
  });

  it('buys nothing before its slowest sale', () => {
    const a = barsAt('A', Object.fromEntries([0, 1, 2, 3, 6, 7].map((hour) => [hour, [100, 100, 100, 100] as Ohlc])));
    const b = flatBars(
      'B',
      Array.from({ length: 8 }, () => 50),
    );
    const result = rotate([
      [a, [1, 3], onlyOn(a, [1])],
      [b, [1, 3], onlyOn(b, [3])],
    ]);
    // A is sold at hour 6, its next bar; B is bought there too, with what that gave.
    expect(summaryOf(result)).toEqual([
      [0, 2, 100, 4, 100, 'dropped'],
      [1, 6, 50, 7, 50, 'end_of_data'],
    ]);
    expect(tradesOf(result)[1].quantity).toBeCloseTo(200, 9);
  });

  it('scales all additions by one factor where cash does not suffice', () => {
    const a = flatBars('A', [100, 100, 100, 100]);
    const b = flatBars('B', [50, 50, 50, 50]);
    const fees = configOf({ execution: { feeModel: flatFee(0.01) } });
    const result = rotate(
      [
        [a, [1]],
        [b, [1], {}, { instrument: { ...INSTRUMENT, symbol: 'B', qtyStep: 1 } }],
      ],
      { config: fees },
    );
    expect(tradesOf(result)[0].quantity).toBeCloseTo(50 / 1.01, 9);
    // 99.0099 rounded down to a whole step, which is not redistributed.
    expect(tradesOf(result)[1].quantity).toBe(99);
  });

  it('drops an addition below the minimum notional, and makes a reduction of any size', () => {
    const a = flatBars('A', [100, 100, 100, 101, 101, 101]);
    const b = flatBars('B', [50, 50, 50, 50, 50, 50]);
    const input = { instrument: { ...INSTRUMENT, symbol: 'B', minNotional: 100 } };
    const result = rotate([
      [a, [1, 3]],
      [b, [1, 3], {}, input],
    ]);
    expect(quantitiesOf(result)).toEqual([
      [0, 0.247525, 'rebalance'],
      [0, 49.752475, 'end_of_data'],
      [1, 100, 'end_of_data'],
    ]);
    expect(result.byInstrument[1].counts.ordersRejected.MIN_NOTIONAL).toBe(1);
  });

  it('trades all or nothing by its band', () => {
    const a = flatBars('A', [100, 100, 100, 120, 120, 120]);
    const b = flatBars('B', [50, 50, 50, 50, 50, 50]);
    // 6,000 of 11,000 is 4.5 % above one half.
    const within = (bandPercent: number) =>
      rotate([
        [a, [1, 3], { bandPercent }],
        [b, [1, 3], { bandPercent }],
      ]).counts.entriesFilled;
    expect(within(5)).toBe(2);
    expect(within(4)).toBe(3);
  });

  it('cancels what is left of the one before', () => {
    const a = barsAt('A', Object.fromEntries([0, 1, 2, 3, 7, 8].map((hour) => [hour, [100, 100, 100, 100] as Ohlc])));
    const b = flatBars(
      'B',
      Array.from({ length: 9 }, () => 50),
    );
    // At hour 3 A is dropped for B, which waits for the sale at hour 7; at hour 4 nothing but A is wanted.
    const result = rotate([
      [a, [1, 3], onlyOn(a, [1])],
      [b, [1, 3, 4], onlyOn(b, [3])],
    ]);
    expect(summaryOf(result)).toEqual([[0, 2, 100, 5, 100, 'end_of_data']]);
    expect(result.orders!.filter(({ instrument }) => instrument === 1).map(({ status }) => status)).toEqual([
      'cancelled',
    ]);
  });

  it('turns a holding over in two steps', () => {
    const a = flatBars('A', [100, 100, 100, 100, 100, 100]);
    const side = (rows: readonly number[]): AllocationRule['long'] => ({
      ...equalParts(a, []).long!,
      where: bitsAt(6, rows),
    });
    const result = rotate([[a, [1, 3], { long: side([1]), short: side([3]) }]]);
    expect(
      tradesOf(result).map(({ side: held, entryRow, exitRow, exitReason }) => [held, entryRow, exitRow, exitReason]),
    ).toEqual([
      [1, 2, 4, 'dropped'],
      [-1, 4, 5, 'end_of_data'],
    ]);
  });

  it('fills at its own close under bar_close', () => {
    const a = flatBars('A', [100, 110, 120, 130]);
    const result = rotate([[a, [1, 2]]], { config: configOf({ execution: { orderTiming: 'bar_close' } }) });
    expect(summaryOf(result)).toEqual([[0, 1, 110, 3, 130, 'end_of_data']]);
  });
});

describe('a holding', () => {
  it('has its stop around the average price, and stays out until the next rebalance', () => {
    const a = barsAt('A', {
      0: [100, 100, 100, 100],
      1: [100, 100, 100, 100],
      2: [100, 100, 100, 100],
      3: [80, 80, 80, 80],
      4: [80, 80, 80, 80],
      5: [80, 80, 80, 80],
      6: [80, 80, 70, 75],
      7: [75, 75, 75, 75],
      8: [75, 75, 75, 75],
    });
    const b = flatBars('B', [50, 50, 50, 50, 50, 50, 50, 50, 50]);
    const risk = { risk: { ...NO_RISK, stopLoss: { mode: 'percent', value: 21 } } } as const;
    const result = rotate([
      [a, [1, 3], {}, risk],
      [b, [1, 3], {}, risk],
    ]);
    // 50 A at 100. 9,000 at hour 3: 4,500 each, so that 6.25 more are bought at 80 and 10 of B sold.
    const average = (50 * 100 + 6.25 * 80) / 56.25;
    const stopped = tradesOf(result).find(({ exitReason }) => exitReason === 'stop_loss')!;
    expect(stopped).toMatchObject({ instrument: 0, exitRow: 6 });
    expect(stopped.exitPrice).toBeCloseTo(average * 0.79, 9);
    expect(stopped.quantity).toBeCloseTo(56.25, 9);
    expect(result.openPositions[7]).toBe(1);
  });

  it('without a bar keeps quantity and weight', () => {
    const a = barsAt('A', Object.fromEntries([0, 1, 2, 6].map((hour) => [hour, [100, 100, 100, 100] as Ohlc])));
    const b = flatBars('B', [50, 50, 50, 60, 60, 60, 60]);
    const result = rotate([
      [a, [1]],
      [b, [1, 3]],
    ]);
    // B keeps its 6,000 of 11,000: what A holds is deducted from the gross.
    expect(quantitiesOf(result)).toEqual([
      [0, 50, 'end_of_data'],
      [1, 100, 'end_of_data'],
    ]);
  });
});
