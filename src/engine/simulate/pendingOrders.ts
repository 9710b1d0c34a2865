// Pending orders: which limit and stop entries a price range reaches, and what becomes of them (semantics §2.6, §3.7).
import { reversalExit } from '../definitions/exitReasons/reversalExit.ts';
import { fillEntry, fillMarketExit } from './fills.ts';
import type { Instant } from './instant.ts';
import { logEntry, removePending } from './orderLog.ts';
import type { EntryOrder, ExitOrder } from './orders.ts';
import { enterRange, leaveRange, type Position } from './position.ts';
import type { Run } from './run.ts';
import { pricesOf, type PriceRange } from './priceRange.ts';

/**
 * How many positions were closed inside a price range. Their slots and their side stay taken until its close, because
 * nobody knows when they were freed.
 */
export interface Freed {
  long: number;
  short: number;
}

/**
 * Fills a limit or stop order, after conflict and slots are checked again (semantics §2.6); null when it did not open.
 * What was freed inside the range counts as taken, except the other side for an order that reverses.
 */
export function fillPending(run: Run, order: EntryOrder, price: number, at: Instant, freed: Freed): Position | null {
  removePending(run, order);
  if (order.lacksLeg) return cancelEntry(run, order, 'linked');
  const { side, conflict, order: orderRule } = run.entries[order.rule];
  const { positions } = run;
  const [sameFreed, otherFreed] = side > 0 ? [freed.long, freed.short] : [freed.short, freed.long];
  const isOpposed = otherFreed > 0 || (positions.length > 0 && positions[0].side !== side);
  if (run.ledger.isOver) return cancelEntry(run, order, 'max positions');
  if (isOpposed) {
    if (conflict === 'ignore') return cancelEntry(run, order, 'in position');
    closeOpposite(run, side, price, orderRule.type !== 'limit', at);
    // The order has freed that side itself.
    if (side > 0) freed.short = 0;
    else freed.long = 0;
    if (conflict === 'close') return cancelEntry(run, order, 'conflict');
  }
  const { maxConcurrentPositions } = run.input;
  const taken = positions.length + sameFreed;
  if (taken >= maxConcurrentPositions) {
    return cancelEntry(run, order, maxConcurrentPositions === 1 ? 'in position' : 'max positions');
  }
  const { ledger } = run;
  if (taken + ledger.othersOpen >= ledger.slots) {
    if (taken + ledger.othersOpen - ledger.withheldSlots < ledger.slots) ledger.contestedFunds++;
    return cancelEntry(run, order, 'slots');
  }
  const position = fillEntry(run, order, price, at);
  if (position !== null) enterRange(position, side * price);
  return position;
}

/** `slots`: those of the account are taken. `linked`: another order of its group cannot open, or was closed. */
type CancelReason = 'in position' | 'max positions' | 'conflict' | 'slots' | 'linked';

/**
 * Logs the end of an entry order that does not open when its price or its bar comes, and counts it where something
 * blocks it.
 */
export function cancelEntry(run: Run, order: EntryOrder, reason: CancelReason): null {
  if (reason === 'in position') run.counts.blockedInPosition++;
  if (reason === 'max positions') run.counts.blockedMaxPositions++;
  if (reason === 'slots') run.counts.lostSlots++;
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
    const id = run.ledger.nextOrderId++;
    const { quantity } = position;
    const { reason } = reversalExit;
    const order: ExitOrder = { id, signalRow: at.row, position, quantity, reason, rule: null };
    fillMarketExit(run, order, price, isSlipped, { ...at, from: NaN });
  }
}

/** Where the price of a live order lies in a price range: not touched, passed by the open, or reached inside. */
export function touchOf(run: Run, order: EntryOrder, range: PriceRange): 'none' | 'open' | 'inside' {
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

/** The pending orders reached inside a price range, in the order of listing. */
export const reachedOrders = (run: Run, range: PriceRange): EntryOrder[] =>
  run.pendingCount === 0
    ? []
    : run.pending.filter((order): order is EntryOrder => order !== null && touchOf(run, order, range) === 'inside');

/** Whether an order closes or reverses the positions of a side. */
export const closesSide = (run: Run, { rule }: EntryOrder, side: 1 | -1): boolean =>
  run.entries[rule].side !== side && run.entries[rule].conflict !== 'ignore';
