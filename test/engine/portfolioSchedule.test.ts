// Schedules of a portfolio: whole runs in which all instruments share the instants, and plans that share columns.
import { expect, it } from 'vitest';
import { runBacktest } from '../../src/engine/backtest.ts';
import { createMarket, createUniverse, type StrategyAst } from '../../src/engine/index.ts';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import { randomSnapshot } from '../support/bars.ts';
import { entry, strategy } from '../support/builders.ts';

const FROM = Date.parse('2024-04-15');
const everyDay = Array.from({ length: 80 }, (_, day) => FROM + day * DAY_MS);
const isWeekend = (time: number): boolean => [0, 6].includes(new Date(time).getUTCDay());
/** The first weekday of June 2024. */
const HOLIDAY = Date.parse('2024-06-03');
const weekdays = everyDay.filter((time) => !isWeekend(time) && time !== HOLIDAY);

const snapshotOf = (symbol: string, times: readonly number[], tradesAllDay: boolean): Snapshot =>
  randomSnapshot({ symbol, times, timeframe: '1d', seed: 7, instrument: { tradesAllDay } });
const BTC = snapshotOf('BTC', everyDay, true);
const SPY = snapshotOf('SPY', weekdays, false);
const MONTHLY = strategy(undefined, {
  entry: entry(
    { kind: 'schedule', every: 'month' },
    { action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } } },
  ),
  exits: undefined,
  risk: { timeStop: { maxBars: 2 } },
});

/** The days on which instruments were bought, by symbol: those after their signals. */
function entriesOf(symbols: readonly string[]): string[] {
  const snapshots = [BTC, SPY];
  const task = {
    id: 'schedule',
    strategyAst: MONTHLY as StrategyAst,
    settings: {},
    config: {
      timeframe: '1d' as const,
      initialBalance: 10_000,
      ...(symbols.length === 1
        ? { signalInstrument: { symbol: symbols[0] } }
        : { instruments: symbols.map((symbol) => ({ symbol })) }),
    },
    strategyHash: 'hash',
  };
  const data =
    symbols.length === 1 ? createMarket(snapshots, symbols[0], '1d') : createUniverse(snapshots, symbols, '1d');
  const outcome = runBacktest(task, data, null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  const { trades } = outcome;
  return trades.map(({ entryTime }) => new Date(entryTime).toISOString().slice(0, 10));
}

it('alone, each instrument follows its own days', () => {
  expect(entriesOf(['BTC'])).toEqual(['2024-05-02', '2024-06-02', '2024-07-02']);
  expect(entriesOf(['SPY'])).toEqual(['2024-05-02', '2024-06-05', '2024-07-02']);
});

it('together, both follow the five-day week and its holiday', () => {
  const both = entriesOf(['BTC', 'SPY']);
  expect(both.toSorted()).toEqual(['2024-05-02', '2024-05-02', '2024-06-05', '2024-06-05', '2024-07-02', '2024-07-02']);
  // The runs above have kept columns of the same bars, which belong to other calendars.
  expect(entriesOf(['BTC'])).toEqual(['2024-05-02', '2024-06-02', '2024-07-02']);
});
