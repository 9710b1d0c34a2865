// Pending orders: a bar in which limit or stop entries wait, played in time order with the levels of what is held
// (semantics §3.7, §3.8).
import { beforeWalk, openOf, playInside, playLevels, undoWalk, type BeforeWalk } from './drill.ts';
import { fillEntry, fillMarketExit } from './fills.ts';
import { fillPassed } from './levelFills.ts';
import { isDecided, settleByPolicy } from './inside.ts';
import type { Instant } from './instant.ts';
import { inOrder } from './margin.ts';
import { logEntry, removePending } from './orderLog.ts';
import type { EntryOrder, ExitOrder } from './orders.ts';
import { enterRange, leaveRange, type Position } from './position.ts';
import { atGap, atOpen, countBar, type Run } from './run.ts';
import { barRange, childRange, childRows, goesWorstFirst, pricesOf, type PriceRange } from './priceRange.ts';

/**
 * How many positions were closed inside a price range. Their slots and their side stay taken until its close, because
 * nobody knows when they were freed.
 */
interface Freed {
  long: number;
  short: number;
}

/** A bar with pending orders. */
export function playWithPending(run: Run, row: number): void {
  const base = barRange(run, row);
  playOpen(run, base, atGap(run, row), atOpen(run, row));
  const reached = reachedOrders(run, base);
  if (reached.length === 0) {
    for (const position of rangeOrder(run, base)) if (position.quantity > 0) playInside(run, position, row);
    return;
  }
  countBar(run.ambiguous.undecided, row);
  if (!walkTogether(run, base)) {
    if (run.children !== null) countBar(run.ambiguous.childrenMissing, row);
    playRange(run, base, rangeOrder(run, base), { long: 0, short: 0 });
  }
}

const rangeOrder = (run: Run, { bars, index }: PriceRange): Position[] =>
  inOrder(run, bars.high[index], bars.low[index]);

/**
 * Fills what the open of a price range has passed: levels, oldest position first, then orders in the order of listing.
 */
function playOpen(run: Run, range: PriceRange, passed: Instant, ordered: Instant): void {
  const open = range.bars.open[range.index];
  for (const position of run.positions) enterRange(position, position.side * open);
  for (const position of inOrder(run, open, open)) {
    if (position.quantity > 0) fillPassed(run, position, position.side * open, passed);
  }
  for (const order of run.pending) {
    if (order === null || touchOf(run, order, range) !== 'open') continue;
    const position = fillPending(run, order, open, ordered, { long: 0, short: 0 });
    if (position !== null) fillPassed(run, position, position.side * open, passed);
  }
}

/** Levels and orders child by child; false when there are no children. */
function walkTogether(run: Run, base: PriceRange): boolean {
  const { children } = run;
  const { row } = base;
  const { first, last } = childRows(run, row);
  if (children === null || first === last) return false;
  countBar(run.ambiguous.drilled, row);
  const held = run.positions.map((position) => beforeWalk(position, pricesOf(base, position.side)));
  for (let index = first; index < last; index++) {
    const child = childRange(run, children, row, index);
    const open = openOf(child);
    playOpen(run, child, open, open);
    playRange(run, child, rangeOrder(run, child), { long: 0, short: 0 });
  }
  settleOnBar(run, base, held);
  return true;
}

/** Settles on the bar what the bar touched and no child did. */
function settleOnBar(run: Run, base: PriceRange, held: readonly BeforeWalk[]): void {
  const open = held.filter(({ position }) => position.quantity > 0);
  // The extremes that a walk has recorded stay, unless the walk is undone.
  for (const position of run.positions) enterRange(position, position.side * position.entryPrice);
  const undone = open
    .filter((before) => undoWalk(before, pricesOf(base, before.position.side)))
    .map(({ position }) => position);
  for (const position of undone) enterRange(position, position.side * base.bars.open[base.index]);
  const closed = held.filter(({ position }) => position.quantity === 0);
  const freed: Freed = {
    long: closed.filter(({ position }) => position.side > 0).length,
    short: closed.filter(({ position }) => position.side < 0).length,
  };
  const isLeft = (position: Position) => !isDecided(run, position, pricesOf(base, position.side));
  if (undone.some(isLeft) || reachedOrders(run, base).length > 0) countBar(run.ambiguous.childrenMissing, base.row);
  const ordered = rangeOrder(run, base).filter((position) => undone.includes(position));
  playRange(run, base, ordered, freed);
}

/**
 * The inside of a price range that is not walked any further: levels of `positions`, then the pending orders it
 * reaches.
 */
function playRange(run: Run, range: PriceRange, positions: readonly Position[], freed: Freed): void {
  const orders = reachedOrders(run, range);
  const before = countSides(run);
  for (const position of positions) {
    if (position.quantity > 0) playLevels(run, position, range, endOf(run, position, orders));
  }
  const after = countSides(run);
  freed.long += before.long - after.long;
  freed.short += before.short - after.short;
  countIfContested(run, range, orders);
  orders.forEach((order, index) => {
    if (run.pending[order.rule] === order) fillInside(run, order, range, orders.slice(index + 1), freed);
  });
}

function countSides(run: Run): Freed {
  const { positions } = run;
  const count = positions.length;
  return count > 0 && positions[0].side > 0 ? { long: count, short: 0 } : { long: 0, short: count };
}

/** Fills a limit or stop order at its price and plays its position through the rest of the range. */
function fillInside(run: Run, order: EntryOrder, range: PriceRange, later: readonly EntryOrder[], freed: Freed): void {
  const { side, order: orderRule } = run.entries[order.rule];
  const at = openOf(range);
  const position = fillPending(run, order, order.price, at, freed);
  if (position === null) return;
  const price = side * order.price;
  fillPassed(run, position, price, { ...at, from: order.price });
  if (position.quantity > 0) {
    const entry = { price, type: orderRule.type as 'limit' | 'stop' };
    const end = endOf(run, position, later);
    settleByPolicy(run, position, range, { prices: pricesOf(range, side), entry, end });
  }
  if (position.quantity > 0) return;
  if (side > 0) freed.long++;
  else freed.short++;
}

/** The signed price of the first of `orders` that closes or reverses a position; null: none does. */
function endOf(run: Run, { side }: Position, orders: readonly EntryOrder[]): number | null {
  const closing = orders.find(({ rule }) => run.entries[rule].side !== side && run.entries[rule].conflict !== 'ignore');
  return closing === undefined ? null : side * closing.price;
}

/**
 * Fills a limit or stop order, after conflict and slots are checked again (semantics §2.6); null when it did not open.
 * What was freed inside the range counts as taken, except the other side for an order that reverses.
 */
function fillPending(run: Run, order: EntryOrder, price: number, at: Instant, freed: Freed): Position | null {
  removePending(run, order);
  const { side, conflict, order: orderRule } = run.entries[order.rule];
  const { positions } = run;
  const [sameFreed, otherFreed] = side > 0 ? [freed.long, freed.short] : [freed.short, freed.long];
  const isOpposed = otherFreed > 0 || (positions.length > 0 && positions[0].side !== side);
  if (run.isOver) return cancelPending(run, order, 'max positions');
  if (isOpposed) {
    if (conflict === 'ignore') return cancelPending(run, order, 'in position');
    closeOpposite(run, side, price, orderRule.type !== 'limit', at);
    if (conflict === 'close') return cancelPending(run, order, 'conflict');
  }
  const { maxConcurrentPositions } = run.input;
  if (positions.length + sameFreed >= maxConcurrentPositions) {
    return cancelPending(run, order, maxConcurrentPositions === 1 ? 'in position' : 'max positions');
  }
  const position = fillEntry(run, order, price, at);
  if (position !== null) enterRange(position, side * price);
  return position;
}

/** Logs the end of an order that does not open when its price is reached, and counts it where something blocks it. */
function cancelPending(run: Run, order: EntryOrder, reason: 'in position' | 'max positions' | 'conflict'): null {
  if (reason === 'in position') run.counts.blockedInPosition++;
  if (reason === 'max positions') run.counts.blockedMaxPositions++;
  logEntry(run, order, { status: 'cancelled', reason });
  return null;
}

/**
 * Closes the positions of the other side at `price`, the price of the limit or stop entry, so that a reversal has one
 * price (semantics §2.3).
 */
function closeOpposite(run: Run, side: 1 | -1, price: number, isSlipped: boolean, at: Instant): void {
  for (const position of run.positions.slice()) {
    if (position.side === side) continue;
    leaveRange(position);
    const id = run.nextOrderId++;
    const { quantity } = position;
    const order: ExitOrder = { id, signalRow: at.row, position, quantity, reason: 'reverse', rule: null };
    fillMarketExit(run, order, price, isSlipped, { ...at, from: NaN });
  }
}

/** Where the price of a live order lies in a price range: not touched, passed by the open, or reached inside. */
function touchOf(run: Run, order: EntryOrder, range: PriceRange): 'none' | 'open' | 'inside' {
  const { side, order: orderRule } = run.entries[order.rule];
  const { open, best, worst } = pricesOf(range, side);
  const price = side * order.price;
  // A limit waits for the market to come down to it (signed), a stop for it to rise to it.
  if (orderRule.type === 'limit') {
    if (open <= price) return 'open';
    return worst <= price ? 'inside' : 'none';
  }
  if (open >= price) return 'open';
  return best >= price ? 'inside' : 'none';
}

/**
 * The pending orders reached inside a price range, in the order in which they settle under the policy, ties in the
 * order of listing.
 */
function reachedOrders(run: Run, range: PriceRange): EntryOrder[] {
  const reached = run.pending.filter(
    (order): order is EntryOrder => order !== null && touchOf(run, order, range) === 'inside',
  );
  if (reached.length < 2) return reached;
  const prices = pricesOf(range, 1);
  const isLowFirst = goesWorstFirst(1, prices, run.policy);
  const first = isLowFirst ? prices.worst : prices.best;
  /** How far the market has come when it reaches a price: along the path, or straight from the open. */
  const distance = (price: number): number => {
    const isBeyondFirst = isLowFirst !== null && price > prices.open === isLowFirst;
    return isBeyondFirst
      ? 2 * Math.abs(prices.open - first) + Math.abs(price - prices.open)
      : Math.abs(price - prices.open);
  };
  return reached.sort((a, b) => distance(a.price) - distance(b.price));
}

/**
 * Counts the bar as left to the policy when orders lie on both sides of the open: which comes first depends on the
 * policy.
 */
function countIfContested(run: Run, { bars, index, row }: PriceRange, orders: readonly EntryOrder[]): void {
  const open = bars.open[index];
  if (orders.some(({ price }) => price > open) && orders.some(({ price }) => price < open)) {
    countBar(run.ambiguous.fallback, row);
  }
}
