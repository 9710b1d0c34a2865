// What a template keeps by number has a bound.
import { expect, it } from 'vitest';
import { KeptByNumber } from '../../../src/engine/fast/planTemplates/keptByNumber.ts';

it.each([
  [[4, 24], 1_000, 1_490],
  [[4, 8_184], 1, 8],
  [[40_000, 4], 2_000, 2_731],
])('keeps, of things with %j members, what was made last, and %i to %i things', (members, least, most) => {
  const kept = new KeptByNumber();
  const places = members.map((count) => kept.addPlace(count));
  for (let number = 0; number < 5_000; number++) {
    for (const place of places) kept.set(place, number, { place, number });
    const found = kept.get(places[1], number);
    expect(found).toEqual({ place: places[1], number });
  }
  const numbers = Array.from({ length: 5_000 }, (_, number) => number);
  const isKept = (place: number, number: number): boolean => kept.get(place, number) !== undefined;
  const counts = places.map((place) => numbers.filter((number) => isKept(place, number)).length);
  expect(counts[0] + counts[1]).toBeGreaterThanOrEqual(least);
  expect(counts[0] + counts[1]).toBeLessThanOrEqual(most);
});
