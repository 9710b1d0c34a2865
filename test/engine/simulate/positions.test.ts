// Positions: the bars inside which one is open, and their objects, which a run uses again.
import { describe, expect, it } from 'vitest';
import { fillDueExits, fillEntry } from '../../../src/engine/simulate/fills.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import type { Position } from '../../../src/engine/simulate/position.ts';
import { createRun } from '../../../src/engine/simulate/createRun.ts';
import { atOpen } from '../../../src/engine/simulate/run.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { barsOf, configOf, entryAt, exitAt, FLAT, inputOf, NO_RISK, takeProfit } from './input.ts';

it('uses two position objects where every open closes a position and opens the next', () => {
  const bars = barsOf(Array.from({ length: 1_000 }, () => FLAT));
  const run = createRun(inputOf(bars, { entries: [entryAt(bars, [])] }), 'pessimistic');
  const used = new Set<Position>();
  for (let row = 1; row < bars.length; row++) {
    const at = atOpen(run, row);
    for (const position of run.positions) run.dueExits.add(0, row - 1, position, position.quantity, 'signal', null);
    fillDueExits(run, 100, at);
    used.add(fillEntry(run, run.marketEntry, 100, at)!);
  }
  expect(run.trades.length).toBe(998);
  expect(used.size).toBe(2);
});

describe('a bar has a position inside', () => {
  const bars = barsOf([FLAT, FLAT, FLAT, FLAT, [100, 104, 94, 100], [90, 91, 89, 90], FLAT, FLAT]);
  const stop = (value: number) => ({ ...NO_RISK, stopLoss: { mode: 'fixed', value } as const });
  const rows = (more: Partial<SimulationInput>): number[] => {
    const { inPosition } = simulate(inputOf(bars, { entries: [entryAt(bars, [1])], ...more }));
    return [...bars.time.keys()].filter((row) => hasBit(inPosition, row));
  };
  const bar_close = configOf({ execution: { orderTiming: 'bar_close' } });

  it('from an entry at the open to an exit at an open, whose bar does not count', () => {
    expect(rows({ exits: [exitAt(bars, [4])] })).toEqual([2, 3, 4]);
    // With an order log, the general loop plays it instead of that for round trips.
    expect(rows({ exits: [exitAt(bars, [4])], keepOrders: true })).toEqual([2, 3, 4]);
    expect(rows({ risk: stop(8) })).toEqual([2, 3, 4]);
    expect(rows({ risk: stop(8), keepOrders: true })).toEqual([2, 3, 4]);
  });

  it('on the bar inside which it is closed', () => {
    expect(rows({ risk: stop(5) })).toEqual([2, 3, 4]);
    expect(rows({ risk: stop(5), keepOrders: true })).toEqual([2, 3, 4]);
  });

  it('from the bar after an entry at a close to that of an exit at a close', () => {
    expect(rows({ config: bar_close, exits: [exitAt(bars, [4])] })).toEqual([2, 3, 4]);
  });

  it('to the last bar where the end of the data closes it', () => {
    expect(rows({})).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it('not on a bar whose open closes it at once', () => {
    const takeProfits = [takeProfit({ mode: 'price', price: { kind: 'constant', value: 99 } })];
    expect(rows({ risk: { ...NO_RISK, takeProfits } })).toEqual([]);
  });
});
