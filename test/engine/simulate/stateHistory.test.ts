// History over state, through whole runs: account state is recorded on every bar, position state from the position's
// entry on.
import { describe, expect, it } from 'vitest';
import { simulateTask } from '../../../src/engine/backtest.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { makeInstrument } from '../../../src/market/instrument.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import * as write from '../../support/builders.ts';
import { barsOf, flatFee, type Ohlc } from './input.ts';

const { constant } = write;
const hour = (value: number) => write.compare({ kind: 'time', field: 'hour' }, 'eq', value);
const state = (field: string, offset = 0) => ({ kind: 'state', field, offset });
const compare = (op: string, left: object, right: object) => write.compare(left, op, right);
const flat = (price: number): Ohlc => [price, price, price, price];

/** Rows of entry and exit of a long of 10 that opens at the open after hour 1, under these exits and risk rules. */
function held(rows: readonly Ohlc[], parts: { exits?: object[]; risk?: object; entryHours?: number[] }): number[][] {
  const { exits = [], risk, entryHours = [1] } = parts;
  const settings = { warmupPeriod: 0, maxConcurrentPositions: entryHours.length };
  const bars = barsOf(rows, '1h');
  const strategyAst = {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: entryHours.map((at) => ({
        kind: 'entry',
        trigger: hour(at),
        action: { side: 'long', sizing: { mode: 'fixed', value: 10 } },
      })),
      exits: exits.map((when) => ({ kind: 'exit', when })),
      ...(risk && { risk }),
    },
  } as unknown as StrategyAst;
  const instrument = makeInstrument('TEST');
  const market = createMarket([makeSnapshot(bars, { symbol: 'TEST', timeframe: '1h', instrument })], 'TEST', '1h');
  const config = {
    timeframe: '1h',
    signalInstrument: { symbol: 'TEST' },
    initialBalance: 10_000,
    execution: { feeModel: flatFee(0), slippage: { kind: 'none' } },
  } as const;
  const task = { id: 'history', strategyAst, settings, config, strategyHash: '' };
  const run = simulateTask(task, market, null, false);
  if (!run.ok) throw new Error(run.error.message);
  return run.report.simulation.trades.map(({ entryRow, exitRow }) => [entryRow, exitRow]);
}

describe('history over account state in an exit', () => {
  // Equity is 10,000 at the close of row 1 and 9,980 at that of row 2, the entry bar.
  const rows: Ohlc[] = [flat(100), flat(100), [100, 100, 98, 98], [98, 102, 98, 102], flat(102), flat(91), flat(91)];
  const equity = state('account_equity');

  it('knows the closes before the position was opened', () => {
    expect(held(rows, { exits: [compare('lt', equity, { kind: 'shift', source: equity, offset: 1 })] })).toEqual([
      [2, 3],
    ]);
    expect(held(rows, { exits: [compare('lt', equity, state('account_equity', 1))] })).toEqual([[2, 3]]);
    const cross = write.cross(equity, 'cross_down', constant(9_990));
    expect(held(rows, { exits: [cross] })).toEqual([[2, 3]]);
    const mean = { kind: 'rolling', op: 'avg', period: 3, source: equity };
    expect(held(rows, { exits: [compare('lt', mean, constant(9_999))] })).toEqual([[2, 3]]);
    const since = { kind: 'bars_since', when: compare('gte', equity, constant(10_000)) };
    expect(held(rows, { exits: [compare('eq', since, constant(1))] })).toEqual([[2, 3]]);
  });

  it('is kept through positions, and recorded once per bar with several of them', () => {
    const quiet = [flat(100), flat(100), flat(100), flat(100), flat(100), flat(99), flat(99), flat(99)];
    const fell = compare('lt', equity, state('account_equity', 3));
    expect(held(quiet, { exits: [fell], entryHours: [1, 2] })).toEqual([
      [2, 6],
      [3, 6],
    ]);
  });

  it('stands beside history over position state, which starts with the position', () => {
    const size = state('position_size');
    // Without a close of the position before it, its size one bar ago is missing on the entry bar.
    expect(held(rows, { exits: [compare('gte', size, state('position_size', 1))] })).toEqual([[2, 4]]);
    const both = {
      kind: 'all',
      items: [compare('gte', size, state('position_size', 1)), compare('lt', equity, state('account_equity', 3))],
    };
    // Equity at row 2 is below that of row −1, which is missing; at row 5 it is below that of row 2.
    expect(held(rows, { exits: [both] })).toEqual([[2, 6]]);
    // A node over both starts with the position.
    const sum = { kind: 'math', op: 'add', args: [equity, size] };
    expect(held(rows, { exits: [compare('lt', sum, { kind: 'shift', source: sum, offset: 1 })] })).toEqual([[2, 6]]);
  });
});

describe('history over account state in a stop price that is read at every close', () => {
  it('knows the closes before the position was opened', () => {
    const rows: Ohlc[] = [flat(100), flat(100), flat(100), [100, 100, 97, 97], flat(97), flat(97)];
    // The balance three closes ago / 100: missing at row 2, known at row 3 although the position is two closes old.
    const price = { kind: 'math', op: 'div', args: [state('account_balance', 3), constant(102)] };
    expect(held(rows, { risk: { stopLoss: { mode: 'price', value: price, update: 'bar' } } })).toEqual([[2, 4]]);
  });
});
