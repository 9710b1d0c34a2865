// A shard that is told to stop does so inside a variant, as a single run does, and so does the last step of a sweep.
import { describe, expect, it } from 'vitest';
import { RunStopped } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { joinRankingRows, rankingRows } from '../../../src/engine/sweep/rankingRows.ts';
import { runShard } from '../../../src/engine/sweep/shard.ts';
import { finishSweep } from '../../../src/engine/sweep/sweepResult.ts';
import { compiled, CROSSING, marketOf, rowsOf, sweepContextFor } from '../../support/sweeps.ts';

const space = { fast: { min: 2, max: 5 }, slow: { min: 10, max: 13 } };
const context = () => sweepContextFor(compiled(CROSSING), { space, method: 'grid' }, marketOf(260, 3));
/** Says so from the read of that number on. */
function stoppingAt(read: number) {
  let reads = 0;
  return { isCancelled: () => ++reads >= read, report: () => {}, reads: () => reads };
}

describe('a shard that is told to stop', () => {
  it.each([1, 2, 3, 4])('gives nothing when the flag is up at read %i, and reads it no more', (read) => {
    const control = stoppingAt(read);
    expect(runShard(context(), { first: 0, last: 1 }, control)).toBeNull();
    expect(control.reads()).toBe(read);
  });

  it('reads the flag several times per variant, and gives the same rows when it stays down', () => {
    const control = stoppingAt(Infinity);
    const range = { first: 0, last: 16 };
    expect(runShard(context(), range, control)).toEqual(runShard(context(), range, null));
    expect(control.reads()).toBeGreaterThan(3 * 16);
  });
});

it('stops a shard that still looks for its variants, where constraints leave none', () => {
  const large = { fast: { min: 2, max: 101 }, slow: { min: 101, max: 200 } };
  const own = sweepContextFor(compiled(CROSSING), { space: large, method: 'grid' }, marketOf(260, 3));
  const never = { left: { dimension: 0 }, op: 'gt', right: { dimension: 1 } } as const;
  const control = stoppingAt(3);
  const none = { ...own, space: { ...own.space, constraints: [never] } };
  expect(runShard(none, { first: 0, last: 10_000 }, control)).toBeNull();
  expect(control.reads()).toBe(3);
});

it('stops in the last step of a sweep, which runs the best variant again', () => {
  const own = context();
  const rows = joinRankingRows([rankingRows(own, rowsOf(own))]);
  // A context of its own has no columns yet, and reads the flag before it makes one.
  expect(() => finishSweep({ ...context(), control: stoppingAt(1) }, rows, null)).toThrow(RunStopped);
  expect(finishSweep({ ...own, control: stoppingAt(Infinity) }, rows, null)).toEqual(finishSweep(own, rows, null));
});
