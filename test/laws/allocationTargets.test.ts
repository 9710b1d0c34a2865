// Targets of generated instants: laws, and a slow reference that fills places one by one and finds caps by bisection.
import { describe, expect, it } from 'vitest';
import { targetWeights, type AllocationForm, type Candidate } from '../../src/engine/simulate/portfolio/targets.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { scaled } from '../support/scale.ts';

const CASES = 20_000;
const TOLERANCE = 1e-9;

interface Case {
  readonly form: AllocationForm;
  readonly candidates: readonly Candidate[];
  readonly gross: number;
}

function legOf(dice: Dice): AllocationForm['long'] {
  const places = dice.pick([
    { kind: 'count', count: dice.whole(1, 4) },
    { kind: 'share', percent: dice.whole(1, 100) },
    { kind: 'eligible' },
  ] as const);
  return { places, keepWithin: dice.chance(0.5) ? dice.whole(1, 6) : null };
}

/** @param isTied whether instruments may have equal ranks */
function caseOf(seed: number, isTied = true): Case {
  const dice = diceOf(seed);
  const symbols = 'ABCDEFGH'.slice(0, dice.whole(1, 8)).split('');
  const by = (at: number): number =>
    dice.chance(0.1) ? NaN : dice.whole(-3, 3) + (isTied ? 0 : (at * 7 + seed) % 97) / 1000 + (isTied ? 0 : at / 1e6);
  const facts = (at: number) => ({ by: by(at), where: dice.chance(0.8), require: dice.chance(0.8) });
  const candidates = symbols.map((symbol, at): Candidate => {
    const isPresent = dice.chance(0.8);
    const weight = dice.chance(0.5) ? 0 : dice.whole(-30, 30) / 100;
    const weightBy = dice.pick([NaN, 0, -1, 1, 2, 3, 5, 8]);
    return { symbol, isPresent, long: facts(at), short: facts(at), weightBy, weight };
  });
  const mode = dice.pick(['equal', 'inverse', 'proportional', 'fixed'] as const);
  const values = Object.fromEntries(symbols.filter(() => dice.chance(0.7)).map((each) => [each, dice.whole(1, 60)]));
  const sides = dice.whole(0, 3);
  return {
    form: {
      long: sides === 0 ? null : legOf(dice),
      short: sides > 1 ? null : legOf(dice),
      weights: {
        mode,
        values: mode === 'fixed' ? values : null,
        maxPercent: dice.chance(0.5) ? dice.whole(5, 60) : null,
      },
      fallback: dice.chance(0.3) ? dice.pick([...symbols, 'ELSEWHERE']) : null,
    },
    candidates: mode === 'equal' ? candidates.map((each) => ({ ...each, weightBy: 1 })) : candidates,
    gross: dice.whole(0, 200) / 100,
  };
}

/** A place: whom it holds, and why. */
interface Place {
  readonly of: Candidate | null;
  readonly as: 'selected' | 'failed' | 'absent' | 'empty';
}

function weightBasis({ form }: Case, { symbol, weightBy }: Candidate): number {
  return form.weights.values === null ? weightBy : (form.weights.values[symbol] ?? 0);
}

/** Fills the places of one leg, one after the other. */
function placesOf(one: Case, side: 'long' | 'short', taken: Set<Candidate>): Place[] {
  const { form, candidates } = one;
  const { places: wanted, keepWithin } = form[side]!;
  const sign = side === 'long' ? 1 : -1;
  const able = candidates.filter((each) => {
    if (each.symbol === form.fallback || !each.isPresent) return false;
    const { by, where } = each[side]!;
    return where && by === by && weightBasis(one, each) > 0;
  });
  const free = able.filter((each) => !taken.has(each));
  /** How many are ahead: a better rank, or an equal one before it in the list. */
  const rankOf = (each: Candidate): number =>
    free.filter((other) => {
      const ahead = sign * (other[side]!.by - each[side]!.by);
      return ahead > 0 || (ahead === 0 && candidates.indexOf(other) < candidates.indexOf(each));
    }).length;
  const gone = candidates.filter((each) => each.symbol !== form.fallback && !each.isPresent && sign * each.weight > 0);
  const count = {
    count: () => (wanted as { count: number }).count,
    share: () => Math.max(1, Math.floor(((wanted as { percent: number }).percent * able.length) / 100)),
    eligible: () => free.length + gone.length,
  }[wanted.kind]();
  const places: Place[] = gone.map((of) => ({ of, as: 'absent' }));
  const best = (among: Candidate[]): Candidate | undefined => among.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
  const isKept = (each: Candidate): boolean =>
    keepWithin !== null && sign * each.weight > 0 && rankOf(each) < keepWithin;
  let left = [...free];
  while (places.length < count) {
    const next = best(left.filter(isKept)) ?? best(left);
    if (next === undefined) places.push({ of: null, as: 'empty' });
    else {
      left = left.filter((each) => each !== next);
      taken.add(next);
      places.push({ of: next, as: next[side]!.require ? 'selected' : 'failed' });
    }
  }
  return places;
}

/** Numbers in proportion to the parts, none above `most`, that add up to `total` or as near to it as the cap allows. */
function byBisection(parts: readonly number[], total: number, most: number): number[] {
  const at = (level: number): number[] => parts.map((part) => Math.min(most, part * level));
  let [low, high] = [0, 1];
  const added = (level: number): number => at(level).reduce((a, b) => a + b, 0);
  while (added(high) < total && high < 1e9) high *= 2;
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2;
    if (added(middle) < total) low = middle;
    else high = middle;
  }
  return at(high);
}

function reference(one: Case): number[] {
  const { form, candidates, gross } = one;
  const { mode, values, maxPercent } = form.weights;
  const most = maxPercent === null ? Infinity : maxPercent / 100;
  const taken = new Set<Candidate>();
  const legs = (['long', 'short'] as const)
    .filter((side) => form[side] !== null)
    .map((side) => ({ sign: side === 'long' ? 1 : -1, places: placesOf(one, side, taken), count: 0 }));
  const wantedPlaces = legs.map(({ places }, at) => {
    const side = form.long !== null && at === 0 ? form.long : form.short!;
    return side.places.kind === 'count' ? side.places.count : places.length;
  });
  // More holdings without a bar than places: a percent counts its places as well.
  legs.forEach((leg, at) => {
    const side = form.long !== null && at === 0 ? form.long : form.short!;
    leg.count = wantedPlaces[at];
    if (side.places.kind === 'share') {
      const name = leg.sign > 0 ? 'long' : 'short';
      const able = candidates.filter(
        (each) =>
          each.symbol !== form.fallback &&
          each.isPresent &&
          each[name]!.where &&
          each[name]!.by === each[name]!.by &&
          weightBasis(one, each) > 0,
      );
      leg.count = Math.max(1, Math.floor((side.places.percent * able.length) / 100));
    }
  });
  const all = legs.reduce((sum, { count }) => sum + count, 0);
  const kept = candidates.find((each) => each.symbol === form.fallback && !each.isPresent)?.weight;
  const budgets = legs.map(({ places, count }) => {
    const absent = places.filter(({ as }) => as === 'absent');
    const open = count - absent.length;
    const bound = absent.reduce((sum, { of }) => sum + Math.abs(of!.weight), 0);
    const pot = open > 0 ? Math.max(0, (gross * count) / all - bound) : 0;
    const chosen = places.filter(({ as }) => as === 'selected');
    const vacant = places.filter(({ as }) => as === 'failed' || as === 'empty');
    return {
      chosen,
      vacant,
      pot,
      money: open > 0 ? (pot * chosen.length) / open : 0,
      rest: open > 0 ? (pot * vacant.length) / open : 0,
    };
  });
  const isThere = candidates.some(({ symbol, isPresent }) => symbol === form.fallback && isPresent);
  const money = budgets.reduce((sum, each) => sum + each.money + (isThere ? each.rest : 0), 0);
  const frozen = candidates.reduce((sum, each) => sum + (each.isPresent ? 0 : Math.abs(each.weight)), 0);
  const room = Math.max(0, gross - frozen);
  const squeeze = money > room ? room / money : 1;
  const weights = new Map<Candidate, number>();
  let toFallback = 0;
  legs.forEach(({ sign, places }, at) => {
    const { chosen, vacant, money: own, rest } = budgets[at];
    for (const { of, as } of places) if (as === 'absent') weights.set(of!, of!.weight);
    if (values !== null) {
      for (const { of } of chosen) weights.set(of!, sign * Math.min(most, (values[of!.symbol] * gross) / 100));
      for (const { of } of vacant) toFallback += of === null ? 0 : (values[of.symbol] * gross) / 100;
      return;
    }
    toFallback += rest * squeeze;
    const parts = chosen.map(({ of }) => (mode === 'inverse' ? 1 / of!.weightBy : mode === 'equal' ? 1 : of!.weightBy));
    const shared = byBisection(parts, own * squeeze, most);
    chosen.forEach(({ of }, place) => weights.set(of!, sign * shared[place]));
  });
  return candidates.map((each) => (each.symbol === form.fallback ? (kept ?? toFallback) : (weights.get(each) ?? 0)));
}

const seeds = Array.from({ length: scaled(CASES) }, (_, at) => at + 1);
const sumOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

describe('the targets of an allocation', () => {
  it('are those of a reference that fills places one by one', () => {
    const different: number[] = [];
    for (const seed of seeds) {
      const one = caseOf(seed);
      const made = targetWeights(one.form, one.candidates, one.gross);
      const expected = reference(one);
      if (expected.some((each, at) => !(Math.abs(each - made[at]) <= TOLERANCE))) different.push(seed);
    }
    expect(different).toEqual([]);
  });

  it('do not depend on the order of the list where no ranks are equal', () => {
    let moved = 0;
    for (const seed of seeds) {
      const { form, candidates, gross } = caseOf(seed, false);
      const made = targetWeights(form, candidates, gross);
      const reversed = targetWeights(form, candidates.toReversed(), gross).toReversed();
      if (made.some((each, at) => each !== reversed[at])) moved++;
    }
    expect(moved).toBe(0);
  });

  it('are at most the cap, except for the fallback and what has no bar', () => {
    let capped = 0;
    for (const seed of seeds) {
      const { form, candidates, gross } = caseOf(seed);
      const { maxPercent } = form.weights;
      if (maxPercent === null) continue;
      targetWeights(form, candidates, gross).forEach((each, at) => {
        if (!candidates[at].isPresent || candidates[at].symbol === form.fallback) return;
        expect(Math.abs(each)).toBeLessThanOrEqual(maxPercent / 100);
        if (Math.abs(each) === maxPercent / 100) capped++;
      });
    }
    expect(capped).toBeGreaterThan(50);
  });

  it('share out at most the gross, unless they are fixed or what has no bar is more', () => {
    let whole = 0;
    for (const seed of seeds) {
      const { form, candidates, gross } = caseOf(seed);
      if (form.weights.values !== null) continue;
      const made = [...targetWeights(form, candidates, gross)];
      const bound = sumOf(made.filter((_, at) => !candidates[at].isPresent).map(Math.abs));
      const total = sumOf(made.map(Math.abs));
      expect(total).toBeLessThanOrEqual(Math.max(gross, bound) + TOLERANCE);
      if (gross > 0 && Math.abs(total - gross) <= TOLERANCE) whole++;
    }
    expect(whole).toBeGreaterThan(100);
  });
});
