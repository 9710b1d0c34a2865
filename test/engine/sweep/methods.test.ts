// The messages of sweep methods: what each refuses, word by word, and the methods that it suggests instead.
import { describe, expect, it } from 'vitest';
import { SWEEP_METHODS } from '../../../src/engine/sweep/methods/sweepMethods.ts';
import { planSweep } from '../../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { rareMessage } from '../../../src/engine/sweep/tries.ts';
import { compiled, CONFIG, CROSSING } from '../../support/sweeps.ts';

const strategy = compiled(CROSSING);
const POINTS = { fast: { values: [5, 10] } };
const walkForward = { kind: 'rolling', folds: 2 };

const faultsOf = (given: object): string[] => {
  const planned = planSweep(strategy, SweepSpec.parse({ config: CONFIG, ...given }));
  return planned.ok ? [] : planned.faults.map(({ path, message, suggestion }) => `${path}: ${message} (${suggestion})`);
};

const NEEDS_BUDGET = (name: string): string =>
  `/budget: The method ${name} needs a budget: how many variants to evaluate. (Give a budget, such as 200, or use ` +
  'grid.)';

/** What a method answers to a request without a budget, with one, on a continuous range, and with a walk-forward. */
const ANSWERS: Readonly<Record<string, Readonly<Record<'none' | 'budget' | 'continuous' | 'walkForward', string[]>>>> =
  {
    grid: {
      none: [],
      budget: [
        '/budget: A grid has as many variants as its space has points, and takes no budget. (Leave the budget out, ' +
          'or use random, which draws that many.)',
      ],
      continuous: [
        '/space/stop: A grid needs a step or a list of values for stop, whose range is continuous. (Give a step, or ' +
          'use random, latin_hypercube or tpe.)',
      ],
      walkForward: [],
    },
    random: { none: [NEEDS_BUDGET('random')], budget: [], continuous: [], walkForward: [] },
    latin_hypercube: { none: [NEEDS_BUDGET('latin_hypercube')], budget: [], continuous: [], walkForward: [] },
    tpe: {
      none: [NEEDS_BUDGET('tpe')],
      budget: [],
      continuous: [],
      walkForward: [
        '/walkForward: tpe chooses variants by results over the whole range, the test windows included; walk-forward ' +
          'needs another method. (Use random or latin_hypercube.)',
      ],
    },
  };

it('lists the answers of every method', () => {
  expect(Object.keys(ANSWERS)).toEqual(SWEEP_METHODS);
});

describe.each(Object.entries(ANSWERS))('the method %s', (method, answers) => {
  const budget = method === 'grid' ? {} : { budget: 2 };

  it('answers a request without a budget, and with one', () => {
    expect(faultsOf({ method, space: POINTS })).toEqual(answers.none);
    expect(faultsOf({ method, space: POINTS, budget: 2 })).toEqual(answers.budget);
  });

  it('answers a range without a step', () => {
    expect(faultsOf({ method, space: { stop: { min: 1, max: 2 } }, ...budget })).toEqual(answers.continuous);
  });

  it('answers a walk-forward', () => {
    expect(faultsOf({ method, space: POINTS, walkForward, ...budget })).toEqual(answers.walkForward);
  });
});

it('suggests a method that draws in place of a grid that is too large', () => {
  const space = { fast: { min: 1, max: 200 }, slow: { min: 1, max: 200 }, stop: { min: 0.1, max: 20, step: 0.1 } };
  expect(faultsOf({ method: 'grid', space })).toEqual([
    '/space: The grid has 8000000 points; a grid may have 4000000. (Use larger steps, or random with a budget.)',
  ]);
});

it('suggests a method that visits every point under constraints that hardly any point satisfies', () => {
  const [, suggested] = rareMessage(100_000, 1).match(/or use a (\w+), which visits every point\.$/)!;
  expect(SWEEP_METHODS).toContain(suggested);
});

it('describes the budget of a request by the methods that take none', () => {
  expect(SweepSpec.shape.budget.meta()).toEqual({
    description: 'Variants to evaluate; required unless the method is grid.',
  });
});
