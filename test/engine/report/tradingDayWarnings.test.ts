// Warnings about trading days: scheduled and counted days without bars, with a calendar and without one, in whole runs.
import { expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import { DAY_MS } from '../../../src/engine/bars/bars.ts';
import type { Snapshot } from '../../../src/engine/bars/arrow.ts';
import { createMarket, createUniverse, type StrategyAst } from '../../../src/engine/index.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { compare, entry, strategy, type Json } from '../../support/builders.ts';

const FROM = Date.parse('2024-02-01');
const isWeekend = (time: number): boolean => [0, 6].includes(new Date(time).getUTCDay());
/** The weekdays from February to July 2024 on which the New York Stock Exchange traded, without some of them. */
const sessions = (...missing: readonly string[]): number[] =>
  Array.from({ length: 180 }, (_, day) => FROM + day * DAY_MS).filter((time) => {
    const date = new Date(time).toISOString().slice(0, 10);
    const holidays = ['2024-02-19', '2024-03-29', '2024-05-27', '2024-06-19', '2024-07-04', ...missing];
    return !isWeekend(time) && !holidays.includes(date);
  });
const snapshotOf = (times: readonly number[], calendar?: string, symbol = 'SPY'): Snapshot =>
  randomSnapshot({
    symbol,
    times,
    timeframe: '1d',
    seed: 7,
    instrument: { tradesAllDay: false, ...(calendar && { calendar }) },
  });

const buying = { action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } } };
const ruleOf = (trigger: Json): StrategyAst =>
  strategy(undefined, { entry: entry(trigger, buying), exits: undefined, risk: { timeStop: { maxBars: 2 } } }) as never;
const MONTH_END = ruleOf({ kind: 'schedule', every: 'month', on: -1 });
const EVERY_DAY = ruleOf({ kind: 'schedule', every: 'day' });
const COUNTED = ruleOf(compare({ kind: 'time', field: 'trading_days_to_month_end' }, 'eq', 0));

interface Outcome {
  readonly warnings: readonly string[];
  readonly signals: readonly string[];
  readonly missingTradingDays: unknown;
}
function run(strategyAst: StrategyAst, ...snapshots: readonly Snapshot[]): Outcome {
  const symbols = snapshots.map(({ meta }) => meta.symbol);
  const execution = {
    feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.001 }] },
  };
  const config = {
    timeframe: '1d' as const,
    initialBalance: 10_000,
    execution,
    ...(symbols.length === 1
      ? { signalInstrument: { symbol: symbols[0] } }
      : { instruments: symbols.map((symbol) => ({ symbol })) }),
  };
  const task = { id: 'days', strategyAst, settings: {}, config: config as never, strategyHash: '' };
  const market =
    symbols.length === 1 ? createMarket(snapshots, symbols[0], '1d') : createUniverse(snapshots, symbols, '1d');
  const outcome = runBacktest(task, market, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return {
    warnings: outcome.warnings
      .filter(({ code }) => code === 'HOLIDAYS_UNKNOWN' || code === 'TRADING_DAYS_MISSING')
      .map(({ code, path, message }) => `${code} ${path}: ${message}`),
    signals: outcome.trades.map(({ entryTime }) => new Date(entryTime).toISOString().slice(0, 10)),
    missingTradingDays: outcome.summary.dataQuality.missingTradingDays,
  };
}

it('a scheduled day on a holiday causes one without a calendar, and comes on time with one', () => {
  const without = run(MONTH_END, snapshotOf(sessions()));
  expect(without.warnings).toEqual([
    'HOLIDAYS_UNKNOWN /config/signalInstrument: The schedule had no bar on 1 of 5 scheduled days, the first of them ' +
      '2024-03-29, and took place on the next bar: holidays are not known in advance.',
  ]);
  expect(without.signals).toContain('2024-04-02');
  const known = run(MONTH_END, snapshotOf(sessions(), 'XNYS'));
  expect(known.warnings).toEqual([]);
  // Signaled on Thursday, the 28th of March, and bought on the first day of April.
  expect(known.signals).toContain('2024-04-01');
  expect(known.missingTradingDays).toBe(0);
  expect(without.missingTradingDays).toBeUndefined();
});

it('a trading day without a bar is told from a holiday', () => {
  const { warnings, missingTradingDays } = run(MONTH_END, snapshotOf(sessions('2024-05-31', '2024-06-05'), 'XNYS'));
  expect(warnings).toEqual([
    'TRADING_DAYS_MISSING /config/signalInstrument: The bars lack trading days: 1 of 5 scheduled days, the first of ' +
      'them 2024-05-31, took place on the bar after it.',
    'TRADING_DAYS_MISSING /config/signalInstrument: SPY has no bars on 2 trading days of XNYS, the first 2024-05-31.',
  ]);
  expect(missingTradingDays).toBe(2);
});

it('counted trading days cause one where holidays are among them', () => {
  expect(run(COUNTED, snapshotOf(sessions())).warnings).toEqual([
    'HOLIDAYS_UNKNOWN /config/signalInstrument: trading_day_of_month and trading_days_to_month_end count weekdays: 5 ' +
      'of them have no bars, the first 2024-02-19.',
  ]);
  // The last trading day of March is known to be the 28th.
  const known = run(COUNTED, snapshotOf(sessions(), 'XNYS'));
  expect(known.warnings).toEqual([]);
  expect(known.signals).toContain('2024-04-01');
});

it('a schedule of every day causes none', () => {
  expect(run(EVERY_DAY, snapshotOf(sessions())).warnings).toEqual([]);
});

it('a portfolio has those of all its instruments', () => {
  const { warnings, missingTradingDays } = run(
    MONTH_END,
    snapshotOf(sessions('2024-06-05'), 'XNYS'),
    snapshotOf(sessions('2024-06-06'), 'XNYS', 'QQQ'),
  );
  expect(warnings).toEqual([
    expect.stringMatching(/^TRADING_DAYS_MISSING \/config\/instruments: .* on 1 trading day of .*: 1\.$/),
  ]);
  expect(missingTradingDays).toBe(2);
});
