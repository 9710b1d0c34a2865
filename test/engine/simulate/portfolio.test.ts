// Portfolios by hand: equity and funds of one account, calendars that differ, late and early instruments, liquidation.
import { describe, expect, it } from 'vitest';
import { simulatePortfolio } from '../../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { configOf, entryAt, exitAt, FLAT, flatFee, NO_RISK, pending, stateCondition } from './input.ts';
import { STATE_FIELDS } from '../../../src/engine/language/grammar/ast.ts';
import { barsAt, flatBars, instrumentOf, portfolioOf, summaryOf, tradesOf } from './portfolioInput.ts';

describe('equity at a fill', () => {
  it('has the others at their open for a fill at the open', () => {
    const a = barsAt('A', { 0: [100, 100, 100, 100], 1: [100, 100, 100, 100], 2: [110, 150, 90, 140] });
    const b = barsAt('B', { 0: [50, 50, 50, 50], 1: [50, 50, 50, 50], 2: [50, 50, 50, 50] });
    const result = simulatePortfolio(
      portfolioOf([
        instrumentOf(a, { entries: [entryAt(a, [0], { sizing: { mode: 'fixed', value: 10 } })] }),
        instrumentOf(b, { entries: [entryAt(b, [1], { sizing: { mode: 'percent_equity', value: 50 } })] }),
      ]),
    );
    // 10,000 + 10 · (110 − 100) = 10,100; half of it at 50.
    expect(tradesOf(result).find(({ instrument }) => instrument === 1)!.quantity).toBeCloseTo(101, 9);
    // At the close of hour 2 both are sold, A at 140.
    expect(result.finalBalance).toBeCloseTo(10_400, 9);
  });

  it('has the others at their close for a fill at the close', () => {
    const a = barsAt('A', { 0: [100, 100, 100, 100], 1: [110, 150, 90, 140], 2: [140, 140, 140, 140] });
    const b = flatBars('B', [50, 50, 50]);
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0], { sizing: { mode: 'fixed', value: 10 } })] }),
          instrumentOf(b, { entries: [entryAt(b, [1], { sizing: { mode: 'percent_equity', value: 50 } })] }),
        ],
        { config: configOf({ execution: { orderTiming: 'bar_close' } }) },
      ),
    );
    // 10,000 + 10 · (140 − 100) = 10,400.
    expect(tradesOf(result).find(({ instrument }) => instrument === 1)!.quantity).toBeCloseTo(104, 9);
  });

  it('has the last close of an instrument without a bar, and fills its market order at its next bar', () => {
    const a = barsAt('A', { 0: [100, 100, 100, 100], 1: [100, 120, 100, 120], 5: [130, 130, 130, 130] });
    const b = flatBars('B', [50, 50, 50, 50, 50, 50]);
    const result = simulatePortfolio(
      portfolioOf([
        instrumentOf(a, {
          entries: [entryAt(a, [0], { sizing: { mode: 'fixed', value: 10 } })],
          exits: [exitAt(a, [1])],
        }),
        instrumentOf(b, {
          entries: [entryAt(b, [2], { sizing: { mode: 'percent_equity', value: 50 } })],
          exits: [exitAt(b, [3])],
        }),
      ]),
    );
    expect(summaryOf(result)).toEqual([
      [1, 3, 50, 4, 50, 'signal'],
      [0, 1, 100, 2, 130, 'signal'],
    ]);
    expect(tradesOf(result)[0].quantity).toBeCloseTo(102, 9);
    expect([...result.equity]).toEqual([10_000, 10_200, 10_200, 10_200, 10_200, 10_300]);
    expect([...result.openPositions]).toEqual([0, 1, 1, 2, 1, 0]);
    expect([...result.grossExposure]).toEqual([0, 1200, 1200, 1200 + 5100, 1200, 0]);
    expect([...result.weights!.subarray(6, 8)]).toEqual([1200 / 10_200, 5100 / 10_200]);
    expect(result.byInstrument.map(({ instantsHeld }) => instantsHeld)).toEqual([4, 1]);
  });
});

describe('the account', () => {
  it('takes funds in the order of decision, whatever the list says', () => {
    // A is ordered at hour 0 and fills at hour 2, where it has its next bar; B is ordered at hour 1.
    const a = barsAt('A', { 0: [100, 100, 100, 100], 2: [100, 100, 100, 100] });
    const b = flatBars('B', [100, 100, 100]);
    const all = { sizing: { mode: 'fixed_cash', value: 6000 } } as const;
    const result = simulatePortfolio(
      portfolioOf([
        instrumentOf(b, { entries: [entryAt(b, [1], all)] }),
        instrumentOf(a, { entries: [entryAt(a, [0], all)] }),
      ]),
    );
    expect(summaryOf(result)).toEqual([[1, 1, 100, 1, 100, 'end_of_data']]);
    expect(result.byInstrument[0].counts.ordersRejected.INSUFFICIENT_BALANCE).toBe(1);
  });

  it('sees what an earlier instrument has taken inside a bar, and not what it has freed', () => {
    // A holds 60 of 100; its stop at 95 frees 5,700 inside the bar in which the limit order of B is reached.
    const a = barsAt('A', { 0: [100, 100, 100, 100], 1: [100, 100, 100, 100], 2: [100, 100, 90, 92] });
    const b = barsAt('B', { 0: [50, 50, 50, 50], 1: [50, 50, 50, 50], 2: [50, 50, 40, 45] });
    const withSizeOfB = (value: number) =>
      simulatePortfolio(
        portfolioOf([
          instrumentOf(a, {
            entries: [entryAt(a, [0], { sizing: { mode: 'fixed', value: 60 } })],
            risk: { ...NO_RISK, stopLoss: { mode: 'percent', value: 5 } },
          }),
          instrumentOf(b, {
            entries: [entryAt(b, [0], { sizing: { mode: 'fixed_cash', value }, ...pending('limit', 45) })],
          }),
        ]),
      );
    // After the opens 4,000 are free, and the stop has lost 300 of them.
    expect(summaryOf(withSizeOfB(3_690))).toEqual([
      [0, 1, 100, 2, 95, 'stop_loss'],
      [1, 2, 45, 2, 45, 'end_of_data'],
    ]);
    const contested = withSizeOfB(3_710);
    expect(contested.contestedFunds).toBe(1);
    expect(contested.byInstrument[1].counts.ordersRejected.INSUFFICIENT_BALANCE).toBe(1);
    // What no order of fills could pay is not contested.
    expect(withSizeOfB(9_900).contestedFunds).toBe(0);
  });

  it('sees the margin that an earlier instrument has taken inside the same bar', () => {
    const bars = (symbol: string) => barsAt(symbol, { 0: [50, 50, 50, 50], 1: [50, 50, 40, 45], 2: [45, 45, 45, 45] });
    const a = bars('A');
    const b = bars('B');
    const limit = { sizing: { mode: 'fixed_cash', value: 6000 }, ...pending('limit', 45) } as const;
    const result = simulatePortfolio(
      portfolioOf([
        instrumentOf(a, { entries: [entryAt(a, [0], limit)] }),
        instrumentOf(b, { entries: [entryAt(b, [0], limit)] }),
      ]),
    );
    expect(summaryOf(result)).toEqual([[0, 1, 45, 2, 45, 'end_of_data']]);
    expect(result.contestedFunds).toBe(0);
    expect(result.byInstrument[1].counts.ordersRejected.INSUFFICIENT_BALANCE).toBe(1);
  });

  it('is read by state as that of all instruments, positions as those of one', () => {
    const a = flatBars('A', [100, 100, 110, 110, 110, 110]);
    const b = flatBars('B', [50, 50, 50, 50, 50, 50]);
    const seen: Record<string, number>[] = [];
    const fields = ['open_positions_count', 'account_equity', 'account_used_margin', 'position_exists'] as const;
    const more = ['account_gross_exposure', 'account_drawdown', 'trades_count_total'] as const;
    const condition = stateCondition((row, state) => {
      const values = [...fields, ...more].map((field) => [field, state.read(STATE_FIELDS.indexOf(field))]);
      if (row >= 2) seen.push(Object.fromEntries(values) as Record<string, number>);
      return 0;
    });
    simulatePortfolio(
      portfolioOf([
        instrumentOf(a, {
          entries: [entryAt(a, [0], { sizing: { mode: 'fixed', value: 10 } })],
          exits: [exitAt(a, [3])],
        }),
        instrumentOf(b, { entries: [entryAt(b, [], { signal: { kind: 'stateful', condition } })] }),
      ]),
    );
    expect(seen[0]).toEqual({
      open_positions_count: 1,
      account_equity: 10_100,
      account_used_margin: 1_000,
      position_exists: 0,
      account_gross_exposure: 1_100,
      account_drawdown: 0,
      trades_count_total: 0,
    });
    expect(seen[2]).toMatchObject({ open_positions_count: 0, account_equity: 10_100, trades_count_total: 0 });
  });
});

describe('an instrument', () => {
  const days = (count: number, from: number, symbol: string) =>
    barsAt(
      symbol,
      Object.fromEntries(
        Array.from({ length: count }, (_, day) => [(from + day) * 24, [100, 100, 100, 100 + day]] as const),
      ),
    );

  it('joins when its data begins, and is closed at its last bar when that ends more than 7 days early', () => {
    const a = days(20, 0, 'A');
    const b = days(5, 3, 'B');
    const result = simulatePortfolio(
      portfolioOf([
        instrumentOf(a, { entries: [entryAt(a, [9])] }),
        instrumentOf(b, {
          entries: [
            entryAt(b, [0]),
            entryAt(b, [4], { id: 'late' }),
            entryAt(b, [3], { id: 'rests', side: 1, ...pending('limit', 50) }),
          ],
          maxConcurrentPositions: 3,
        }),
      ]),
    );
    expect(summaryOf(result)).toEqual([
      [1, 1, 100, 4, 104, 'end_of_data'],
      [0, 10, 100, 19, 119, 'end_of_data'],
    ]);
    // The market order of the last bar and the resting one: neither has a bar to fill on.
    expect(result.byInstrument[1].counts.ordersExpired).toBe(2);
    expect([...result.equity.subarray(6, 9)]).toEqual([10_003, 10_004, 10_004]);
    expect(result.openPositions[7]).toBe(0);
  });

  it('is closed with the others when its data ends at most 7 days early', () => {
    const a = days(15, 0, 'A');
    const b = days(8, 0, 'B');
    const entries = { entries: [entryAt(a, [0]), entryAt(a, [14], { id: 'late' })] };
    const result = simulatePortfolio(
      portfolioOf([instrumentOf(a, entries), instrumentOf(b, { entries: [entryAt(b, [0])] })]),
    );
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 14, 114, 'end_of_data'],
      [1, 1, 100, 7, 107, 'end_of_data'],
    ]);
    expect(result.openPositions[13]).toBe(2);
  });

  it('is closed oldest position first where the data of several ends, whatever the list', () => {
    const [a, b, c] = [days(5, 0, 'A'), days(5, 0, 'B'), days(20, 0, 'C')];
    const result = simulatePortfolio(
      portfolioOf([
        instrumentOf(a, { entries: [entryAt(a, [2])] }),
        instrumentOf(b, { entries: [entryAt(b, [0])] }),
        instrumentOf(c),
      ]),
    );
    expect(summaryOf(result)).toEqual([
      [1, 1, 100, 4, 104, 'end_of_data'],
      [0, 3, 100, 4, 104, 'end_of_data'],
    ]);
  });

  it('without bars in the range changes nothing', () => {
    const a = flatBars('A', [100, 101, 102]);
    const none = barsAt('NONE', {});
    const alone = simulatePortfolio(portfolioOf([instrumentOf(a, { entries: [entryAt(a, [0])] })]));
    const both = simulatePortfolio(
      portfolioOf([
        instrumentOf(none, { entries: [entryAt(none, [])] }),
        instrumentOf(a, { entries: [entryAt(a, [0])] }),
      ]),
    );
    expect(both.equity).toEqual(alone.equity);
    expect(both.trades).toEqual(alone.trades);
    expect([...both.tradeInstruments]).toEqual([1]);
  });
});

describe('funding', () => {
  it('is paid by each instrument from its own previous bar on', () => {
    const hours = [7, 8, 9, 17];
    const rows = (open: number) => Object.fromEntries(hours.map((hour) => [hour, [open, open, open, open] as const]));
    const a = barsAt('A', rows(100));
    const b = barsAt('B', Object.fromEntries([7, 8, 9, 10, 16, 17].map((hour) => [hour, [50, 50, 50, 50] as const])));
    const one = { sizing: { mode: 'fixed', value: 10 } } as const;
    const result = simulatePortfolio(
      portfolioOf(
        [instrumentOf(a, { entries: [entryAt(a, [1], one)] }), instrumentOf(b, { entries: [entryAt(b, [1], one)] })],
        { config: configOf({ fundingRate: 0.001 }) },
      ),
    );
    // Of A at its open at 17, of B at 16.
    expect(result.byInstrument.map(({ fundingPaid }) => fundingPaid)).toEqual([1, 0.5]);
    expect(result.equity[result.equity.length - 1]).toBeCloseTo(10_000 - 1.5, 9);
    expect([...result.equity.subarray(-2)].map((equity) => Math.round(equity * 10) / 10)).toEqual([9_999.5, 9_998.5]);
  });
});

describe('liquidation with several instruments', () => {
  const config = configOf({ leverage: 10, maintenanceMarginRate: 0.01, execution: { feeModel: flatFee(0) } });
  const size = (value: number) => ({ sizing: { mode: 'fixed', value } }) as const;

  it('is tested at the opens and closes all at them, oldest position first', () => {
    const a = barsAt('A', {
      0: [100, 100, 100, 100],
      1: [100, 100, 80, 100],
      2: [100, 100, 100, 100],
      3: [85, 85, 85, 85],
    });
    const b = flatBars('B', [100, 100, 100, 100]);
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0], size(700))] }),
          instrumentOf(b, { entries: [entryAt(b, [0], size(10))] }),
        ],
        { config },
      ),
    );
    // 70,000 of A at 10,000 of equity: 80 inside hour 1 is below any level, and is not seen. The open of 85 is.
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 3, 85, 'liquidation'],
      [1, 1, 100, 3, 100, 'liquidation'],
    ]);
    expect(tradesOf(result).map(({ exitMethod, positionId }) => [exitMethod, positionId])).toEqual([
      ['gap', 1],
      ['gap', 2],
    ]);
    expect(result.finalBalance).toBeCloseTo(10_000 - 700 * 15, 9);
  });

  it('is tested at the closes, before the orders of the close', () => {
    const a = barsAt('A', { 0: [100, 100, 100, 100], 1: [100, 100, 85, 86], 2: [100, 100, 100, 100] });
    const b = flatBars('B', [100, 100, 100]);
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0], size(700))], exits: [exitAt(a, [1])] }),
          instrumentOf(b, { entries: [entryAt(b, [0], size(10))] }),
        ],
        { config },
      ),
    );
    // 10,000 − 700 · 14 = 200, below 1 % of 61,200.
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 1, 86, 'liquidation'],
      [1, 1, 100, 1, 100, 'liquidation'],
    ]);
  });

  it('closes an instrument without a bar at its next open', () => {
    const a = barsAt('A', {
      0: [100, 100, 100, 100],
      1: [100, 100, 100, 100],
      2: [86, 86, 86, 86],
      4: [86, 86, 86, 86],
    });
    const b = barsAt('B', { 0: [100, 100, 100, 100], 1: [100, 100, 100, 100], 4: [97, 120, 97, 110] });
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0], size(700))] }),
          instrumentOf(b, { entries: [entryAt(b, [0], size(10))], exits: [exitAt(b, [2])] }),
        ],
        { config },
      ),
    );
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 2, 86, 'liquidation'],
      [1, 1, 100, 2, 97, 'liquidation'],
    ]);
  });

  it('is not tested at an instant at which no holding has a bar', () => {
    const rows = { 0: FLAT, 2: [120, 120, 120, 120], 3: [120, 120, 120, 120] } as const;
    const [a, b, silent] = [barsAt('A', rows), barsAt('B', rows), flatBars('SILENT', [7, 7, 7, 7])];
    const slipped = configOf({
      leverage: 10,
      maintenanceMarginRate: 0.02,
      execution: { orderTiming: 'bar_close', slippage: { kind: 'fixed', unit: 'bps', value: 1_000 } },
    });
    const legs = [a, b].map((bars) => instrumentOf(bars, { entries: [entryAt(bars, [0], size(450))] }));
    // Bought at 110 and worth 100 each at the close of hour 0, after the test: 10,000 − 9,000 is below 2 % of 90,000.
    const reasons = (input: Parameters<typeof portfolioOf>[0]) =>
      tradesOf(simulatePortfolio(portfolioOf(input, { config: slipped }))).map(({ exitReason }) => exitReason);
    expect(reasons(legs)).toEqual(['end_of_data', 'end_of_data']);
    expect(reasons([...legs, instrumentOf(silent)])).toEqual(['end_of_data', 'end_of_data']);
  });

  it('leaves pending orders, which fill when their price comes', () => {
    const falls = { 0: FLAT, 1: FLAT, 2: [86, 86, 86, 86], 3: [86, 86, 86, 86] } as const;
    const [a, b] = [barsAt('A', falls), flatBars('B', [100, 100, 100, 100])];
    const c = barsAt('C', { 0: FLAT, 1: FLAT, 2: FLAT, 3: [100, 100, 90, 100] });
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0], size(700))] }),
          instrumentOf(b, { entries: [entryAt(b, [0], size(10))] }),
          instrumentOf(c, { entries: [entryAt(c, [0], { ...size(1), ...pending('limit', 92) })] }),
        ],
        { config },
      ),
    );
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 2, 86, 'liquidation'],
      [1, 1, 100, 2, 100, 'liquidation'],
      [2, 3, 92, 3, 100, 'end_of_data'],
    ]);
  });

  it('is a level inside the bar while one instrument alone has positions and pending orders', () => {
    const a = barsAt('A', { 0: [100, 100, 100, 100], 1: [100, 100, 80, 100], 2: [100, 100, 100, 100] });
    const b = flatBars('B', [100, 100, 100]);
    const alone = portfolioOf(
      [instrumentOf(a, { entries: [entryAt(a, [0], size(700))] }), instrumentOf(b, { entries: [entryAt(b, [1])] })],
      { config },
    );
    const [liquidated] = tradesOf(simulatePortfolio(alone));
    // (70,000 − 10,000) / (700 · 0.99)
    expect(liquidated).toMatchObject({ exitReason: 'liquidation', exitRow: 1 });
    expect(liquidated.exitPrice).toBeCloseTo(60_000 / 693, 9);
    const rests = entryAt(b, [0], pending('limit', 50));
    const shared = portfolioOf(
      [instrumentOf(a, { entries: [entryAt(a, [0], size(700))] }), instrumentOf(b, { entries: [rests] })],
      { config },
    );
    expect(summaryOf(simulatePortfolio(shared))).toEqual([[0, 1, 100, 2, 100, 'end_of_data']]);
  });
});
