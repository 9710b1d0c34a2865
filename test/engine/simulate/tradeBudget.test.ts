// The budget of trades: a run asks before it makes more trades than it was admitted by.
import { describe, expect, it } from 'vitest';
import { admittedTrades, TRADE_BYTES } from '../../../src/engine/plan/estimate.ts';
import { LentMemory } from '../../../src/engine/simulate/lentMemory.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { MemoryRefused } from '../../../src/engine/simulate/tradeBudget.ts';
import { TRADE_WIDTH } from '../../../src/engine/simulate/tradeLog.ts';
import { barsOf, entryAt, exitAt, inputOf, NO_RISK, takeProfit, under, type Ohlc } from './input.ts';

const BARS = 30_000;
const rows = Array.from({ length: BARS }, (_, row) => row);

/** A trade on every bar; the answer to each ask, and the bytes that were asked for. */
function tradeOnEveryBar(answer: 'yes' | 'later' | 'never', ohlc: Ohlc, more: Partial<SimulationInput> = {}) {
  const asked: number[] = [];
  const mayTake = (bytes: number) => {
    asked.push(bytes);
    return answer;
  };
  const bars = barsOf(rows.map(() => ohlc));
  const input = inputOf(bars, {
    entries: [entryAt(bars, rows)],
    exits: [exitAt(bars, rows)],
    control: { isCancelled: () => false, report: () => {}, mayTake },
    ...more,
  });
  return { asked, run: () => simulate(input) };
}

const FLAT: Ohlc = [100, 100, 100, 100];
/** Touches a stop at 99 and a target at 101. */
const WIDE: Ohlc = [100, 102, 98, 100];

describe('a run with a trade on every bar', () => {
  it('asks now and then, for all of its trades beyond those that it was admitted by', () => {
    const { asked, run } = tradeOnEveryBar('yes', FLAT);
    const { length } = run().tradeLog;
    expect(length).toBeGreaterThan(BARS - 10);
    expect(asked.length).toBe(2);
    expect(asked.at(-1)! / TRADE_BYTES + admittedTrades(BARS)).toBeGreaterThan(length);
  });

  it.each([
    ['later', false],
    ['never', true],
  ] as const)('ends when the answer is %s', (answer, isFinal) => {
    const { asked, run } = tradeOnEveryBar(answer, FLAT);
    let thrown: unknown;
    try {
      run();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(MemoryRefused);
    expect(thrown).toMatchObject({ isFinal, runError: { code: 'RESOURCE_LIMIT' } });
    expect(asked.length).toBe(1);
  });

  it('asks for the trades of both readings that it keeps under the worst of them', () => {
    const stopLoss = { mode: 'percent', value: 1 } as const;
    const risk = { ...NO_RISK, stopLoss, takeProfits: [takeProfit({ mode: 'percent', value: 1 })] };
    const last = (['pessimistic', 'worst'] as const).map((ambiguityFallback) => {
      const config = under('multi_resolution', { ambiguityFallback });
      const { asked, run } = tradeOnEveryBar('yes', WIDE, { exits: [], risk, config });
      run();
      return asked.at(-1)! / TRADE_BYTES;
    });
    expect(last[1]).toBeGreaterThan(1.5 * last[0]);
  });
});

it('does not keep the log of a run with many trades for the next one', () => {
  const memory = new LentMemory(BARS * 2);
  for (const [count, isKept] of [
    [1_000, true],
    [40_000, false],
  ] as const) {
    const { trades } = memory.lend(BARS)!;
    trades.numbers = new Float64Array(count * TRADE_WIDTH);
    memory.trim();
    expect(memory.lend(BARS)!.trades === trades).toBe(isKept);
  }
});
