// Targets of an allocation, computed by hand: who is held, and how much of it.
import { describe, expect, it } from 'vitest';
import {
  targetWeights,
  type AllocationForm,
  type Candidate,
} from '../../../../src/engine/simulate/portfolio/targets.ts';

const count = (n: number) => ({ kind: 'count', count: n }) as const;
const percent = (n: number) => ({ kind: 'share', percent: n }) as const;
const eligible = { kind: 'eligible' } as const;
const leg = (places: NonNullable<AllocationForm['long']>['places'], keepWithin: number | null = null) => ({
  places,
  keepWithin,
});
const form = (more: Partial<AllocationForm> = {}): AllocationForm => ({
  long: leg(eligible),
  short: null,
  weights: { mode: 'equal', values: null, maxPercent: null },
  fallback: null,
  ...more,
});

interface Fact {
  by?: number;
  /** Of the short leg, where it differs. */
  shortBy?: number;
  where?: boolean;
  require?: boolean;
  weightBy?: number;
  weight?: number;
  isPresent?: boolean;
}
/** The target of every instrument in percent, rounded to 1e-9; those that are 0 are left out. */
function targets(of: AllocationForm, facts: Readonly<Record<string, Fact>>, grossPercent = 100): object {
  const candidates = Object.entries(facts).map(([symbol, fact]): Candidate => {
    const { by = 0, shortBy = by, where = true, require = true, weightBy = 1, weight = 0, isPresent = true } = fact;
    const asked = { where, require };
    return { symbol, isPresent, long: { by, ...asked }, short: { by: shortBy, ...asked }, weightBy, weight };
  });
  const weights = targetWeights(of, candidates, grossPercent / 100);
  return Object.fromEntries(
    candidates.flatMap(({ symbol }, at) => (weights[at] === 0 ? [] : [[symbol, Math.round(weights[at] * 1e11) / 1e9]])),
  );
}

describe('who an allocation holds', () => {
  it('holds all that are eligible without by and top', () => {
    expect(targets(form(), { A: {}, B: {}, C: {}, D: {} })).toEqual({ A: 25, B: 25, C: 25, D: 25 });
  });

  it('needs a known by, a true where, and a bar at this instant', () => {
    const facts = { A: { by: NaN }, B: { by: 1, where: false }, C: { by: 1, isPresent: false }, D: { by: -5 } };
    expect(targets(form({ long: leg(count(1)) }), facts)).toEqual({ D: 100 });
  });

  it('holds the n largest, equal ones in the order of the list', () => {
    const facts = { D: { by: 2 }, C: { by: 3 }, B: { by: 2 }, A: { by: 2 } };
    expect(targets(form({ long: leg(count(2)) }), facts)).toEqual({ C: 50, D: 50 });
  });

  it('takes a percent of the eligible, rounded down and at least 1', () => {
    const facts = Object.fromEntries('ABCDEFGHI'.split('').map((symbol, at) => [symbol, { by: -at }]));
    expect(targets(form({ long: leg(percent(30)) }), facts)).toEqual({ A: 50, B: 50 });
    expect(targets(form({ long: leg(percent(5)) }), facts)).toEqual({ A: 100 });
    expect(targets(form({ long: leg(percent(30)) }), { ...facts, H: { by: NaN }, I: { by: NaN } })).toEqual({
      A: 50,
      B: 50,
    });
    expect(
      targets(form({ long: leg(percent(30)) }), { ...facts, G: { by: NaN }, H: { by: NaN }, I: { by: NaN } }),
    ).toEqual({ A: 100 });
  });

  it('keeps a holding while it ranks within keepWithin, and gives free places to the best others', () => {
    const facts = { A: { by: 5 }, B: { by: 4 }, C: { by: 3, weight: 0.5 }, D: { by: 2, weight: 0.5 }, E: { by: 1 } };
    expect(targets(form({ long: leg(count(2), 3) }), facts)).toEqual({ A: 50, C: 50 });
    expect(targets(form({ long: leg(count(2), 4) }), facts)).toEqual({ C: 50, D: 50 });
    expect(targets(form({ long: leg(count(2), 2) }), facts)).toEqual({ A: 50, B: 50 });
  });

  it('keeps the best-ranked holdings where places shrink', () => {
    const facts = { A: { by: 1, weight: 0.3 }, B: { by: 3, weight: 0.3 }, C: { by: 2, weight: 0.3 }, D: { by: 9 } };
    expect(targets(form({ long: leg(count(2), 4) }), facts)).toEqual({ B: 50, C: 50 });
  });

  it('does not keep in one leg what is held on the other side', () => {
    const facts = { A: { by: 5 }, B: { by: 4, weight: -0.5 } };
    expect(targets(form({ long: leg(count(1), 2) }), facts)).toEqual({ A: 100 });
  });

  it('asks what it requires after ranking, so that a place that fails it stays cash', () => {
    const facts = { A: { by: 3, require: false }, B: { by: 2 }, C: { by: 1 } };
    expect(targets(form({ long: leg(count(2)) }), facts)).toEqual({ B: 50 });
  });

  it('gives failed and empty places to the fallback, which is not ranked and has no cap', () => {
    const weights = { mode: 'equal', values: null, maxPercent: 30 } as const;
    const rotation = form({ long: leg(count(4)), fallback: 'Z', weights });
    expect(targets(rotation, { A: { by: 3, require: false }, B: { by: 2 }, Z: { by: 9 } })).toEqual({ B: 25, Z: 75 });
    expect(targets(form({ long: leg(count(1)), fallback: 'Z' }), { A: { by: 3 }, Z: { by: 9 } })).toEqual({ A: 100 });
  });

  it('shorts the n smallest, and lets the long leg choose first', () => {
    const both = form({ long: leg(count(2)), short: leg(count(2)) });
    const facts = { A: { by: 4 }, B: { by: 3 }, C: { by: 2 }, D: { by: 1 } };
    expect(targets(both, facts)).toEqual({ A: 25, B: 25, C: -25, D: -25 });
    // B is chosen long and fails there: it is not left for the short leg, which would rank it first.
    expect(targets(both, { ...facts, B: { by: 3, shortBy: 0, require: false } })).toEqual({ A: 25, C: -25, D: -25 });
    expect(targets(both, { A: { by: 4 }, B: { by: 3 }, C: { by: 2 } })).toEqual({ A: 25, B: 25, C: -25 });
  });

  it('counts a percent of the short leg before the long leg has chosen', () => {
    const both = form({ long: leg(percent(50)), short: leg(percent(50)) });
    expect(targets(both, { A: { by: 4 }, B: { by: 3 }, C: { by: 2 }, D: { by: 1 } })).toEqual({
      A: 25,
      B: 25,
      C: -25,
      D: -25,
    });
  });
});

describe('a holding without a bar', () => {
  it('keeps its weight and a place of its side, and is deducted from the gross', () => {
    const facts = { A: { by: 3 }, B: { by: 2 }, C: { by: 1 }, X: { isPresent: false, weight: 0.2 } };
    expect(targets(form({ long: leg(count(3)) }), facts)).toEqual({ A: 40, B: 40, X: 20 });
    expect(targets(form({ long: leg(eligible) }), facts)).toEqual({
      A: 26.666666667,
      B: 26.666666667,
      C: 26.666666667,
      X: 20,
    });
  });

  it('leaves an empty place cash', () => {
    expect(targets(form({ long: leg(count(4)) }), { A: { by: 3 }, X: { isPresent: false, weight: 0.4 } })).toEqual({
      A: 20,
      X: 40,
    });
  });

  it('leaves nothing where it has grown beyond the gross, or takes every place', () => {
    const X = { isPresent: false, weight: 0.9 };
    expect(targets(form({ long: leg(count(2)) }), { A: { by: 1 }, X }, 80)).toEqual({ X: 90 });
    expect(targets(form({ long: leg(count(1)) }), { A: { by: 1 }, X })).toEqual({ X: 90 });
  });

  it('is deducted from its own leg', () => {
    const both = form({ long: leg(count(2)), short: leg(count(2)) });
    const facts = { A: { by: 4 }, C: { by: 2 }, D: { by: 1 }, X: { isPresent: false, weight: -0.1 } };
    expect(targets(both, facts)).toEqual({ A: 25, C: 25, D: -40, X: -10 });
  });

  it('leaves the others what it leaves of the gross, where it has grown beyond its leg', () => {
    const both = form({ long: leg(count(1)), short: leg(count(1)) });
    const facts = { C: { by: 2 }, X: { isPresent: false, weight: 0.8 } };
    expect(targets(both, facts)).toEqual({ C: -20, X: 80 });
  });

  it('is kept as the fallback, where vacant places pay for it first', () => {
    const rotation = form({ long: leg(count(2)), fallback: 'Z' });
    const Z = { isPresent: false, weight: 0.5 };
    expect(targets(rotation, { A: { by: 2 }, B: { by: 1, require: false }, Z })).toEqual({ A: 50, Z: 50 });
    expect(targets(rotation, { A: { by: 2 }, B: { by: 1 }, Z })).toEqual({ A: 25, B: 25, Z: 50 });
    expect(targets(rotation, { A: { by: 2 }, Z: { isPresent: false } })).toEqual({ A: 50 });
  });
});

describe('how much an allocation holds', () => {
  const inverse = (maxPercent: number | null) => ({ mode: 'inverse', values: null, maxPercent }) as const;

  it('shares gross × selected / places', () => {
    expect(targets(form({ long: leg(count(3)) }), { A: {}, B: { by: -1 } }, 150)).toEqual({ A: 50, B: 50 });
  });

  it('weighs in proportion to by, or to 1 / by', () => {
    const facts = { A: { weightBy: 1 }, B: { weightBy: 3 } };
    expect(targets(form({ weights: inverse(null) }), facts)).toEqual({ A: 75, B: 25 });
    expect(targets(form({ weights: { ...inverse(null), mode: 'proportional' } }), facts)).toEqual({ A: 25, B: 75 });
  });

  it('leaves an empty place cash in every mode', () => {
    const facts = { A: { by: 2, weightBy: 1 }, B: { by: 1, weightBy: 3 } };
    expect(targets(form({ long: leg(count(4)), weights: inverse(null) }), facts)).toEqual({ A: 37.5, B: 12.5 });
  });

  it('needs a positive weight by, before it ranks', () => {
    const facts = { A: { by: 9, weightBy: 0 }, B: { by: 8, weightBy: -1 }, C: { by: 7, weightBy: NaN }, D: { by: 1 } };
    expect(targets(form({ long: leg(count(1)), weights: inverse(null) }), facts)).toEqual({ D: 100 });
  });

  it('gives what a cap cuts off to the others in proportion, until none is above', () => {
    const parts = { A: { weightBy: 6 }, B: { weightBy: 3 }, C: { weightBy: 1 } };
    const capped = (maxPercent: number) => form({ weights: { mode: 'proportional', values: null, maxPercent } });
    // 60, 30 and 10: the excess of A goes 3 to 1, after which B is above as well.
    expect(targets(capped(50), parts)).toEqual({ A: 50, B: 37.5, C: 12.5 });
    expect(targets(capped(40), parts)).toEqual({ A: 40, B: 40, C: 20 });
    expect(targets(capped(30), parts)).toEqual({ A: 30, B: 30, C: 30 });
  });

  it('holds fixed percents of the gross, never rescaled', () => {
    const sixtyForty = (maxPercent: number | null, fallback: string | null = null) =>
      form({ weights: { mode: 'fixed', values: { SPY: 60, BND: 40 }, maxPercent }, fallback });
    expect(targets(sixtyForty(null), { BND: {}, SPY: {}, QQQ: {} })).toEqual({ BND: 40, SPY: 60 });
    expect(targets(sixtyForty(null), { BND: {}, SPY: {} }, 150)).toEqual({ BND: 60, SPY: 90 });
    expect(targets(sixtyForty(null), { BND: {}, SPY: { where: false } })).toEqual({ BND: 40 });
    expect(targets(sixtyForty(50), { BND: {}, SPY: {} })).toEqual({ BND: 40, SPY: 50 });
    expect(targets(sixtyForty(null, 'GLD'), { BND: {}, SPY: { require: false }, GLD: {} })).toEqual({
      BND: 40,
      GLD: 60,
    });
  });

  it('gives each leg the part of the gross that its places are of all', () => {
    const both = form({ long: leg(count(3)), short: leg(count(1)) });
    const facts = { A: { by: 4 }, B: { by: 3 }, C: { by: 2 }, D: { by: 1 } };
    expect(targets(both, facts, 200)).toEqual({ A: 50, B: 50, C: 50, D: -50 });
  });
});
