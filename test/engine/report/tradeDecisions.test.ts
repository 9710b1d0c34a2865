// Decision rows: what the trades file and the samples show of an entry or exit was known before it filled.
import { describe, expect, it } from 'vitest';
import { createMarket, strategyHash, type BacktestTask, type StrategyAst } from '../../../src/engine/index.ts';
import { simulateTask } from '../../../src/engine/backtest.ts';
import { tradesTable } from '../../../src/engine/report/tables.ts';
import * as write from '../../support/builders.ts';
import { configOf, dailySnapshot, SYMBOL } from '../../support/runs.ts';

// Daily bars whose close is 100 plus their row, and whose range is one each way: the value of `seen` names the bar it
// was read on.
const market = createMarket([dailySnapshot(60)], SYMBOL, '1d');
const { constant, cross } = write;
const seen = write.market('close', { id: 'seen' });
const reaches = (row: number) => cross(seen, 'cross_up', constant(99.5 + row));
const entry = (row: number, more: object = {}, action: object = {}) =>
  write.entry(reaches(row), { action: { side: 'long', sizing: { mode: 'fixed', value: 1 }, ...action }, ...more });

interface Decided {
  readonly reason: string;
  /** Rows of the fills. */
  readonly filled: readonly [number, number];
  /** Rows whose values the file shows. */
  readonly shown: readonly [number, number];
}

function decisionsOf(
  strategy: object,
  orderTiming: 'next_open' | 'bar_close',
): { trades: Decided[]; samples: number[] } {
  const config = configOf();
  const ast: StrategyAst = write.astOf(strategy);
  const task: BacktestTask = {
    id: 'decisions',
    strategyAst: ast,
    settings: {},
    strategyHash: strategyHash(ast, {}),
    config: { ...config, execution: { ...config.execution, orderTiming } },
  };
  const run = simulateTask(task, market, null, true);
  if (!run.ok) throw new Error(run.error.message);
  const { columns } = tradesTable(run);
  const cell = (name: string, row: number) => columns.find((column) => column.name === name)!.read(row) as number;
  const trades = run.trades.map((trade, index) => ({
    reason: trade.exitReason,
    filled: [trade.entryBar, trade.exitBar] as const,
    shown: [cell('entry.seen', index) - 100, cell('exit.seen', index) - 100] as const,
  }));
  const samples = run.summary
    .strategyTrace!.samples.filter(({ kind }) => kind === 'entry' || kind === 'exit')
    .map(({ values }) => (values.seen as number) - 100);
  return { trades, samples };
}

const cases: readonly (readonly [string, object, Record<'next_open' | 'bar_close', Decided>])[] = [
  [
    'an exit rule',
    { entry: entry(10), exits: [{ kind: 'exit', when: reaches(20) }] },
    {
      next_open: { reason: 'signal', filled: [11, 21], shown: [10, 20] },
      bar_close: { reason: 'signal', filled: [10, 20], shown: [10, 20] },
    },
  ],
  [
    'a time stop',
    { entry: entry(10), risk: { timeStop: { maxBars: 5 } } },
    {
      next_open: { reason: 'time_stop', filled: [11, 16], shown: [10, 15] },
      bar_close: { reason: 'time_stop', filled: [10, 15], shown: [10, 15] },
    },
  ],
  [
    'a market entry of the other side',
    { entry: [entry(10), entry(20, { conflict: 'reverse' }, { side: 'short' })] },
    {
      next_open: { reason: 'reverse', filled: [11, 21], shown: [10, 20] },
      bar_close: { reason: 'reverse', filled: [10, 20], shown: [10, 20] },
    },
  ],
  [
    'a limit entry of the other side, which fills inside its bar',
    {
      entry: [
        entry(10),
        entry(
          20,
          { conflict: 'reverse' },
          {
            side: 'short',
            order: { type: 'limit', price: constant(125.5), expireBars: 20 },
          },
        ),
      ],
      defaults: { maxConcurrentPositions: 2 },
    },
    {
      next_open: { reason: 'reverse', filled: [11, 25], shown: [10, 24] },
      bar_close: { reason: 'reverse', filled: [10, 25], shown: [10, 24] },
    },
  ],
  [
    'a take profit, which fills inside its bar',
    { entry: entry(10), risk: { takeProfits: [{ triggerPrice: constant(120.5), closePercent: 100 }] } },
    {
      next_open: { reason: 'take_profit', filled: [11, 20], shown: [10, 19] },
      bar_close: { reason: 'take_profit', filled: [10, 20], shown: [10, 19] },
    },
  ],
  [
    'a stop entry that rests for bars, and the end of the data',
    { entry: entry(10, {}, { order: { type: 'stop', price: constant(120.5), expireBars: 30 } }) },
    {
      next_open: { reason: 'end_of_data', filled: [20, 59], shown: [10, 59] },
      bar_close: { reason: 'end_of_data', filled: [20, 59], shown: [10, 59] },
    },
  ],
];

describe.each(['next_open', 'bar_close'] as const)('a trades file under %s', (orderTiming) => {
  it.each(cases)('shows what was known before the exit by %s', (_, strategy, expected) => {
    const { trades, samples } = decisionsOf(strategy, orderTiming);
    expect(trades[0]).toEqual(expected[orderTiming]);
    expect(samples.slice(0, 2)).toEqual(expected[orderTiming].shown);
  });
});
