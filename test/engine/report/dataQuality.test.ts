// Gaps of the bars behind a result, against a count of row after row.
import { expect, it } from 'vitest';
import { dataQuality } from '../../../src/engine/report/dataQuality.ts';
import { diceOf } from '../../support/dice.ts';
import { barsFrom } from '../simulate/input.ts';

const HOUR = 3_600_000;

it('counts the gaps of a range, and names the longest', () => {
  let found = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const dice = diceOf(seed);
    const share = dice.pick([0, 0.05, 0.3]);
    const count = dice.whole(2, 60);
    const time = new Float64Array(count);
    for (let row = 1; row < count; row++)
      time[row] = time[row - 1] + HOUR * (dice.chance(share) ? dice.whole(2, 9) : dice.pick([1, 0.5]));
    const price = time.map(() => 100);
    const bars = barsFrom({ time, open: price, high: price, low: price, close: price }, '1h');
    const start = dice.whole(0, count - 1);
    const end = dice.whole(start, count);
    const spans = [...time.subarray(start, end)].map((at, index) => (index === 0 ? 0 : at - time[start + index - 1]));
    const gaps = spans.filter((span) => span > HOUR);
    const expected = { gaps: gaps.length, longestGapBars: Math.round(Math.max(HOUR, ...gaps) / HOUR) - 1 };
    expect(dataQuality(bars, null, start, end), `seed ${seed}`).toMatchObject(expected);
    found += gaps.length;
  }
  expect(found).toBeGreaterThan(200);
});
