// The part of a price range that is a position's: from its open or from an entry inside, and what it was held through.
import type { AmbiguityFallback } from '../config.ts';
import { goesWorstFirst, type Prices } from './priceRange.ts';

/** The limit or stop order that opened a position inside the price range, at a signed price. */
export interface InsideEntry {
  readonly price: number;
  readonly type: 'limit' | 'stop';
}

/**
 * The prices of a range as far as they count for a position without a path: on either side of where its part begins, up
 * to the nearest order that closes or reverses it.
 * @param from signed, where the part begins
 * @param closing signed prices of those orders
 */
export function cutAt(prices: Prices, from: number, closing: readonly number[]): Prices {
  let { best, worst } = prices;
  for (const price of closing) {
    if (price > from) best = Math.min(best, price);
    else worst = Math.max(worst, price);
  }
  return { ...prices, best, worst };
}

/**
 * The extremes that a position was held through in its part of a range: those that are certain or, when the policy
 * follows a path, those of the path.
 * @param prices of the range, signed for the position
 */
export function heldExtremes(
  side: 1 | -1,
  prices: Prices,
  entry: InsideEntry | null,
  policy: AmbiguityFallback,
): [best: number, worst: number] {
  if (entry === null) return [prices.best, prices.worst];
  const { price, type } = entry;
  const isWorstFirst = goesWorstFirst(side, prices, policy);
  if (isWorstFirst === null) {
    // Only the extreme beyond the entry is certain to come after it. On the other side, only the close is.
    const best = type === 'stop' ? prices.best : Math.max(price, prices.close);
    const worst = type === 'limit' ? prices.worst : Math.min(price, prices.close);
    return [best, worst];
  }
  const { best, worst, close } = prices;
  const points = isWorstFirst ? [worst, best, close] : [best, worst, close];
  const reaches = (to: number): boolean => (type === 'limit' ? to <= price : to >= price);
  const held = points.slice(points.findIndex(reaches));
  return [Math.max(price, ...held), Math.min(price, ...held)];
}
