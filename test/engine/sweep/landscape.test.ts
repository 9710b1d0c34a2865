// The landscape of a sweep: every bin of a long dimension holds the levels from its label up to the next.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heatmapOf, marginalOf, plateauOf } from '../../../src/engine/sweep/landscape.ts';
import type { Dimension, Space } from '../../../src/engine/sweep/space.ts';

const steps = (name: string, count: number): Dimension => ({
  name,
  target: 'param',
  kind: 'steps',
  min: 2,
  step: 1,
  count,
  log: false,
});
const spaceOf = (...dimensions: Dimension[]): Space => ({
  dimensions,
  size: dimensions.length,
  constraints: [],
  resultConstraints: [],
});
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('a dimension of more than forty levels', () => {
  it.each([41, 50, 60, 79, 80, 100, 119, 299, 1_000])('of %d is shown in bins that begin at their labels', (count) => {
    const levels = Float64Array.from(range(count));
    // The value of a row is the level itself, so that the best of a bin is its highest level.
    const values = levels.map((level) => 2 + level);
    const { points } = marginalOf(spaceOf(steps('fast', count)), 0, levels, values, 1);
    expect(points).toHaveLength(40);
    const starts = points.map(({ value }) => value as number);
    const ends = [...starts.slice(1), 2 + count].map((start) => start - 1);
    expect(points.map(({ best }) => best)).toEqual(ends);
    expect(points.map(({ variants }) => variants)).toEqual(starts.map((start, bin) => ends[bin] - start + 1));
    expect(marginalOf(spaceOf(steps('fast', count)), 0, levels, values, -1).points.map(({ best }) => best)).toEqual(
      starts,
    );
  });

  it('has the same bins in a heatmap', () => {
    const space = spaceOf(steps('fast', 50), steps('slow', 3));
    const rows = range(150);
    const coordinates = [rows.map((row) => Math.floor(row / 3)), rows.map((row) => row % 3)].map((column) =>
      Float64Array.from(column),
    );
    const values = coordinates[0].map((level) => 2 + level);
    const heatmap = heatmapOf(space, [0, 1], coordinates, values, -1);
    expect(heatmap.x.values.slice(0, 4)).toEqual([2, 4, 5, 6]);
    expect(heatmap.best).toEqual([2, 3, 4].map(() => heatmap.x.values));
    expect(heatmap.variants[0].slice(0, 4)).toEqual([2, 1, 1, 1]);
    expect([heatmap.x.isBinned, heatmap.y.isBinned]).toEqual([true, false]);
  });
});

describe('a dimension of at most forty levels', () => {
  it('is shown level by level', () => {
    const levels = Float64Array.from(range(40));
    const { points, isBinned } = marginalOf(spaceOf(steps('fast', 40)), 0, levels, levels, 1);
    expect(isBinned).toBe(false);
    expect(points.map(({ value, best }) => [value, best])).toEqual(range(40).map((level) => [2 + level, level]));
  });
});

describe('the influence of a dimension', () => {
  it('is null where every value is the same, up to the rounding of their mean', () => {
    const levels = Float64Array.from(range(3));
    expect(marginalOf(spaceOf(steps('fast', 3)), 0, levels, Float64Array.of(0.1, 0.1, 0.1), 1).influence).toBeNull();
    expect(marginalOf(spaceOf(steps('fast', 3)), 0, levels, Float64Array.of(0.1, 0.1, 0.2), 1).influence).toBe(1);
  });
});

describe('the plateau of a row', () => {
  const medianOf = (scores: readonly number[]): number => {
    const ascending = scores.filter((score) => !Number.isNaN(score)).toSorted((a, b) => a - b);
    return ascending[Math.floor(ascending.length / 2)] ?? NaN;
  };
  /** Of a row in a line of rows, each one step from the next. */
  const plateau = (scores: readonly number[], row: number, median = medianOf(scores)) =>
    plateauOf(spaceOf(steps('fast', scores.length)), row, [Float64Array.from(range(scores.length))],
      Float64Array.from(scores), median); // prettier-ignore

  it('lies between 0 and 1 whatever the objective, its sign and its scale', () => {
    const score = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -3, max: 3 }),
      fc.constant(NaN),
    );
    fc.assert(
      fc.property(fc.array(score, { minLength: 1, maxLength: 12 }), fc.nat(), (scores, place) => {
        const { score: kept, neighbors } = plateau(scores, place % scores.length);
        expect(kept === null || (kept >= 0 && kept <= 1 && neighbors > 0), `score ${kept}`).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is 1 beside better rows, however small its own lead', () => {
    expect(plateau([5, 0.1, 5, 0, 0, 0, 0], 1)).toMatchObject({ score: 1, isCliff: false });
  });

  it('is 0 where the neighbors are worse than the median row', () => {
    expect(plateau([-9, 1, -9, 0, 0, 0, 0], 1)).toMatchObject({ score: 0, isCliff: true });
  });

  it('counts no neighbor as more than the whole lead, so that a better one does not hide a worse one', () => {
    expect(plateau([100, 1, 0, 0, 0, 0, 0], 1)).toMatchObject({ score: 0.5, isCliff: false });
    expect(plateau([100, 1, -1, 0, 0, 0, 0], 1)).toMatchObject({ score: 0, isCliff: true });
  });

  it('is the same for a low objective that is better, and for any shift and scale of the objective', () => {
    const scores = [3, 4, 2, 1, 0, 1, 2];
    const { score } = plateau(scores, 1);
    expect(score).toBeCloseTo(0.25, 12);
    // The score of a minimized objective is its negative: drawdowns of 3 to 7 %.
    expect(plateau(scores.map((value) => value - 7), 1).score).toBeCloseTo(score!, 12); // prettier-ignore
    expect(plateau(scores.map((value) => 1e-6 * value), 1).score).toBeCloseTo(score!, 12); // prettier-ignore
  });

  it('is null without a lead beyond rounding, and without a neighbor that can win', () => {
    expect(plateau([0.3, 0.1 + 0.2, 0.3, 0.3], 1).score).toBeNull();
    expect(plateau([0, 0, 1], 0).score).toBeNull();
    expect(plateau([NaN, 4, NaN, NaN], 1, 1)).toEqual({ score: null, neighbors: 0, isCliff: false });
  });
});
