// The table of bench:peers, with times that are given.
import { describe, expect, it } from 'vitest';
import { goalVerdict, meanRatios, rowLine, type Row } from '../../bench/peers/peerTable.ts';

const rowOf = (ratios: readonly number[], goal: number): Row => ({
  name: 'sma (TA-Lib)',
  agreement: 'equal',
  goal,
  rounds: ratios.map((ratio) => ({ before: 2_000, after: 2_000 * ratio, ratio })),
});

describe('the table of peers', () => {
  it.each([
    [[0.4, 0.45], 'met'],
    [[0.46, 0.5], 'missed'],
    [[0.3, 0.3, 0.46], 'unsure'],
    [[0.5, 0.5, 0.44], 'unsure'],
  ] as const)('of rounds %j says that a goal of 0.45 is %s', (ratios, verdict) => {
    expect(goalVerdict(ratios, 0.45)).toBe(verdict);
  });

  it('has the median of the rounds with their range, and marks what is not met', () => {
    const cells = (ratios: readonly number[]): string[] => rowLine(rowOf(ratios, 0.45), 1_000).split(/ {2,}/);
    expect(cells([0.4, 0.3, 0.35]).slice(2)).toEqual(['2000.00', '700.00', '0.35', '0.30 to 0.40', 'at most 0.45']);
    expect(cells([0.4, 0.5, 0.3]).slice(4)).toEqual(['0.40', '0.30 to 0.50', 'at most 0.45', 'UNSURE']);
    expect(cells([0.6, 0.5, 0.7]).slice(4)).toEqual(['0.60', '0.50 to 0.70', 'at most 0.45', 'MISSED']);
  });

  it('takes the geometric mean of the rows in each round', () => {
    expect(meanRatios([rowOf([0.5, 1], 1.5), rowOf([2, 4], 1.5)])).toEqual([1, 2]);
  });
});
