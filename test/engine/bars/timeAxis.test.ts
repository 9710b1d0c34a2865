// Time axes: the instants of a universe, against sets of times; instruments with equal times share their instants.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import { timeAxisOf } from '../../../src/engine/bars/timeAxis.ts';
import { diceOf } from '../../support/dice.ts';

const barsAt = (times: readonly number[]): Bars => ({ time: Float64Array.from(times), length: times.length }) as Bars;

describe('the axis of a universe', () => {
  it('has every time of any instrument once, and names the place of each row', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const dice = diceOf(seed);
      const calendars = Array.from({ length: 3 }, () =>
        Array.from({ length: 30 }, (_, time) => time).filter(() => dice.chance(0.6)),
      );
      const universe = Array.from({ length: 6 }, () => barsAt(dice.pick(calendars)));
      const { time, instants } = timeAxisOf(universe);
      const union = [...new Set(universe.flatMap((bars) => [...bars.time]))].sort((a, b) => a - b);
      expect([...time], `seed ${seed}`).toEqual(union);
      for (const [at, bars] of universe.entries())
        expect([...instants[at]], `seed ${seed}`).toEqual([...bars.time].map((each) => union.indexOf(each)));
    }
  });

  it('shares the instants of equal times, and no others', () => {
    const [a, b, c] = timeAxisOf([barsAt([1, 2, 5]), barsAt([1, 3, 5]), barsAt([1, 2, 5])]).instants;
    expect(c).toBe(a);
    expect(b).not.toBe(a);
  });

  it('keeps the axes of two universes with the same first bars', () => {
    const [first, second, third] = [barsAt([1, 2]), barsAt([2, 3]), barsAt([3, 4])];
    const all = timeAxisOf([first, second, third]);
    const some = timeAxisOf([first, third]);
    expect(timeAxisOf([first, second, third])).toBe(all);
    expect(timeAxisOf([first, third])).toBe(some);
    expect([...some.time]).toEqual([1, 2, 3, 4]);
  });
});
