// The search for variants in a shard: it asks whether to stop, gives up when hardly any point is allowed, and never
// runs a point that the constraints rule out.
import { describe, expect, it } from 'vitest';
import { meetsConstraints } from '../../../src/engine/sweep/space.ts';
import { runShard, variantsOf } from '../../../src/engine/sweep/shard.ts';
import { historyOf } from '../../../src/engine/sweep/rounds.ts';
import { joinRankingRows, rankingRows } from '../../../src/engine/sweep/rankingRows.ts';
import { ConstraintsTooRare } from '../../../src/engine/sweep/tries.ts';
import { compiled, CROSSING, marketOf, sweepContextFor } from '../../support/sweeps.ts';

const market = marketOf(120, 3);
const contextOf = (given: object) => sweepContextFor(compiled(CROSSING), given, market);
/** Says to stop from the read of that number on. */
function stoppingAt(read: number) {
  let reads = 0;
  return { shouldStop: () => ++reads >= read, reads: () => reads };
}

/** Continuous, so that the share of allowed points is not known beforehand: about one of 2,000. */
const RARE = {
  space: { fast: { min: 1, max: 200 }, stop: { min: 0.1, max: 50 } },
  constraints: [
    { left: 'stop', op: 'lt', right: 'fast' },
    { left: 'stop', op: 'gt', right: 49.975 },
  ],
};

describe('the search for the variants of a shard', () => {
  it.each([
    ['grid', { space: { fast: { min: 1, max: 200 }, slow: { min: 1, max: 200 } } }],
    ['random', { ...RARE, budget: 40_000 }],
    ['latin_hypercube', { ...RARE, budget: 40_000 }],
    ['tpe', { ...RARE, budget: 40_000 }],
  ])('of %s asks every few thousand points whether to stop', (method, given) => {
    const context = contextOf({ method, ...given });
    const stop = stoppingAt(3);
    expect(variantsOf(context, { first: 0, last: context.job.indexes }, stop.shouldStop)).toBeNull();
    expect(stop.reads()).toBe(3);
  });

  it('gives up when fewer than one of a thousand points is allowed, and says how many of how many', () => {
    const context = contextOf({ method: 'random', budget: 40_000, ...RARE });
    const range = { first: 0, last: 20_000 };
    const error = (() => {
      try {
        return void variantsOf(context, range, () => false);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(ConstraintsTooRare);
    expect((error as ConstraintsTooRare).runError).toMatchObject({ code: 'SWEEP_INVALID', path: '/constraints' });
    expect((error as ConstraintsTooRare).message).toMatch(/^\d\d of 100000 points that were tried satisfy the/);
    expect(() => runShard(context, range, null)).toThrow(ConstraintsTooRare);
  });

  it('of tpe runs only points that satisfy the constraints', () => {
    const context = contextOf({
      method: 'tpe',
      budget: 60,
      space: { fast: { min: 1, max: 200 }, slow: { min: 1, max: 200 } },
      constraints: [{ left: 'fast', op: 'eq', right: 'slow' }],
    });
    const rows = runShard(context, { first: 0, last: 24 }, null)!;
    const history = historyOf(context, joinRankingRows([rankingRows(context, rows)]));
    const found = variantsOf(context, { first: 24, last: 60, history }, () => false)!;
    expect(found.length).toBeGreaterThan(30);
    for (const { coordinates } of found) expect(meetsConstraints(context.space, coordinates)).toBe(true);
  });
});
