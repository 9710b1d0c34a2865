// Borrowing and dividends, each against a sum done by hand.
import { describe, expect, it } from 'vitest';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { simulatePortfolio } from '../../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { barsOf, configOf, entryAt, exitAt, inputOf, NO_RISK, type Ohlc } from './input.ts';
import { portfolioOf } from '../../laws/portfolioInputs.ts';

const DAY = 86_400_000;
/** A Monday. */
const START = Date.UTC(2024, 0, 1);
const day = (at: number): number => START + at * DAY;
/** Opens and closes. */
const days = (...prices: (readonly [number, number])[]) =>
  barsOf(
    prices.map(([open, close]): Ohlc => [open, Math.max(open, close), Math.min(open, close), close]),
    '1d',
    START,
  );
const PRICES = days([100, 100], [100, 102], [104, 98], [99, 96], [95, 95]);

/** Ten units, entered at the open of day 1 and left at the open of day 4. */
const held = (side: 1 | -1, more: Parameters<typeof configOf>[0], bars = PRICES) =>
  simulate(
    inputOf(bars, {
      entries: [entryAt(bars, [0], { side, sizing: { mode: 'fixed', value: 10 } })],
      exits: [exitAt(bars, [3])],
      config: configOf(more),
    }),
  );

describe('borrowing', () => {
  it('costs a short a part of its last close for each midnight', () => {
    const { trades, totals, finalBalance } = held(-1, { borrowRatePerYear: 0.365 });
    // 0.1 % of 10 · 102, 10 · 98 and 10 · 96, at the opens of days 2, 3 and 4.
    expect(totals.borrowPaid).toBeCloseTo(1.02 + 0.98 + 0.96, 12);
    expect(trades[0].pnl).toBeCloseTo(50 - 2.96, 10);
    expect(finalBalance).toBeCloseTo(10_047.04, 10);
  });

  it('costs a long nothing', () => {
    expect(held(1, { borrowRatePerYear: 0.365 }).totals.borrowPaid).toBe(0);
  });

  it('counts the days of a weekend', () => {
    const { time, ...columns } = PRICES;
    // Monday, Tuesday, then Friday, Monday, Tuesday.
    const gapped = { ...columns, time: time.map((_, row) => day([0, 1, 4, 7, 8][row])) };
    const { totals } = held(-1, { borrowRatePerYear: 0.365 }, gapped);
    // Three midnights at 102, three at 98, one at 96.
    expect(totals.borrowPaid).toBeCloseTo(3 * 1.02 + 3 * 0.98 + 0.96, 12);
  });

  it('is shared by the parts of a position', () => {
    const bars = PRICES;
    const { trades } = simulate(
      inputOf(bars, {
        entries: [entryAt(bars, [0], { side: -1, sizing: { mode: 'fixed', value: 10 } })],
        exits: [exitAt(bars, [1], { action: { mode: 'percent_position', value: 40 } }), exitAt(bars, [3])],
        config: configOf({ borrowRatePerYear: 0.365 }),
      }),
    );
    // Four units pay one night at 102, six units that night and those at 98 and 96.
    expect(trades.map(({ pnl }) => Number(pnl.toFixed(9)))).toEqual([-16 - 0.408, 30 - (0.612 + 0.588 + 0.576)]);
  });
});

describe('dividends', () => {
  const paid = (time: number, amount = 0.5) => ({ dividends: [{ symbol: 'TEST', time, amount }] });

  it('are received by a long and paid by a short that are carried into the ex-date', () => {
    expect(held(1, paid(day(3))).totals.dividendsReceived).toBe(5);
    expect(held(1, paid(day(3))).trades[0].pnl).toBe(-50 + 5);
    expect(held(-1, paid(day(3))).totals.dividendsReceived).toBe(-5);
    expect(held(-1, paid(day(3))).finalBalance).toBe(10_045);
  });

  it('go to the holder of the night before: not to a buyer of the ex-date, still to a seller', () => {
    expect(held(1, paid(day(1))).totals.dividendsReceived).toBe(0);
    expect(held(1, paid(day(4))).totals.dividendsReceived).toBe(5);
  });

  it('are paid at the first open after an ex-date without a bar, once', () => {
    const { time, ...columns } = PRICES;
    const gapped = { ...columns, time: time.map((_, row) => day([0, 1, 4, 7, 8][row])) };
    expect(held(1, paid(day(5)), gapped).totals.dividendsReceived).toBe(5);
  });

  it('of other symbols, and before or after the bars, are not paid', () => {
    const other = { dividends: [{ symbol: 'OTHER', time: day(3), amount: 1 }] };
    for (const config of [other, paid(day(-9)), paid(day(99))])
      expect(held(1, config).totals.dividendsReceived).toBe(0);
  });

  it('come from a column of the bars', () => {
    const series = new Map([['Dividends', Float64Array.from([9, NaN, 0.5, 0, 0.25])]]);
    const { totals } = held(1, { dividendColumn: 'Dividends', ...paid(day(2), 1) }, { ...PRICES, series });
    // That of the first bar was paid before; the list adds 1 on day 2.
    expect(totals.dividendsReceived).toBe(10 * (0.5 + 1 + 0.25));
  });

  it('leave prices, stops and MAE as they are, and enter equity at once', () => {
    const risk = { ...NO_RISK, stopLoss: { mode: 'percent', value: 3 } as const };
    const entries = [entryAt(PRICES, [0], { sizing: { mode: 'fixed', value: 10 } })];
    const run = (dividends: ReturnType<typeof paid>['dividends']) =>
      simulate(inputOf(PRICES, { entries, risk, config: configOf({ dividends }) }));
    const [without, withOne] = [run([]), run(paid(day(2)).dividends)];
    const { pnl, returnPct: _, ...same } = withOne.trades[0];
    expect(without.trades[0]).toMatchObject(same);
    expect(pnl).toBe(without.trades[0].pnl + 5);
    expect(Array.from(withOne.equity, (mark, row) => mark - without.equity[row])).toEqual([0, 0, 5, 5, 5]);
  });

  it('are each instrument’s own in a portfolio', () => {
    const inputs = ['A', 'B'].map((symbol) => {
      const bars = { ...PRICES, symbol };
      const config = configOf({
        dividends: [
          { symbol: 'A', time: day(2), amount: 1 },
          { symbol: 'B', time: day(3), amount: 2 },
        ],
        borrowRatePerYear: 0.365,
      });
      const side = symbol === 'A' ? 1 : -1;
      return inputOf(bars, {
        entries: [entryAt(bars, [0], { side, sizing: { mode: 'fixed', value: 10 } })],
        exits: [exitAt(bars, [3])],
        config,
      });
    });
    const result = simulatePortfolio(portfolioOf(inputs, { slots: null, linked: [] }));
    expect(result.byInstrument.map(({ dividendsReceived }) => dividendsReceived)).toEqual([10, -20]);
    expect(result.byInstrument[0].borrowPaid).toBe(0);
    expect(result.totals.borrowPaid).toBeCloseTo(2.96, 12);
    expect(result.finalBalance).toBeCloseTo(10_000 - 50 + 10 + 50 - 20 - 2.96, 9);
  });
});
