// Generated allocations: the engine and the reference find the same target weights.
import { describe, expect, it } from 'vitest';
import { targetWeights, type Candidate } from '../../src/engine/simulate/portfolio/targets.ts';
import type { LegPlaces } from '../../src/engine/evaluate/tradingRules.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { referenceTargets, type TargetRules } from '../support/reference/allocationTargets.ts';
import { scaled } from '../support/scale.ts';

const RUNS = 20_000;

function randomLeg(dice: Dice): NonNullable<TargetRules['long']> {
  const count = dice.whole(1, 5);
  const places = dice.pick<LegPlaces>([
    { kind: 'count', count },
    { kind: 'share', percent: dice.pick([10, 20, 50, 100]) },
    { kind: 'eligible' },
  ]);
  const most = places.kind === 'count' ? count : 1;
  return { places, keepWithin: places.kind !== 'eligible' && dice.chance(0.4) ? most + dice.whole(0, 3) : null };
}

/** Few different values, so that ranks are often equal. */
function randomCandidate(dice: Dice, symbol: string, rules: TargetRules, absent: number): Candidate {
  const leg = (has: object | null): Candidate['long'] =>
    has === null
      ? null
      : { by: dice.chance(0.1) ? NaN : dice.whole(-4, 4), where: dice.chance(0.8), require: dice.chance(0.8) };
  const reads = rules.mode === 'inverse' || rules.mode === 'proportional';
  return {
    symbol,
    isPresent: !dice.chance(absent),
    long: leg(rules.long),
    short: leg(rules.short),
    weightBy: reads ? dice.pick([NaN, -1, ...Array.from({ length: 8 }, () => dice.number(0.1, 5))]) : 1,
    weight: dice.chance(0.4) ? dice.number(rules.short === null ? 0.01 : -0.3, 0.3) : 0,
  };
}

describe('the engine and the reference give the same target weights', { timeout: 600_000 }, () => {
  it('for every mode, with places, ranks, a fallback, caps and holdings without a bar', () => {
    const seen = { invested: 0, short: 0, fallback: 0, capped: 0 };
    for (let seed = 1; seed <= scaled(RUNS); seed++) {
      const dice = diceOf(seed);
      const symbols = ['D', 'A', 'F', 'C', 'B', 'E', 'H', 'G'].slice(0, dice.whole(1, 8));
      const mode = dice.pick(['equal', 'inverse', 'proportional', 'fixed'] as const);
      const sides = dice.pick(['long', 'long', 'short', 'both'] as const);
      const rules: TargetRules = {
        long: sides === 'short' ? null : randomLeg(dice),
        short: sides === 'long' ? null : randomLeg(dice),
        mode,
        values:
          mode === 'fixed'
            ? Object.fromEntries(symbols.filter(() => dice.chance(0.8)).map((name) => [name, dice.number(5, 50)]))
            : null,
        maxPercent: dice.chance(0.4) ? dice.number(5, 60) : null,
        fallback: dice.chance(0.4) ? dice.pick(symbols) : null,
      };
      const absent = dice.pick([0, 0, 0.2]);
      const candidates = symbols.map((symbol) => randomCandidate(dice, symbol, rules, absent));
      const gross = dice.pick([1, 1, 0.5, 2]);
      const { long, short, values, maxPercent, fallback } = rules;
      const engine = targetWeights({ long, short, weights: { mode, values, maxPercent }, fallback }, candidates, gross);
      const reference = referenceTargets(rules, candidates, gross);
      // An instrument without a bar trades nothing, whatever its target says.
      for (const [at, { isPresent }] of candidates.entries())
        if (isPresent) expect(engine[at], `seed ${seed}, instrument ${at}`).toBeCloseTo(reference[at], 9);
      const present = candidates.flatMap(({ isPresent }, at) => (isPresent ? [reference[at]] : []));
      if (present.some((weight) => weight > 0)) seen.invested++;
      if (present.some((weight) => weight < 0)) seen.short++;
      if (maxPercent !== null && present.some((weight) => weight * 100 === maxPercent)) seen.capped++;
      if (fallback !== null && candidates.some(({ symbol }, at) => symbol === fallback && reference[at] > 0))
        seen.fallback++;
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(scaled(RUNS) / 100);
  });
});
