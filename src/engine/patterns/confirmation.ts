// Confirmation: a pattern that one of the next three closes can confirm, once. The only patterns with a memory.
import type { PriceColumns } from './candles.ts';
import { newSides, rowsOf, type PatternSides } from './signs.ts';

/** How many bars can confirm a pattern. */
const BARS = 3;
/** The place of the lowest of three bits. */
const LOWEST_BIT = [BARS, 0, 1, 0, 2, 0, 1, 0];

/** The values of such a pattern, a block of rows at a time, while the block is in the nearest cache. */
export class Confirmation {
  /** The rows on which the pattern is found so far. */
  readonly found: PatternSides;
  readonly #columns: PriceColumns;
  readonly #first: number;
  readonly #write: (row: number, value: number) => void;

  /**
   * @param first the first row with a value; the search starts three bars before it, as in TA-Lib
   * @param write ±100 where the pattern is found, and ±200 on the first of the next three bars, before the pattern is
   *   found again, whose close passes the other end of the bar before it
   */
  constructor(columns: PriceColumns, first: number, write: (row: number, value: number) => void) {
    this.found = newSides(columns.close.length);
    this.#columns = columns;
    this.#first = first;
    this.#write = write;
  }

  /**
   * Writes the values of the block of rows start … end-1, whose bits are in `found`. Blocks come in order; what is
   * found on the last rows of one waits for the next.
   */
  write(start: number, end: number): void {
    const { high, low, close } = this.#columns;
    const { bullish, bearish } = this.found;
    const first = this.#first;
    const write = this.#write;
    const last = close.length - 1;
    const from = Math.max(first, start) - BARS;
    const to = end > last ? end : end - BARS;
    for (let index = from >>> 5; index << 5 < to; index++) {
      const found = bullish[index] | bearish[index];
      const after = index < bullish.length - 1 ? bullish[index + 1] | bearish[index + 1] : 0;
      let word = found & rowsOf(from, index << 5, to);
      for (; word !== 0; word &= word - 1) {
        const bit = 31 - Math.clz32(word & -word);
        const row = (index << 5) + bit;
        const isUp = (bullish[index] >>> bit) & 1;
        const side = 2 * isUp - 1;
        if (row >= first) write(row, side * 100);
        // Which of the three passes, without a branch on prices: each would be mispredicted every other time.
        const limit = side * (isUp * high[row - 1] + (1 - isUp) * low[row - 1]);
        const [one, two, three] = [Math.min(row + 1, last), Math.min(row + 2, last), Math.min(row + 3, last)];
        const passes =
          +(side * close[one] > limit) | (+(side * close[two] > limit) << 1) | (+(side * close[three] > limit) << 2);
        const again = (((found >>> bit) >>> 1) | (after << (31 - bit))) & 7;
        const later = row + 1 + LOWEST_BIT[passes];
        if (LOWEST_BIT[passes] < LOWEST_BIT[again] && later <= last && later >= first) write(later, side * 200);
      }
    }
  }
}
