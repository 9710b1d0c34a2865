// Constraints in the form of a formula: each is answered with a patch that writes it as one of ours.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { issuesOfZod } from '../../../src/api/http/envelopeIssues.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';

const requestOf = (constraint: unknown) => ({
  space: { fast: { values: [5] } },
  method: 'grid',
  constraints: [constraint],
});
const answersTo = (constraint: unknown) => {
  const given = requestOf(constraint);
  const parsed = SweepSpec.omit({ config: true }).safeParse(given);
  return parsed.success ? [] : issuesOfZod(parsed.error.issues, '', given);
};

describe('a constraint in the form of a formula', () => {
  it.each<[unknown, object]>([
    ['fast < slow', { left: 'fast', op: 'lt', right: 'slow' }],
    ['fast<=slow', { left: 'fast', op: 'lte', right: 'slow' }],
    ['totalPositions >= 30', { left: 'totalPositions', op: 'gte', right: 30 }],
    ['0.5 > winRate', { left: 0.5, op: 'gt', right: 'winRate' }],
    [
      { left: 'fast', op: '!=', right: 7 },
      { left: 'fast', op: 'neq', right: 7 },
    ],
    [
      { left: 'fast', op: '==', right: 7 },
      { left: 'fast', op: 'eq', right: 7 },
    ],
  ])('gets a patch that makes it one of ours: %j', (given, expected) => {
    const patches = answersTo(given).flatMap(({ patch }) => patch ?? []);
    expect(jsonPatch.applyPatch(requestOf(given), patches as Operation[]).newDocument).toEqual(requestOf(expected));
    expect(answersTo(expected)).toEqual([]);
  });

  it.each(['fast', 'fast ~ slow', 'fast < slow < 9', { left: 'fast', op: '~', right: 7 }])(
    'gets no patch where it cannot be told: %j',
    (given) => {
      const answers = answersTo(given);
      expect(answers).toHaveLength(1);
      expect(answers[0].patch).toBeUndefined();
    },
  );
});
