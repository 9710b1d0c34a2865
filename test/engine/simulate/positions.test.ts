// Position objects: a run uses those of closed positions again.
import { expect, it } from 'vitest';
import { fillDueExits, fillEntry } from '../../../src/engine/simulate/fills.ts';
import type { Position } from '../../../src/engine/simulate/position.ts';
import { createRun } from '../../../src/engine/simulate/createRun.ts';
import { atOpen } from '../../../src/engine/simulate/run.ts';
import { barsOf, entryAt, FLAT, inputOf } from './input.ts';

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
