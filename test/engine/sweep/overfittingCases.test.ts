// The statistics of over-fitting against stored numbers of an independent implementation: overfittingCases.py made them
// with numpy and scipy from the formulas of the papers.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mean, populationShape, standardDeviation } from '../../../src/engine/report/moments.ts';
import { minTrackRecord, probabilisticSharpe } from '../../../src/engine/report/sharpeConfidence.ts';
import { expectedMaximum, overfittingProbability } from '../../../src/engine/sweep/overfitting.ts';
import { blockSums } from '../../support/overfitting.ts';

interface Case {
  readonly name: string;
  readonly blocks: number;
  readonly best: number;
  readonly expectedMaximum: number;
  readonly probabilisticSharpe: number;
  readonly deflatedSharpe: number;
  readonly minTrackRecordDays: number | null;
  readonly overfittingProbability: number;
  readonly returns: readonly (readonly number[])[];
}
const { cases } = JSON.parse(readFileSync(new URL('overfittingCases.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Case[];
};

const sharpeOf = (returns: readonly number[]): number => {
  const deviation = standardDeviation(returns)!;
  return deviation > 0 ? mean(returns)! / deviation : 0;
};

describe('the statistics of over-fitting', () => {
  it.each(cases.map((stored) => [stored.name, stored] as const))('equal the stored ones: %s', (_, stored) => {
    const { returns, best } = stored;
    const ratios = returns.map(sharpeOf);
    expect(ratios.indexOf(Math.max(...ratios))).toBe(best);
    const threshold = expectedMaximum(returns.length, standardDeviation(ratios)! ** 2);
    const sample = { sharpe: ratios[best], days: returns[best].length, ...populationShape(returns[best])! };
    expect(threshold).toBeCloseTo(stored.expectedMaximum, 12);
    expect(probabilisticSharpe(sample, 0)).toBeCloseTo(stored.probabilisticSharpe, 12);
    expect(probabilisticSharpe(sample, threshold)).toBeCloseTo(stored.deflatedSharpe, 12);
    if (stored.minTrackRecordDays === null) expect(minTrackRecord(sample)).toBeNull();
    else expect(minTrackRecord(sample)! / stored.minTrackRecordDays).toBeCloseTo(1, 12);
    expect(overfittingProbability(blockSums(returns, stored.blocks))).toBe(stored.overfittingProbability);
  });

  it('differ between the cases', () => {
    const values = cases.map((stored) => stored.overfittingProbability);
    expect(new Set(values).size).toBe(cases.length);
    expect(Math.min(...values)).toBeLessThan(0.1);
    expect(Math.max(...values)).toBeGreaterThan(0.5);
  });
});
