// The days of a range, against looking at every row.
import { expect, it } from 'vitest';
import { DAY_MS } from '../../../src/engine/bars/bars.ts';
import { dayClosesOf, daysOf } from '../../../src/engine/bars/days.ts';
import { START, randomBars } from '../../support/bars.ts';

const HOUR_MS = 3_600_000;
/** Three days of few hours, one day without any between the last two; the second day has a single bar. */
const bars = randomBars({ times: [20, 22, 23, 30, 72, 73, 95].map((hour) => START + hour * HOUR_MS) });

const ranges = bars.time.length + 1;
const cases = Array.from({ length: ranges * ranges }, (_, at) => [Math.floor(at / ranges), at % ranges] as const);

it('ends each day of any range at its last row in the range', () => {
  for (const [start, end] of cases) {
    const rows = Array.from({ length: Math.max(0, end - start) }, (_, at) => start + at);
    const days = Map.groupBy(rows, (row) => Math.floor(bars.time[row] / DAY_MS) * DAY_MS);
    const lastRows = [...days.values()].map((ofDay) => ofDay.at(-1)!);
    const found = daysOf(bars.time, start, end);
    expect([...found.lastRows], `rows ${start} to ${end}`).toEqual(lastRows);
    expect([...found.day], `rows ${start} to ${end}`).toEqual([...days.keys()]);
    expect([...dayClosesOf(bars, start, end)], `rows ${start} to ${end}`).toEqual(
      lastRows.map((row) => bars.close[row]),
    );
  }
});
