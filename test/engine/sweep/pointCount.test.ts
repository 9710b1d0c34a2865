// Counting the points of a grid: the count of looking at each point, for a bounded number of comparisons.
import { describe, expect, it } from 'vitest';
import { comparisonsToCount, countPoints } from '../../../src/engine/sweep/pointCount.ts';
import { resolveSpace } from '../../../src/engine/sweep/resolveSpace.ts';
import { variantAt } from '../../../src/engine/sweep/samplers.ts';
import { meetsConstraints, type Space } from '../../../src/engine/sweep/space.ts';
import { planSweep } from '../../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { seededRandom } from '../../support/scale.ts';
import { compiled, CONFIG, CROSSING } from '../../support/sweeps.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const declared = compiled({
  ...CROSSING,
  strategy: {
    ...CROSSING.strategy,
    params: [
      ...CROSSING.strategy.params,
      ...NAMES.map((name) => ({ name, type: 'float', default: 1, min: -1_000_000, max: 1_000_000 })),
    ],
  },
});

const specOf = (given: object): SweepSpec => SweepSpec.parse({ config: CONFIG, method: 'grid', ...given });
function spaceOf(given: object): Space {
  const resolved = resolveSpace(specOf(given), declared);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.faults));
  return resolved.space;
}

/** The count of the plain rule: every point against every constraint. */
function countOneByOne(space: Space): number {
  let count = 0;
  for (let index = 0; index < space.size; index++)
    if (variantAt({ method: 'grid', seed: 1 }, space, index) !== null) count++;
  return count;
}

const OPS = ['lt', 'lte', 'gt', 'gte', 'eq', 'neq'];

describe('counting the points of a grid', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
    'gives the count of looking at each point, and one of the points (seed %i)',
    (seed) => {
      const random = seededRandom(seed);
      const pick = (count: number): number => Math.floor(random() * count);
      for (let round = 0; round < 40; round++) {
        const names = NAMES.slice(0, 1 + pick(5));
        const dimensionOf = (): object =>
          pick(3) === 0
            ? { values: Array.from({ length: 1 + pick(5) }, () => pick(7) - 2) }
            : { min: pick(5) - 2, max: 4 + pick(3), step: [0.5, 1, 2][pick(3)] };
        const sideOf = (): string | number => (pick(5) === 0 ? pick(7) - 1 : names[pick(names.length)]);
        const given = {
          space: Object.fromEntries(names.map((name) => [name, dimensionOf()])),
          constraints: Array.from({ length: pick(6) }, () => ({ left: sideOf(), op: OPS[pick(6)], right: sideOf() })),
        };
        const space = spaceOf(given);
        const { count, share, first } = countPoints(space);
        expect(count, JSON.stringify(given)).toBe(countOneByOne(space));
        expect(share).toBeCloseTo(count / space.size, 12);
        if (count === 0) expect(first).toBeNull();
        else expect(meetsConstraints(space, first!), JSON.stringify(given)).toBe(true);
      }
    },
  );

  it('takes a few comparisons where most params are not compared with each other', () => {
    const params = { fast: { min: 1, max: 200 }, slow: { min: 1, max: 200 }, stop: { min: 0.1, max: 10, step: 0.1 } };
    const ordered = spaceOf({ space: params, constraints: [{ left: 'fast', op: 'lt', right: 'slow' }] });
    expect(comparisonsToCount(ordered)).toBeLessThan(20_000);
    expect(countPoints(ordered).count).toBe(1_990_000);
    const three = {
      a: { min: 1, max: 158, step: 1 },
      b: { min: 1, max: 158, step: 1 },
      c: { min: 1, max: 158, step: 1 },
    };
    const chain = spaceOf({
      space: three,
      constraints: [
        { left: 'a', op: 'lt', right: 'b' },
        { left: 'b', op: 'lt', right: 'c' },
      ],
    });
    expect(comparisonsToCount(chain)).toBeLessThan(1_000_000);
    expect(countPoints(chain).count).toBe((158 * 157 * 156) / 6);
  });

  it('allows every value of a continuous param that no constraint names, and never counts one that it names', () => {
    const space = { a: { min: 2, max: 3 }, b: { values: [1, 2, 3, 4] } };
    const drawn = (constraints: object[]): Space => spaceOf({ method: 'random', budget: 5, space, constraints });
    const counted = countPoints(drawn([{ left: 'b', op: 'gt', right: 3 }]));
    expect(counted).toMatchObject({ count: Infinity, share: 0.25 });
    expect([...counted.first!]).toEqual([2, 3]);
    expect(comparisonsToCount(drawn([{ left: 'a', op: 'gt', right: 'b' }]))).toBe(Infinity);
  });
});

describe('a plan', () => {
  const large = { fast: { min: 1, max: 200 }, slow: { min: 1, max: 200 }, stop: { min: 0.1, max: 10, step: 0.1 } };
  const planOf = (given: object) => planSweep(declared, specOf(given));

  // Looking at each of these points takes three minutes.
  it('counts 4,000,000 points under 64 constraints', () => {
    const constraints = Array.from({ length: 64 }, (_, index) => ({
      left: index % 2 === 0 ? 'fast' : 'stop',
      op: 'neq',
      right: 300 + index,
    }));
    expect(planOf({ space: large, constraints })).toMatchObject({ ok: true, job: { variants: 4_000_000 } });
  });

  it('refuses a grid that takes too many comparisons, and says what to do', () => {
    const space = Object.fromEntries(NAMES.map((name) => [name, { min: 1, max: 20, step: 1 }]));
    const constraints = Array.from({ length: 64 }, (_, index) => ({
      left: NAMES[index % 5],
      op: 'neq',
      right: NAMES[(index + 1 + (index % 3)) % 5],
    }));
    const refused = planOf({ space, constraints });
    if (refused.ok) throw new Error('It was counted.');
    expect(refused.faults).toHaveLength(1);
    expect(refused.faults[0].path).toBe('/constraints');
    expect(refused.faults[0].message).toMatch(/takes up to \d+ comparisons; at most 2000000 are made\. The 64/);
    expect(refused.faults[0].suggestion).toContain('random with a budget');
    expect(planOf({ space, constraints, method: 'random', budget: 100 })).toMatchObject({ ok: true });
  });

  it.each(['random', 'latin_hypercube', 'tpe'])(
    'refuses to draw by %s under constraints that hardly any point satisfies, with the numbers',
    (method) => {
      const finite = planOf({
        method,
        budget: 1_000,
        space: large,
        constraints: [
          { left: 'fast', op: 'eq', right: 7 },
          { left: 'slow', op: 'lt', right: 3 },
        ],
      });
      const one = 'The constraints leave one of 20000 points of the space, and they must leave at least one of 1000.';
      expect(finite).toMatchObject({ ok: false, faults: [{ path: '/constraints' }] });
      expect(finite.ok ? '' : finite.faults[0].message).toContain(one);
      const continuous = planOf({
        method,
        budget: 1_000_000,
        space: { fast: { min: 1, max: 200 }, stop: { min: 0.1, max: 50 } },
        constraints: [{ left: 'stop', op: 'eq', right: 'fast' }],
      });
      expect(continuous.ok ? '' : continuous.faults[0].message).toContain(
        'None of 10000 points that were tried satisfy the constraints, and at least one of 1000 must.',
      );
    },
  );
});
