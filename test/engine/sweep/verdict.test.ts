// The verdict of a sweep in words: what decides comes first, and what speaks against it is named as such.
import { describe, expect, it } from 'vitest';
import { verdictOf, type Overfitting } from '../../../src/engine/sweep/verdict.ts';

const found = (
  deflatedSharpe: number | null,
  overfittingProbability: number | null,
  more: object = {},
): Overfitting => ({
  trials: 100,
  dailySharpe: 0.05,
  expectedMaximum: 0.04,
  probabilisticSharpe: 0.99,
  deflatedSharpe,
  overfittingProbability,
  variantsCompared: 100,
  days: 500,
  minTrackRecordDays: 400,
  ...more,
});

const SHARPE = 'the probability that its Sharpe ratio is above the best that 100 variants without skill would show is';
const CHOICE = 'the variant that is best on one half of the days is in the lower half on the other in';

describe('the verdict of a sweep', () => {
  it.each<[string, Overfitting, string, string]>([
    [
      'both tests are passed',
      found(0.97, 0.2),
      'not_luck',
      `The best variant is probably not luck: ${SHARPE} 97 % (at least 95 % is needed), and ${CHOICE} 20 % of all ` +
        'splits (at most 50 % is allowed).',
    ],
    [
      'only the Sharpe ratio is too low',
      found(0.3, 0.2),
      'luck',
      `Treat the best variant as luck: ${SHARPE} 30 % (at least 95 % is needed). It does pass the test on other ` +
        `days: ${CHOICE} 20 % of all splits (at most 50 % is allowed).`,
    ],
    [
      'only the choice does not hold',
      found(0.97, 0.6),
      'luck',
      `Treat the best variant as luck: ${CHOICE} 60 % of all splits (at most 50 % is allowed). By its Sharpe ratio ` +
        `alone it would pass: ${SHARPE} 97 % (at least 95 % is needed).`,
    ],
    [
      'neither is passed and the record is short',
      found(0.3, 0.6, { minTrackRecordDays: 900.2 }),
      'luck',
      `Treat the best variant as luck: ${SHARPE} 30 % (at least 95 % is needed). It fails the test on other days, ` +
        `too: ${CHOICE} 60 % of all splits (at most 50 % is allowed). The record is too short to tell this Sharpe ` +
        'ratio from 0: it has 500 days, and 901 are needed.',
    ],
    [
      'the choice cannot be tested',
      found(0.97, null),
      'luck',
      'Treat the best variant as luck: whether the choice holds on other days cannot be tested with so few days or ' +
        `variants. By its Sharpe ratio alone it would pass: ${SHARPE} 97 % (at least 95 % is needed).`,
    ],
    [
      'a single variant has a low Sharpe ratio',
      found(0.3, null, { trials: 1 }),
      'luck',
      'Treat the best variant as luck: the probability that its Sharpe ratio is above 0 is 30 % (at least 95 % is ' +
        'needed). Whether the choice holds on other days cannot be tested with so few days or variants.',
    ],
  ])('says when %s', (_, overfitting, code, text) => {
    expect(verdictOf(overfitting, true, null)).toEqual({ code, text });
  });

  it.each([
    [0.9496, 0.2, '94.96 %'],
    [0.94, 0.501, '50.1 %'],
    [0.97, 0.5004, '50.04 %'],
  ])('never rounds a number onto the bound that it misses: %d and %d', (deflated, overfitting, shown) => {
    const { code, text } = verdictOf(found(deflated, overfitting), true, null);
    expect([code, text]).toEqual(['luck', expect.stringContaining(` ${shown}`)]);
  });

  it('is luck where all that the workspace has tried explains the Sharpe ratio, whatever this sweep alone says', () => {
    expect(verdictOf(found(0.97, 0.2), true, { trials: 1_000, deflatedSharpe: 0.9 })).toEqual({
      code: 'luck',
      text:
        'Treat the best variant as luck: the probability that its Sharpe ratio is above the best that 1000 variants ' +
        'without skill would show, as many as the workspace has tried of this strategy on this data, is 90 % (at ' +
        'least 95 % is needed; by the 100 of this sweep alone it would be 97 %). It does pass the test on other ' +
        `days: ${CHOICE} 20 % of all splits (at most 50 % is allowed).`,
    });
    expect(verdictOf(found(0.97, 0.2), true, { trials: 1_000, deflatedSharpe: 0.96 }).code).toBe('not_luck');
  });

  describe('with a walk-forward', () => {
    const walked = { returnPct: 0.2, sharpeRatio: 0.8, coveredShare: 1, bestSharpe: 1.2 };
    const verdict = (more: object, overfitting = found(0.97, 0.2)) =>
      verdictOf(overfitting, true, null, { ...walked, ...more });

    it('is not luck where the choices keep half of the Sharpe ratio out of sample', () => {
      const { code, text } = verdict({});
      expect(code).toBe('not_luck');
      expect(text).toContain(
        'It holds out of sample, too: the choices of the folds returned 20.0 % in their test windows, with a Sharpe ' +
          "ratio of 0.800 (above 0 and at least 0.600 are needed, half of the best row's).",
      );
      expect(verdict({ sharpeRatio: 0.6 }).code).toBe('not_luck');
    });

    it.each([
      [{ sharpeRatio: 0.59 }, 'with a Sharpe ratio of 0.590 (above 0 and at least 0.600 are needed'],
      [{ returnPct: -0.01, sharpeRatio: 0.7 }, 'returned -1.0 % in their test windows'],
      [{ sharpeRatio: null }, 'with no Sharpe ratio'],
      [{ coveredShare: 0.496 }, 'the walk-forward traded 49.6 % of its test period (at least 50 % is needed)'],
    ])('is luck where the choices fail out of sample, whatever holds in sample: %j', (more, reason) => {
      const { code, text } = verdict(more);
      expect(code).toBe('luck');
      expect(text).toMatch(/^Treat the best variant as luck: .* In sample it would pass: the probability/);
      expect(text).toContain(reason);
    });

    it('stays luck where only the walk-forward passes', () => {
      const { code, text } = verdict({}, found(0.3, 0.2));
      expect([code, text]).toEqual(['luck', expect.stringContaining('It does hold out of sample: the choices')]);
      expect(verdict({ returnPct: -0.1 }, found(0.3, 0.2)).text).toContain('It does not hold out of sample, either:');
    });
  });

  it('is the same when the workspace had tried nothing before', () => {
    const sweep = found(0.97, 0.2);
    expect(verdictOf(sweep, true, { trials: 100, deflatedSharpe: 0.97 })).toEqual(verdictOf(sweep, true, null));
  });

  it.each([
    [{ trials: 0 }, false, 'no variant was run'],
    [{}, false, 'no variant has a value of the objective and satisfies the constraints'],
    [{}, true, 'the best variant has no Sharpe ratio, because it did not trade or its equity never changed'],
  ])('says why there is nothing to judge: %j %s', (more, hasBest, why) => {
    expect(verdictOf(found(null, null, more), hasBest, null).text).toBe(`There is nothing to judge: ${why}.`);
  });
});
