// Wall-clock times against formatting every instant on its own.
import { describe, expect, it } from 'vitest';
import { localTimes } from '../../../src/engine/bars/timeZones.ts';

const QUARTER = 900_000;

/** What a clock in the zone shows, as ms that read like UTC. Swedish dates are written like ISO ones. */
function clockOf(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (time) => Date.parse(`${format.format(time).replace(' ', 'T')}Z`);
}

/** Instants from `from` on, `step` apart. */
const times = (from: number, step: number, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, row) => from + row * step);

describe('local times', () => {
  it.each([
    ['America/New_York', '2024-03-10T07:00Z', '2024-11-03T06:00Z'],
    ['Europe/London', '2024-03-31T01:00Z', '2024-10-27T01:00Z'],
    // Half an hour, south of the equator.
    ['Australia/Lord_Howe', '2024-04-06T15:00Z', '2024-10-05T15:30Z'],
    ['Asia/Kolkata', '2024-03-10T07:00Z', '2024-11-03T06:00Z'],
    ['America/New_York', '1967-04-30T07:00Z', '1967-10-29T06:00Z'],
  ])('of %s change with the bar that opens at a change of the clock', (zone, ...changes) => {
    const clock = clockOf(zone);
    for (const change of changes.map((text) => Date.parse(text))) {
      for (const [step, before] of [
        [QUARTER, 40],
        [4 * QUARTER, 60],
        [96 * QUARTER, 20],
        // Bars that do not open at the full hour, and weeks without bars.
        [7 * QUARTER, 50],
        [96 * 8 * QUARTER, 3],
      ]) {
        const opens = times(change - before * step, step, 2 * before);
        const shown = Array.from(opens, (time) => clock(time));
        expect(Array.from(localTimes(opens, zone)), `${zone}, every ${step / QUARTER} quarters`).toEqual(shown);
      }
    }
  });
});
