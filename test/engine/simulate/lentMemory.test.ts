// Lent memory: which log of trades one run after the other writes on.
import { expect, it } from 'vitest';
import { LentMemory } from '../../../src/engine/simulate/lentMemory.ts';
import { TRADE_WIDTH, type TradeLog } from '../../../src/engine/simulate/tradeLog.ts';

const NO_ROWS = { days: new Int32Array(0), preview: new Int32Array(0) };

/** The log of a run over so many rows, with room for so many trades at least. */
function logOf(memory: LentMemory, rows: number, trades = 0): TradeLog {
  const log = memory.lend(rows, NO_ROWS)!.trades;
  if (trades * TRADE_WIDTH > log.numbers.length) log.numbers = new Float64Array(trades * TRADE_WIDTH);
  memory.trim();
  return log;
}

it('keeps a short log for every run', () => {
  const memory = new LentMemory(100);
  const log = logOf(memory, 2_000, 32_768);
  expect(logOf(memory, 1_000)).toBe(log);
});

it('keeps a long log for runs that were admitted by as many trades', () => {
  const memory = new LentMemory(100);
  const log = logOf(memory, 10_000_000, 200_000);
  expect(logOf(memory, 9_000_000)).toBe(log);
  const short = logOf(memory, 1_000_000);
  expect(short === log).toBe(false);
  expect(short.numbers.length).toBeLessThan(32_768 * TRADE_WIDTH);
});

it('does not keep the longest logs', () => {
  const memory = new LentMemory(100);
  const log = logOf(memory, 10_000_000, 300_000);
  expect(logOf(memory, 10_000_000) === log).toBe(false);
});

it('keeps no longer log than it may', () => {
  const memory = new LentMemory(100);
  memory.limit(10 << 20);
  const log = logOf(memory, 10_000_000, 100_000);
  expect(logOf(memory, 10_000_000) === log).toBe(false);
  const short = logOf(memory, 10_000_000, 32_768);
  expect(logOf(memory, 10_000_000)).toBe(short);
});
