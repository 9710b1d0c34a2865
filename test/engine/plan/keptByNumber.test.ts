// What a template keeps by number has a bound.
import { expect, it } from 'vitest';
import { KeptByNumber } from '../../../src/engine/plan/keptByNumber.ts';

it('keeps what was made last, and no more than 2,048 things', () => {
  const kept = new KeptByNumber();
  const places = [kept.addPlace(), kept.addPlace()];
  const isKept = (place: number, number: number): boolean => kept.get(place, number) !== undefined;
  for (let number = 0; number < 5_000; number++) {
    for (const place of places) kept.set(place, number, { place, number });
    for (const place of places) expect(kept.get(place, number)).toEqual({ place, number });
  }
  const numbers = Array.from({ length: 5_000 }, (_, number) => number);
  const counts = places.map((place) => numbers.filter((number) => isKept(place, number)).length);
  expect(counts[0] + counts[1]).toBeLessThanOrEqual(2_048);
});
