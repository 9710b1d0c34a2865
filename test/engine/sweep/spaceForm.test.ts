// Dimensions in the forms of other tools: each is answered with the name or form it has here, and with a patch where
// only one thing can be meant.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { dimensionFaults } from '../../../src/engine/sweep/spaceForm.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { issuesOfZod } from '../../../src/api/http/envelopeIssues.ts';

interface Answer {
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
  readonly patch?: readonly unknown[];
}

const requestOf = (fast: unknown) => ({ space: { fast }, method: 'grid' });

function answersTo(fast: unknown): Answer[] {
  const given = requestOf(fast);
  const parsed = SweepSpec.omit({ config: true }).safeParse(given);
  return parsed.success ? [] : issuesOfZod(parsed.error.issues, '', given);
}

describe('a dimension in the form of another tool', () => {
  it.each<[unknown, unknown]>([
    [
      { from: 5, to: 50 },
      { min: 5, max: 50 },
    ],
    [
      { from: 5, to: 50, by: 5 },
      { min: 5, max: 50, step: 5 },
    ],
    [
      { low: 0.1, high: 10, log: true },
      { min: 0.1, max: 10, log: true },
    ],
    [
      { lower_bound: 1, upper_bound: 3, step_size: 1 },
      { min: 1, max: 3, step: 1 },
    ],
    [
      { Min: 5, Max: 50 },
      { min: 5, max: 50 },
    ],
    [{ choices: [1, 2] }, { values: [1, 2] }],
    [{ range: [5, 50, 5] }, { min: 5, max: 50, step: 5 }],
    [
      { min: '5', max: '50' },
      { min: 5, max: 50 },
    ],
    [{ values: 7 }, { values: [7] }],
    [[5, 10, 50], { values: [5, 10, 50] }],
    [['SPX', 'NASDAQ'], { values: ['SPX', 'NASDAQ'] }],
    [7, { values: [7] }],
  ])('gets patches that make it one of ours: %j', (given, expected) => {
    const patches = answersTo(given).flatMap(({ patch }) => patch ?? []);
    expect(jsonPatch.applyPatch(requestOf(given), patches as Operation[]).newDocument).toEqual(requestOf(expected));
    expect(answersTo(expected)).toEqual([]);
  });

  it.each<[unknown, string, string]>([
    [{ start: 5, stop: 50 }, '/space/fast/stop', 'Use "max", the last value.'],
    [{ min: 5, max: 50, steps: 10 }, '/space/fast/steps', 'Give "step", the distance of neighboring values'],
    [{ values: [5, 10], step: 5 }, '/space/fast/step', 'Keep "values" and remove it'],
    [[5, 50], '/space/fast', 'Write {"values":[5,50]} for these 2 values, or {"min":5,"max":50} for a range.'],
    [[5, 50, 5], '/space/fast', 'or {"min":5,"max":50,"step":5} for a range.'],
    ['5:50:5', '/space/fast', 'Give {"values": [10, 20, 50]} or'],
    [{ values: '5, 10' }, '/space/fast/values', 'Write ["5, 10"].'],
    [{ min: 5, from: 6, max: 9 }, '/space/fast/from', 'A dimension has "values", or "min", "max", "step" and "log".'],
    [{ name: 'fast', kind: 'int' }, '/space/fast', 'Give {"values": [10, 20, 50]} or'],
  ])('gets advice alone where more than one thing can be meant: %j', (given, path, suggestion) => {
    const answer = answersTo(given).find((each) => each.path === path)!;
    expect(answer.suggestion).toContain(suggestion);
    expect(answer.patch).toBeUndefined();
  });

  it.each([{ values: [5, 10] }, { min: 5, max: 50, step: 5 }, { min: 0.1, max: 10, log: true }, {}])(
    'is not found in one of ours: %j',
    (given) => {
      expect(dimensionFaults('fast', given)).toEqual([]);
      expect(answersTo(given)).toEqual([]);
    },
  );
});

it('takes no member that every object has for a name of another tool', () => {
  expect(answersTo({ constructor: 5, min: 1, max: 2 })).toMatchObject([
    { path: '/space/fast/constructor', message: 'Unknown member "constructor"; remove it.' },
  ]);
  const given = { ...requestOf({ values: [1] }), constraints: [{ left: 'fast', op: 'toString', right: 5 }] };
  const { issues } = SweepSpec.omit({ config: true }).safeParse(given).error!;
  expect(issuesOfZod(issues, '', given)[0]).not.toHaveProperty('patch');
});
