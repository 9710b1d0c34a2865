// Confirmation: a pattern that one of the next three closes can confirm, once. The only patterns with a memory.
import { hasBit, nextBit, unionOf } from '../kernels/bits.ts';
import type { PriceColumns } from './candles.ts';

/** The place of the lowest of three bits. */
const LOWEST_BIT = [3, 0, 1, 0, 2, 0, 1, 0];

/**
 * Writes ±100 where the pattern is found, and ±200 on the first of the next three bars, before the pattern is found
 * again, whose close passes the other end of the bar before it. The search starts three bars before `first`, as in
 * TA-Lib.
 */
export function confirm(
  { high, low, close }: PriceColumns,
  bullish: Uint32Array,
  bearish: Uint32Array,
  first: number,
  write: (row: number, value: number) => void,
): void {
  const n = close.length;
  const found = unionOf([bullish, bearish], bullish.length);
  let next = nextBit(found, first - 3, n);
  while (next < n) {
    const row = next;
    const isUp = +hasBit(bullish, row);
    const side = 2 * isUp - 1;
    if (row >= first) write(row, side * 100);
    next = nextBit(found, row + 1, n);
    // Which of the three passes, without a branch on prices: each would be mispredicted every other time.
    const limit = side * (isUp * high[row - 1] + (1 - isUp) * low[row - 1]);
    const [one, two, three] = [Math.min(row + 1, n - 1), Math.min(row + 2, n - 1), Math.min(row + 3, n - 1)];
    const passes =
      +(side * close[one] > limit) | (+(side * close[two] > limit) << 1) | (+(side * close[three] > limit) << 2);
    const later = row + 1 + LOWEST_BIT[passes];
    if (later < Math.min(next, row + 4) && later >= first) write(later, side * 200);
  }
}
