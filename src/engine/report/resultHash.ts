// The hash of a result: trades and summary, whatever the order in which they are later stored.
import { createHash } from 'node:crypto';
import type { TradeRow } from './result.ts';
import type { Summary } from './summary.ts';

/**
 * sha256 over the trades' numbers as IEEE doubles and the rest as JSON. Both are built member by member in one fixed order, so that
 * equal results give equal bytes; numbers as doubles because writing hundreds of trades out as text costs more than simulating them.
 */
export function resultHash(summary: Summary, trades: readonly TradeRow[]): string {
  const numbers: number[] = [];
  const words: string[] = [];
  for (const trade of trades) {
    for (const value of Object.values(trade)) {
      if (typeof value === 'number') numbers.push(value);
      else words.push(value ?? '');
    }
  }
  const hash = createHash('sha256');
  hash.update(Float64Array.from(numbers));
  hash.update(words.join('\n'));
  return hash.update(JSON.stringify(summary)).digest('hex');
}
