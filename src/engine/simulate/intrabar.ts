// Inside a price range: what the levels of one position do between an open and a close when only four prices are known
// (semantics §3.3).
//
// Every price here is signed (side × price): `best` is the high of a long and the negated low of a short.
import type { AmbiguityFallback } from '../config.ts';
import { applyBreakevenDue, moveStops, type Position } from './position.ts';
import { goesWorstFirst, type Prices } from './priceRange.ts';

/** What a policy acts on: a position and its fills, which are those of the run or of a rehearsal. */
export interface Exits {
  readonly position: Position;
  /** The stop in force or the account's liquidation, whichever is nearer. */
  adverseLevel(): number;
  fillAdverse(signedPrice: number): void;
  fillTarget(signedPrice: number): void;
}

/** The part of a price range in which a position is held. */
export interface Part {
  readonly prices: Prices;
  /** The limit or stop order that opened it inside the price range; null when it was held from the open on. */
  readonly entry: { readonly price: number; readonly type: 'limit' | 'stop' } | null;
  /** The signed price at which a pending order closes or reverses the position; null when none does. */
  readonly end: number | null;
}

/**
 * Makes the fills of a position in its part of a price range. Levels that the start of the part has passed have filled
 * before.
 */
export function settle(exits: Exits, part: Part, policy: AmbiguityFallback): void {
  const { prices, entry } = part;
  const isWorstFirst = goesWorstFirst(exits.position.side, prices, policy);
  if (isWorstFirst !== null) followPath(exits, part, isWorstFirst);
  else if (policy === 'optimistic') settleOptimistic(exits, untilEnd(part), entry);
  else settlePessimistic(exits, untilEnd(part), entry);
}

/** For policies without a path: on the side of the open on which the part ends, prices count only up to that end. */
function untilEnd({ prices, end }: Part): Prices {
  if (end === null) return prices;
  return end > prices.open
    ? { ...prices, best: Math.min(prices.best, end) }
    : { ...prices, worst: Math.max(prices.worst, end) };
}

/**
 * Assumes the worst for the trader: the stop was hit before any target, and after an entry inside the range. After such
 * an entry, a target counts only if every way to it crosses the entry, or the close is past it. The stop moves only
 * after the price range.
 */
function settlePessimistic(exits: Exits, prices: Prices, entry: Part['entry']): void {
  const { position } = exits;
  const adverse = exits.adverseLevel();
  if (prices.worst <= adverse) {
    exits.fillAdverse(adverse);
    return;
  }
  const reach = entry?.type === 'limit' ? Math.min(prices.best, prices.close) : prices.best;
  while (position.quantity > 0 && reach >= position.nextTarget) exits.fillTarget(position.nextTarget);
}

/**
 * Assumes the best for the trader: the targets fill in order of distance, then the stop, as they have moved it, closes
 * what is left. After an entry inside the range, the stop counts only if every way to it crosses the entry, or the
 * close is past it.
 */
function settleOptimistic(exits: Exits, prices: Prices, entry: Part['entry']): void {
  const { position } = exits;
  const stopBefore = position.stop;
  // The price from which the market comes to the stop: a target may have moved the stop beyond itself.
  let from = Infinity;
  while (position.quantity > 0 && prices.best >= position.nextTarget) {
    from = position.nextTarget;
    exits.fillTarget(from);
  }
  if (position.quantity === 0) return;
  applyBreakevenDue(position);
  const isCertain = entry === null || (entry.type === 'limit' && position.stop === stopBefore);
  const adverse = exits.adverseLevel();
  const reach = isCertain ? prices.worst : prices.close;
  if (reach <= adverse) exits.fillAdverse(Math.min(from, adverse));
}

/**
 * Follows the path from the open through the two extremes in the given order to the close. Stops move at once along it.
 * A position entered inside the range joins where the path reaches its entry price.
 */
function followPath(exits: Exits, { prices, entry, end }: Part, isWorstFirst: boolean): void {
  const { position } = exits;
  let isHeld = entry === null;
  let from = prices.open;
  if (isHeld) moveAt(exits, from);
  for (const to of pathFromOpen(prices, isWorstFirst)) {
    if (!isHeld && reaches(entry!, to)) {
      isHeld = true;
      from = entry!.price;
    }
    if (isHeld) {
      const isLast = end !== null && end >= Math.min(from, to) && end <= Math.max(from, to);
      followLeg(exits, from, isLast ? end : to);
      if (position.quantity === 0 || isLast) return;
      if (to !== prices.close) moveAt(exits, to);
    }
    from = to;
  }
}

/** The prices that a path comes to after the open. */
const pathFromOpen = ({ best, worst, close }: Prices, isWorstFirst: boolean): number[] =>
  isWorstFirst ? [worst, best, close] : [best, worst, close];

const reaches = ({ price, type }: NonNullable<Part['entry']>, to: number): boolean =>
  type === 'limit' ? to <= price : to >= price;

/** Moves the stops at a point of the path. A stop that this point has then already passed is hit there. */
function moveAt(exits: Exits, price: number): void {
  const { position } = exits;
  if (position.quantity === 0) return;
  moveStops(position, price);
  if (exits.adverseLevel() >= price) exits.fillAdverse(price);
}

/** One straight leg of a path: targets on the way up, the stop on the way down. */
function followLeg(exits: Exits, from: number, to: number): void {
  const { position } = exits;
  // Already closed where the leg begins, by a break-even stop that lies beyond its own activation price.
  if (position.quantity === 0) return;
  if (to > from) {
    while (position.quantity > 0 && to >= position.nextTarget) {
      const target = position.nextTarget;
      exits.fillTarget(target);
      moveAt(exits, target);
    }
    if (position.quantity > 0) moveStops(position, to);
    return;
  }
  const adverse = exits.adverseLevel();
  if (to <= adverse) exits.fillAdverse(Math.min(from, adverse));
}

/**
 * The extremes that a position was held through in its part of a range: those that are certain or, when the policy
 * follows a path, those of the path.
 */
export function heldExtremes(
  side: 1 | -1,
  { prices, entry }: Part,
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
  const points = pathFromOpen(prices, isWorstFirst);
  const held = points.slice(points.findIndex((point) => reaches(entry, point)));
  return [Math.max(price, ...held), Math.min(price, ...held)];
}
