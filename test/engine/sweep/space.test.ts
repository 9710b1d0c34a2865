// Spaces and samplers: which values a dimension takes, what is refused, and that an index always means the same
// variant.
import { describe, expect, it } from 'vitest';
import { indexCount, variantAt } from '../../../src/engine/sweep/samplers.ts';
import { permuted, uniform } from '../../../src/engine/sweep/seeded.ts';
import { resolveSpace } from '../../../src/engine/sweep/resolveSpace.ts';
import { valueAt, type Space } from '../../../src/engine/sweep/space.ts';
import { planSweep } from '../../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { compiled, CONFIG, CROSSING } from '../../support/sweeps.ts';

const strategy = compiled(CROSSING);

function spaceFrom(given: object): { spec: SweepSpec; space: Space } {
  const spec = SweepSpec.parse({ config: CONFIG, ...given });
  const resolved = resolveSpace(spec, strategy);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.faults));
  return { spec, space: resolved.space };
}

const faultsOf = (given: object) => {
  const resolved = resolveSpace(SweepSpec.parse({ config: CONFIG, method: 'grid', ...given }), strategy);
  return resolved.ok ? [] : resolved.faults.map(({ path, message }) => `${path}: ${message}`);
};

const variantsOf = ({ spec, space }: { spec: SweepSpec; space: Space }): string[] =>
  Array.from({ length: indexCount(spec, space) }, (_, index) => variantAt(spec, space, index)).flatMap((found) =>
    found === null ? [] : [space.dimensions.map((dimension, at) => valueAt(dimension, found[at])).join(' ')],
  );

describe('a dimension', () => {
  it('takes whole steps for whole numbers, exact decimals, ratios with log, and the declared bounds by default', () => {
    expect(variantsOf(spaceFrom({ method: 'grid', space: { fast: { min: 2, max: 5 } } }))).toEqual([
      '2',
      '3',
      '4',
      '5',
    ]);
    const decimals = { stop: { min: 0.1, max: 0.5, step: 0.1 } };
    expect(variantsOf(spaceFrom({ method: 'grid', space: decimals }))).toEqual(['0.1', '0.2', '0.3', '0.4', '0.5']);
    const ratios = { stop: { min: 1, max: 10, step: 2, log: true } };
    expect(variantsOf(spaceFrom({ method: 'grid', space: ratios }))).toEqual(['1', '2', '4', '8']);
    expect(spaceFrom({ method: 'grid', space: { fast: {} } }).space.size).toBe(200);
  });

  it('is rejected with its path when it is meaningless', () => {
    expect(faultsOf({ space: { quick: { min: 1, max: 2 } } })).toEqual([
      '/space/quick: The strategy declares no param quick.',
    ]);
    expect(faultsOf({ space: { '/strategy/nothing': { min: 1, max: 2 } } })).toEqual([
      '/space/~1strategy~1nothing: There is no number at /strategy/nothing.',
    ]);
    // The length of a list is not a number of the strategy.
    expect(faultsOf({ space: { '/strategy/params/length': { min: 1, max: 2 } } })).toEqual([
      '/space/~1strategy~1params~1length: There is no number at /strategy/params/length.',
    ]);
    expect(faultsOf({ space: { stop: { min: 1, max: 2 } } })).toEqual([
      '/space/stop: A grid needs a step or a list of values for stop, whose range is continuous.',
    ]);
    expect(faultsOf({ space: { timeframe: { values: ['7h'] } } })).toEqual([
      '/space/timeframe: "7h" is not a timeframe.',
    ]);
    expect(faultsOf({ space: { fast: { min: 9, max: 2 } } })).toEqual(['/space/fast: fast: min 9 is above max 2.']);
    expect(
      faultsOf({ space: { fast: { min: 1, max: 2 } }, constraints: [{ left: 'fast', op: 'lt', right: 'slow' }] }),
    ).toEqual(['/constraints/0: "slow" is neither a member of the space nor a key of the summary beside a number.']);
  });
});

describe('a plan', () => {
  const fruits = ['apple', 'pear'];
  const declared = compiled({
    ...CROSSING,
    strategy: {
      ...CROSSING.strategy,
      params: [
        ...CROSSING.strategy.params,
        { name: 'flag', type: 'bool', default: true },
        { name: 'fruit', type: 'choice', default: 'apple', values: fruits },
        { name: 'period', type: 'int', default: 5, values: [5, 10, 20] },
      ],
    },
  });
  const refusedBy = (space: object, method = 'grid'): string[] => {
    const budget = method === 'grid' ? {} : { budget: 5 };
    const planned = planSweep(declared, SweepSpec.parse({ config: CONFIG, method, ...budget, space }));
    return planned.ok
      ? []
      : planned.faults.map(({ path, message, suggestion }) => `${path}: ${message} (${suggestion})`);
  };

  it.each([
    [{ fast: { min: 2, max: 5, step: 0.5 } }, '/space/fast: fast must be a whole number, not 2.5'],
    [{ fast: { min: 1.5, max: 9.5, step: 1 } }, '/space/fast: fast must be a whole number, not 1.5'],
    [{ fast: { min: 4, max: 20, step: 1.5, log: true } }, '/space/fast: fast must be a whole number, not 13.5'],
    [{ fast: { values: [2, 2.5] } }, '/space/fast/values/1: fast must be a whole number, not 2.5'],
    [{ fast: { values: [2, true] } }, '/space/fast/values/1: fast must be a whole number, not true'],
    [{ fast: { values: ['2'] } }, '/space/fast/values/0: fast must be a whole number, not "2"'],
    [{ fast: { values: [2, 500] } }, '/space/fast/values/1: fast must be between 1 and 200, not 500'],
    [{ fast: { min: 150, max: 250 } }, '/space/fast: fast must be between 1 and 200, not 250'],
    [{ stop: { min: 0, max: 5, step: 1 } }, '/space/stop: stop must be between 0.1 and 50, not 0'],
    [{ flag: { values: [1] } }, '/space/flag/values/0: flag must be true or false'],
    [{ fruit: { values: ['apple', 'plum'] } }, '/space/fruit/values/1: fruit must be one of apple, pear, not "plum"'],
    [{ period: { min: 5, max: 20, step: 5 } }, '/space/period: period must be one of 5, 10, 20, not 15'],
  ])('refuses %j, a part of which its param cannot have', (space, told) => {
    const faults = refusedBy(space);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(told);
    expect(faults[0]).toMatch(/\. \((Give|Stay) /);
  });

  it('refuses a continuous range of whole numbers or of declared values', () => {
    expect(refusedBy({ fast: { min: 1.5, max: 9 } }, 'random')).toEqual([
      '/space/fast: fast must be a whole number, and the range from 1.5 to 9 is continuous. ' +
        '(Begin and end at whole numbers, or give a step.)',
    ]);
    expect(refusedBy({ stop: { min: 1, max: 90 } }, 'random')).toEqual([
      '/space/stop: stop must be between 0.1 and 50, not 90. (Stay within the bounds that the strategy declares.)',
    ]);
  });

  it('looks at each level of a declared list once', () => {
    let reads = 0;
    const values = new Proxy(
      Array.from({ length: 2_000 }, (_, index) => index + 1),
      {
        get: (list, name) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) reads++;
          return Reflect.get(list, name) as unknown;
        },
      },
    );
    const listed = { name: 'listed', type: 'int', default: 1, values } as const;
    const { strategy: inner } = strategy.strategyAst;
    const payload = { ...strategy.strategyAst, strategy: { ...inner, params: [...(inner.params ?? []), listed] } };
    const spec = SweepSpec.parse({
      config: CONFIG,
      method: 'grid',
      space: { listed: { min: 1, max: 2_000, step: 1 } },
    });
    const planned = planSweep({ ...strategy, strategyAst: payload }, spec);
    expect(planned).toMatchObject({ ok: true, job: { variants: 2_000 } });
    // A search of the list for each of its values would read two million.
    expect(reads).toBeLessThan(10_000);
  });

  it('takes what every variant can run', () => {
    const spaces = [
      { fast: { min: 1, max: 10.5, step: 1 } },
      { fast: { min: 4, max: 9, step: 1.5, log: true } },
      { flag: {}, fruit: {} },
      { fruit: { values: fruits }, period: { values: [5, 20] } },
      { stop: { min: 0.1, max: 50, step: 0.1 } },
    ];
    for (const space of spaces) expect(refusedBy(space), JSON.stringify(space)).toEqual([]);
  });
});

describe('a sampler', () => {
  const space = { fast: { min: 1, max: 20 }, slow: { min: 1, max: 20 } };
  const constraints = [{ left: 'fast', op: 'lt', right: 'slow' }];

  it('visits a grid in order, without the points that a constraint rules out', () => {
    const all = variantsOf(spaceFrom({ method: 'grid', space, constraints }));
    expect(all).toHaveLength(190);
    expect(all.slice(0, 3)).toEqual(['1 2', '1 3', '1 4']);
  });

  it('draws at random without drawing a point of the grid twice', () => {
    const drawn = variantsOf(spaceFrom({ method: 'random', space, budget: 100, constraints }));
    expect(new Set(drawn).size).toBe(drawn.length);
    expect(drawn.length).toBeGreaterThan(80);
    expect(variantsOf(spaceFrom({ method: 'random', space, budget: 100, constraints }))).toEqual(drawn);
    expect(variantsOf(spaceFrom({ method: 'random', space, budget: 100, constraints, seed: 2 }))).not.toEqual(drawn);
  });

  it('draws at random no more variants than the space has points', () => {
    const planned = planSweep(strategy, spaceFrom({ method: 'random', space: { fast: space.fast }, budget: 100 }).spec);
    expect(planned).toMatchObject({ ok: true, job: { variants: 20, indexes: 20 } });
    const ruled = spaceFrom({ method: 'random', space, budget: 1_000, constraints });
    expect(variantsOf(ruled)).toHaveLength(190);
    expect(planSweep(strategy, ruled.spec)).toMatchObject({ ok: true, job: { variants: 190, indexes: 400 } });
    const continuous = spaceFrom({ method: 'random', space: { stop: { min: 1, max: 9 } }, budget: 100 });
    expect(planSweep(strategy, continuous.spec)).toMatchObject({ ok: true, job: { variants: 100, indexes: 100 } });
  });

  it('places one variant of a Latin hypercube in each stratum of each dimension', () => {
    const { spec, space: continuous } = spaceFrom({
      method: 'latin_hypercube',
      budget: 50,
      space: { stop: { min: 0.5, max: 50.5 } },
    });
    const strata = Array.from({ length: 50 }, (_, index) => Math.floor(variantAt(spec, continuous, index)![0] - 0.5));
    expect(strata.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, stratum) => stratum));
  });

  it.each([1, 2, 5, 17, 100, 1023])('permutes 0 … %d-1 one to one', (size) => {
    const images = Array.from({ length: size }, (_, index) => permuted(index, size, 42));
    expect(images.toSorted((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, index) => index));
  });

  it('spreads uniform numbers evenly', () => {
    const bins = new Array<number>(10).fill(0);
    for (let index = 0; index < 10_000; index++) bins[Math.floor(10 * uniform(3, index))]++;
    for (const count of bins) expect(count).toBeGreaterThan(850);
  });
});
