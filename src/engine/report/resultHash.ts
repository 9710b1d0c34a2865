// The hash of a result: covers its trades and its summary, independent of how they are stored later.
import { createHash } from 'node:crypto';
import { TRADE_COLUMNS, type TradeRow } from './tradeColumns.ts';

/** The most numbers a row can have: every column that is not text. */
const MAX_NUMBERS = Object.values(TRADE_COLUMNS).filter(({ type }) => type !== 'text').length;

/**
 * sha256 over the numbers of the trades as IEEE doubles, then their words as lines, then the summary. Every member of a
 * row enters, in the row's order: a number goes to the numbers, a word to the words, and null leaves an empty line, so
 * that equal results give equal bytes and no column can be forgotten. Doubles, because writing hundreds of trades out
 * as text costs more than simulating them.
 * @param summaryJson the summary as JSON.stringify writes it
 */
export function resultHash(summaryJson: string, trades: readonly TradeRow[]): string {
  const numbers = new Float64Array(trades.length * MAX_NUMBERS);
  const words: string[] = [];
  let count = 0;
  for (const trade of trades) {
    // for…in over rows of one shape does not allocate; Object.entries allocates a list per trade (bench/backtest.ts).
    for (const name in trade) {
      const value = trade[name as keyof TradeRow];
      if (typeof value === 'number') numbers[count++] = value;
      else words.push(value ?? '');
    }
  }
  const hash = createHash('sha256');
  hash.update(numbers.subarray(0, count));
  hash.update(words.join('\n'));
  return hash.update(summaryJson).digest('hex');
}
