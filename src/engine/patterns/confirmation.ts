// Confirmation: a pattern that one of the next three closes can confirm, once. The only patterns with a memory.
import { hasBit, nextBit, unionOf } from '../kernels/bits.ts';
import type { PriceColumns } from './patternProgram.ts';

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
    const side = hasBit(bullish, row) ? 1 : -1;
    if (row >= first) write(row, side * 100);
    next = nextBit(found, row + 1, n);
    for (let later = row + 1; later < Math.min(next, row + 4); later++) {
      if (side > 0 ? close[later] <= high[row - 1] : close[later] >= low[row - 1]) continue;
      if (later >= first) write(later, side * 200);
      break;
    }
  }
}
