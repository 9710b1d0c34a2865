// Rebalances of an allocation, computed by hand: when each order fills, how much of it, and the rows it writes.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import type { AllocationRule } from '../../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioResult } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { bitsAt, configOf, flatFee, INSTRUMENT, NO_RISK } from './input.ts';
import { barsAt, flatBars, instrumentOf, portfolioOf, tradesOf } from './portfolioInput.ts';

interface Asked {
  /** Rows of the first instrument at whose close the allocation rebalances. */
  readonly when: readonly number[];
  readonly values?: Readonly<Record<string, number>>;
  readonly by?: Readonly<Record<string, readonly number[]>>;
  readonly top?: number;
  readonly gross?: number | readonly number[];
  readonly fallback?: string;
  readonly bandPercent?: number;
  /** The side of the allocation; default: long. */
  readonly side?: 'short' | 'both';
}

/** An allocation of fixed percents by symbol, or of equal weights of the `top` largest. */
function allocationOf(bars: Bars, isFirst: boolean, asked: Asked): AllocationRule {
  const { when, values, by, top, gross = 100, fallback = null, bandPercent = 0, side } = asked;
  const leg = {
    by: by === undefined ? null : ({ kind: 'column', values: Float64Array.from(by[bars.symbol]) } as const),
    where: null,
    require: null,
    places: top === undefined ? ({ kind: 'eligible' } as const) : ({ kind: 'count', count: top } as const),
    keepWithin: null,
  };
  return {
    id: 'hold',
    when: bitsAt(bars.length, isFirst ? when : []),
    long: side === 'short' ? null : leg,
    short: side === undefined ? null : leg,
    weights: { mode: values === undefined ? 'equal' : 'fixed', by: null, values: values ?? null, maxPercent: null },
    gross:
      typeof gross === 'number'
        ? { kind: 'constant', value: gross }
        : { kind: 'column', values: Float64Array.from(gross) },
    fallback,
    bandPercent,
  };
}

function run(
  bars: readonly Bars[],
  asked: Asked,
  more: {
    readonly config?: Parameters<typeof configOf>[0];
    readonly instrument?: Partial<SimulationInput['instrument']>;
    readonly risk?: Partial<SimulationInput['risk']>;
    readonly end?: number;
  } = {},
): PortfolioResult {
  const instruments = bars.map((each, index) =>
    instrumentOf(each, {
      entries: [],
      exits: [],
      allocation: allocationOf(each, index === 0, asked),
      risk: { ...NO_RISK, ...more.risk },
      instrument: { ...INSTRUMENT, ...more.instrument, symbol: each.symbol },
    }),
  );
  return simulatePortfolio(portfolioOf(instruments, { config: configOf({ initialBalance: 1_000, ...more.config }) }));
}

const rounded = (number: number): number => Math.round(number * 1e6) / 1e6;
/** Of each trade: symbol by index, entry row and price, exit row and price, quantity, reason. */
const tradesIn = (result: PortfolioResult) =>
  tradesOf(result).map(({ instrument, side, entryRow, entryPrice, exitRow, exitPrice, quantity, exitReason }) => [
    'ABC'[instrument],
    entryRow,
    rounded(entryPrice),
    exitRow,
    rounded(exitPrice),
    rounded(side * quantity),
    exitReason,
  ]);
/** The weights at the end of each instant, in percent. */
const weightsIn = ({ weights, equity }: PortfolioResult): number[][] =>
  [...equity.keys()].map((at) => {
    const count = weights!.length / equity.length;
    return [...weights!.subarray(at * count, (at + 1) * count)].map((weight) => rounded(100 * weight));
  });

describe('a rebalance', () => {
  it('buys at each next open what the weights are worth at the close', () => {
    const result = run([flatBars('A', [10, 10, 20, 20]), flatBars('B', [5, 5, 5, 5])], {
      when: [0],
      values: { A: 60, B: 40 },
    });
    expect(tradesIn(result)).toEqual([
      ['A', 1, 10, 3, 20, 60, 'end_of_data'],
      ['B', 1, 5, 3, 5, 80, 'end_of_data'],
    ]);
    expect([...result.equity]).toEqual([1_000, 1_000, 1_600, 1_600]);
  });

  it('computes quantities at the fill price, and scales all additions where cash does not suffice', () => {
    // A opens at twice its close: 60 % of 1,000 buys 30. B costs 400 as well.
    const A = barsAt('A', { 0: [10, 10, 10, 10], 1: [20, 20, 20, 20], 2: [20, 20, 20, 20] });
    expect(tradesIn(run([A, flatBars('B', [5, 5, 5])], { when: [0], values: { A: 60, B: 40 } }))).toMatchObject([
      ['A', 1, 20, 2, 20, 30, 'end_of_data'],
      ['B', 1, 5, 2, 5, 80, 'end_of_data'],
    ]);
    // With a fee of 25 %, both cost 1,250: a factor of 0.8.
    const config = { execution: { feeModel: flatFee(0.25) } };
    expect(
      tradesIn(run([A, flatBars('B', [5, 5, 5])], { when: [0], values: { A: 60, B: 40 } }, { config })),
    ).toMatchObject([
      ['A', 1, 20, 2, 20, 24, 'end_of_data'],
      ['B', 1, 5, 2, 5, 64, 'end_of_data'],
    ]);
  });

  it('buys nothing from what rounding has left of the cash', () => {
    const [a, b] = ['A', 'B'].map((symbol) => flatBars(symbol, [97, 97, 97, 97, 97, 97]));
    const leftover = new Set<number>();
    for (let account = 1; account <= 200; account++) {
      const config = { initialBalance: 1_000 + account / 7, execution: { feeModel: flatFee(0.001 + account / 1e6) } };
      // All of the cash buys A, then B is wanted too.
      const by = { A: [1, 1, 1, 1, 1, 1], B: [NaN, NaN, 1, 1, 1, 1] };
      const result = run([a, b], { when: [0, 2], by, gross: [100, 100, 200, 200, 200, 200] }, { config });
      const [entry, ...others] = result.orders!.filter(({ purpose }) => purpose === 'entry');
      expect(entry).toMatchObject({ instrument: 0, status: 'filled' });
      expect(others.map(({ status, reason }) => [status, reason])).toEqual([['rejected', 'ZERO_QTY']]);
      leftover.add(Math.sign(config.initialBalance - entry.quantity! * 97 - entry.fee!));
    }
    // Of the accounts some have a little more than nothing left, and some a little less.
    expect([...leftover]).toEqual(expect.arrayContaining([-1, 1]));
  });

  it('rounds additions down to steps, and drops what is below the minimum notional', () => {
    const bars = [flatBars('A', [7, 7, 7]), flatBars('B', [5, 5, 5])];
    const stepped = run(bars, { when: [0], values: { A: 60, B: 40 } }, { instrument: { qtyStep: 10 } });
    expect(tradesIn(stepped).map(([symbol, , , , , quantity]) => [symbol, quantity])).toEqual([
      ['A', 80],
      ['B', 80],
    ]);
    const dropped = run(bars, { when: [0], values: { A: 60, B: 40 } }, { instrument: { minNotional: 500 } });
    expect(tradesIn(dropped).map(([symbol]) => symbol)).toEqual(['A']);
    expect(dropped.counts.ordersRejected.MIN_NOTIONAL).toBe(1);
  });

  it('sells before it buys, and writes a row for each part', () => {
    // 60/40 of 1,000; then A has doubled: of 1,600, A is to be worth 960 of 1,200, B 640 of 400.
    const A = flatBars('A', [10, 10, 20, 20, 20]);
    const result = run([A, flatBars('B', [5, 5, 5, 5, 5])], { when: [0, 2], values: { A: 60, B: 40 } });
    expect(tradesIn(result)).toEqual([
      ['A', 1, 10, 3, 20, 12, 'rebalance'],
      ['A', 1, 10, 4, 20, 48, 'end_of_data'],
      ['B', 1, 5, 4, 5, 128, 'end_of_data'],
    ]);
    expect(weightsIn(result)[3]).toEqual([60, 40]);
    const [first, second] = tradesOf(result);
    expect(first.positionId).toBe(second.positionId);
  });

  it('drops what is no longer selected, and averages what is bought in parts', () => {
    const A = flatBars('A', [10, 10, 20, 20, 20]);
    const B = flatBars('B', [10, 10, 10, 10, 10]);
    const by = { A: [2, 2, 1, 1, 1], B: [1, 1, 2, 2, 2] };
    expect(tradesIn(run([A, B], { when: [0, 2], by, top: 1 }))).toEqual([
      ['A', 1, 10, 3, 20, 100, 'dropped'],
      ['B', 3, 10, 4, 10, 200, 'end_of_data'],
    ]);
    // 50 % buys 50 at 10; at 20 the holding is 1,000 of 1,500, and 90 % asks for 1,350: 17.5 more, at 20.
    const gross = [50, 50, 90, 90, 90];
    const averaged = run([A], { when: [0, 2], values: { A: 100 }, gross });
    expect(tradesIn(averaged)).toEqual([['A', 1, rounded((500 + 350) / 67.5), 4, 20, 67.5, 'end_of_data']]);
  });

  it('lets additions wait for the slowest reduction', () => {
    const A = barsAt('A', {
      0: [10, 10, 10, 10],
      1: [10, 10, 10, 10],
      2: [10, 10, 10, 10],
      5: [10, 10, 10, 10],
      6: [10, 10, 10, 10],
    });
    const B = flatBars('B', [10, 10, 10, 10, 10, 10, 10]);
    const by = { A: [2, 2, 1, 1, 1], B: [1, 1, 2, 2, 2, 2, 2] };
    expect(tradesIn(run([A, B], { when: [0, 2], by, top: 1 }))).toEqual([
      ['A', 1, 10, 3, 10, 100, 'dropped'],
      ['B', 5, 10, 6, 10, 100, 'end_of_data'],
    ]);
  });

  it('cancels what is left of the rebalance before', () => {
    // B is to be bought at hour 1, but has no bar until hour 4; the second rebalance wants A again.
    const A = flatBars('A', [10, 10, 10, 10, 10, 10]);
    const B = barsAt('B', { 0: [10, 10, 10, 10], 4: [10, 10, 10, 10], 5: [10, 10, 10, 10] });
    const by = { A: [1, 1, 2, 2, 2, 2], B: [2, 2, 2] };
    const result = run([A, B], { when: [0, 2], by, top: 1 });
    expect(tradesIn(result)).toEqual([['A', 3, 10, 5, 10, 100, 'end_of_data']]);
    expect(result.orders!.map(({ status, instrument }) => [instrument, status])).toContainEqual([1, 'cancelled']);
  });

  it('keeps a holding that has no bar, and deducts it', () => {
    // At hour 2, A has no bar: it keeps its 500 of 1,000, and a place of two.
    const A = barsAt('A', { 0: [10, 10, 10, 10], 1: [10, 10, 10, 10], 3: [10, 10, 10, 10], 4: [10, 10, 10, 10] });
    const B = flatBars('B', [10, 10, 10, 10, 10]);
    const C = flatBars('C', [10, 10, 10, 10, 10]);
    const by = { A: [3, 3, 3, 3], B: [2, 2, 1, 1, 1], C: [1, 1, 2, 2, 2] };
    // The condition is that of the first instrument in the list.
    expect(
      tradesIn(run([B, A, C], { when: [0, 2], by, top: 2 })).map(([, entry, , exit, , quantity, reason]) => [
        entry,
        exit,
        quantity,
        reason,
      ]),
    ).toEqual([
      [1, 3, 50, 'dropped'],
      [1, 3, 50, 'end_of_data'],
      [3, 4, 50, 'end_of_data'],
    ]);
  });

  it('trades nothing while no weight is off by more than the band, and all once one is', () => {
    const B = flatBars('B', [10, 10, 10, 10, 10]);
    const values = { A: 50, B: 50 };
    const within = run([flatBars('A', [10, 10, 11, 11, 11]), B], { when: [0, 2], values, bandPercent: 5 });
    expect(tradesIn(within).map(([, , , , , , reason]) => reason)).toEqual(['end_of_data', 'end_of_data']);
    const beyond = run([flatBars('A', [10, 10, 13, 13, 13]), B], { when: [0, 2], values, bandPercent: 5 });
    expect(tradesIn(beyond).map(([, , , , , , reason]) => reason)).toEqual(['rebalance', 'end_of_data', 'end_of_data']);
    expect(weightsIn(beyond)[3]).toEqual([50, 50]);
  });

  it('does nothing while the gross is missing, and sells all for a gross of 0', () => {
    const A = flatBars('A', [10, 10, 10, 10, 10]);
    expect(tradesIn(run([A], { when: [0, 2], values: { A: 100 }, gross: [100, 100, NaN, 0, 0] }))).toMatchObject([
      ['A', 1, 10, 4, 10, 100, 'end_of_data'],
    ]);
    expect(tradesIn(run([A], { when: [0, 2], values: { A: 100 }, gross: [100, 100, 0, 0, 0] }))).toMatchObject([
      ['A', 1, 10, 3, 10, 100, 'dropped'],
    ]);
  });

  it('has the gross of the first symbol that knows one, whatever the order of the list', () => {
    const grossBy = { A: NaN, B: 60, C: 80 } as const;
    const bars = (['C', 'B', 'A'] as const).map((symbol) => ({ symbol, of: flatBars(symbol, [10, 10, 10]) }));
    const instruments = bars.map(({ symbol, of }, index) =>
      instrumentOf(of, {
        entries: [],
        exits: [],
        allocation: allocationOf(of, index === 0, { when: [0], gross: grossBy[symbol] }),
      }),
    );
    const result = simulatePortfolio(portfolioOf(instruments, { config: configOf({ initialBalance: 1_000 }) }));
    expect(weightsIn(result)[1]).toEqual([20, 20, 20]);
  });

  it('sells short', () => {
    const A = flatBars('A', [10, 10, 8, 8]);
    expect(tradesIn(run([A], { when: [0], values: { A: 50 }, side: 'short' }))).toEqual([
      ['A', 1, 10, 3, 8, -50, 'end_of_data'],
    ]);
  });

  it('changes the side of a holding by closing it first', () => {
    const [A, B] = [flatBars('A', [10, 10, 10, 10, 10]), flatBars('B', [10, 10, 10, 10, 10])];
    const by = { A: [2, 2, 1, 1, 1], B: [1, 1, 2, 2, 2] };
    expect(tradesIn(run([A, B], { when: [0, 2], by, top: 1, side: 'both' }))).toEqual([
      ['A', 1, 10, 3, 10, 50, 'dropped'],
      ['B', 1, 10, 3, 10, -50, 'dropped'],
      ['A', 3, 10, 4, 10, -50, 'end_of_data'],
      ['B', 3, 10, 4, 10, 50, 'end_of_data'],
    ]);
  });

  it('fills at the close under bar_close', () => {
    const A = barsAt('A', { 0: [9, 9, 9, 10], 1: [10, 12, 10, 12], 2: [12, 12, 12, 12] });
    const config = { execution: { orderTiming: 'bar_close' as const } };
    expect(tradesIn(run([A], { when: [0, 1], values: { A: 50 } }, { config }))).toMatchObject([
      ['A', 0, 10, 1, 12, rounded(50 - 550 / 12), 'rebalance'],
      ['A', 0, 10, 2, 12, rounded(550 / 12), 'end_of_data'],
    ]);
  });

  it('pays slippage and fees by the roles of entries and exits', () => {
    const config = {
      execution: {
        entryOrderRole: 'maker' as const,
        feeModel: {
          kind: 'tiered_maker_taker' as const,
          tiers: [{ minCumulativeNotional: 0, makerRate: 0.01, takerRate: 0.02 }],
        },
      },
    };
    const [half] = tradesOf(
      run([flatBars('A', [10, 10, 10, 10])], { when: [0, 1], values: { A: 50 }, gross: [100, 50, 50, 50] }, { config }),
    );
    // 500 bought for a fee of 5; at equity 995, half of 497.5 stays.
    expect(half).toMatchObject({ exitReason: 'rebalance', quantity: rounded(50 - 24.875) });
    expect(rounded(half.entryFee)).toBe(rounded((5 * half.quantity) / 50));
    expect(rounded(half.exitFee)).toBe(rounded(0.02 * 10 * half.quantity));
  });

  it('makes no order on the last bar, and expires what has no bar left', () => {
    const A = flatBars('A', [10, 10, 10]);
    const result = run([A], { when: [2], values: { A: 100 } });
    expect(tradesIn(result)).toEqual([]);
    expect(result.orders).toMatchObject([{ status: 'expired', purpose: 'entry' }]);
  });
});

describe('the risk of a holding', () => {
  const stopLoss = { mode: 'percent', value: 20 } as const;

  it('has its stop below the average entry price', () => {
    // 50 at 10, then 25 at 20 (1,500 × 2/3 … see the gross): average 13.33, stop 10.67.
    const A = barsAt('A', {
      0: [10, 10, 10, 10],
      1: [10, 10, 10, 10],
      2: [10, 20, 10, 20],
      3: [20, 20, 20, 20],
      4: [20, 20, 5, 5],
    });
    const [trade] = tradesOf(
      run([A], { when: [0, 2], values: { A: 100 }, gross: [50, 50, 100, 100, 100] }, { risk: { stopLoss } }),
    );
    expect(rounded(trade.entryPrice)).toBe(rounded(1_000 / 75));
    expect([trade.exitReason, rounded(trade.exitPrice)]).toEqual(['stop_loss', rounded((0.8 * 1_000) / 75)]);
  });

  it('keeps a holding that it closes out until the next rebalance', () => {
    const A = barsAt('A', {
      0: [10, 10, 10, 10],
      1: [10, 10, 5, 10],
      2: [10, 10, 10, 10],
      3: [10, 10, 10, 10],
      4: [10, 10, 10, 10],
      5: [10, 10, 10, 10],
    });
    const result = run([A], { when: [0, 3], values: { A: 100 } }, { risk: { stopLoss } });
    expect(tradesIn(result)).toMatchObject([
      ['A', 1, 10, 1, 8, 100, 'stop_loss'],
      ['A', 4, 10, 5, 10, 80, 'end_of_data'],
    ]);
  });

  it('does not buy back what a time stop closes at the open of the rebalance', () => {
    const A = flatBars('A', [10, 10, 10, 10, 10, 10]);
    const result = run(
      [A],
      { when: [0, 2], values: { A: 50 }, gross: [100, 100, 100, 100, 100, 100] },
      { risk: { timeStop: { maxBars: 2 } } },
    );
    expect(tradesIn(result)).toEqual([['A', 1, 10, 3, 10, 50, 'time_stop']]);
  });
});

describe('the money of a rebalance', () => {
  it('is the same for one instrument as buying and holding it', () => {
    const prices = [10, 11, 9, 14, 13, 20, 18];
    const result = run([flatBars('A', prices)], { when: [0], values: { A: 100 } });
    expect([...result.equity].map(rounded)).toEqual(
      prices.map((price, at) => (at === 0 ? 1_000 : rounded((1_000 / 11) * price))),
    );
  });
});
