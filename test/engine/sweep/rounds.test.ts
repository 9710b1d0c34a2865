// Shards: together they run every index of a sweep once.
import { describe, expect, it } from 'vitest';
import { shardsOf } from '../../../src/engine/sweep/rounds.ts';
import type { SweepJob } from '../../../src/engine/sweep/sweepJob.ts';

const shards = (method: 'grid' | 'random' | 'tpe', indexes: number, size: number) =>
  shardsOf({ spec: { method }, indexes } as unknown as SweepJob, size);

describe('the shards of a sweep', () => {
  it('follow each other from the first index to the last', () => {
    expect(shards('grid', 10, 4)).toEqual([
      { first: 0, last: 4 },
      { first: 4, last: 8 },
      { first: 8, last: 10 },
    ]);
    expect(shards('random', 8, 4)).toEqual([
      { first: 0, last: 4 },
      { first: 4, last: 8 },
    ]);
    expect(shards('grid', 3, 100)).toEqual([{ first: 0, last: 3 }]);
  });

  it.each([1, 15, 100, 1_601, 5_003])('of tpe, too, for a budget of %i', (budget) => {
    const rounds = shards('tpe', budget, 1);
    expect(rounds[0].first).toBe(0);
    expect(rounds.at(-1)!.last).toBe(budget);
    for (const [round, { first, last }] of rounds.entries()) {
      expect(last).toBeGreaterThan(first);
      if (round > 0) expect(first).toBe(rounds[round - 1].last);
    }
  });
});
