// The kernel of drawdowns: bit for bit what is found by looking at each fall between two peaks on its own.
import { describe, expect, it } from 'vitest';
import { compensatedSum } from '../../../src/engine/kernels/compensatedSum.ts';
import { fallsOf, type Falls } from '../../../src/engine/kernels/falls.ts';
import { seededRandom } from '../../support/scale.ts';

const FIRST_PEAK = 100;

/** Marks that rest half of the time and often come back to an earlier one. */
function walk(seed: number, count: number): Float64Array {
  const random = seededRandom(seed);
  const step = random() < 0.5 ? 1 : 0.37;
  let mark = FIRST_PEAK;
  let isHeld = false;
  return Float64Array.from({ length: count }, () => {
    if (random() < 0.1) isHeld = !isHeld;
    return isHeld ? (mark = Math.max(0, mark + step * Math.floor(random() * 7 - 3))) : mark;
  });
}

/** Each run of marks below the peak before it. */
function reference(marks: Float64Array): Falls {
  const all = [FIRST_PEAK, ...marks];
  const runs: { peakAt: number; lowAt: number; end: number; depth: number }[] = [];
  for (let peakAt = 0, at = 1; at <= all.length; at++) {
    if (at < all.length && all[at] < all[peakAt]) continue;
    const below = all.slice(peakAt + 1, at);
    if (below.length > 0) {
      const lowest = Math.min(...below);
      runs.push({ peakAt, lowAt: peakAt + 1 + below.indexOf(lowest), end: at, depth: 1 - lowest / all[peakAt] });
    }
    peakAt = at;
  }
  const recovered = runs.filter(({ end }) => end < all.length);
  const lengths = runs.map(({ peakAt, end }) => end - peakAt - 1);
  const deepest = runs.reduce((best, run) => (run.depth > best.depth ? run : best), runs[0]);
  return {
    peak: Math.max(...all),
    total: compensatedSum(marks),
    depth: runs.length > recovered.length ? runs[runs.length - 1].depth : 0,
    depthSum: recovered.reduce((sum, { depth }) => sum + depth, 0),
    recoveries: recovered.length,
    money: Math.max(0, ...runs.map(({ peakAt, lowAt }) => all[peakAt] - all[lowAt])),
    deepest: deepest?.depth ?? 0,
    peakIndex: (deepest?.peakAt ?? 1) - 1,
    troughIndex: (deepest?.lowAt ?? 1) - 1,
    recoveredIndex: deepest === undefined ? 0 : deepest.end < all.length ? deepest.end - 1 : -1,
    belowCount: lengths.reduce((sum, length) => sum + length, 0),
    longestBelow: Math.max(0, ...lengths),
  };
}

describe('fallsOf', () => {
  it.each([0, 1, 2, 3, 50, 500])('finds the falls of %i marks', (count) => {
    for (let seed = 1; seed <= 40; seed++) {
      const marks = walk(seed, count);
      expect(fallsOf(marks, FIRST_PEAK), `seed ${seed}`).toEqual(reference(marks));
    }
  });

  it.each([4_095, 4_096, 4_097, 10_000])('goes on where a block of marks ends: %i marks', (count) => {
    for (let seed = 1; seed <= 5; seed++) {
      const marks = walk(seed, count);
      expect(fallsOf(marks, FIRST_PEAK), `seed ${seed}`).toEqual(reference(marks));
    }
  });

  it('has the first of two falls that are as deep', () => {
    expect(fallsOf(Float64Array.of(95, 90, 90, 100, 90), FIRST_PEAK)).toMatchObject({
      deepest: 1 - 90 / 100,
      peakIndex: -1,
      troughIndex: 1,
      recoveredIndex: 3,
    });
  });

  it('finds no fall where marks only rise', () => {
    expect(fallsOf(Float64Array.of(100, 101, 101, 103), FIRST_PEAK)).toMatchObject({
      peak: 103,
      deepest: 0,
      money: 0,
      belowCount: 0,
    });
  });
});
