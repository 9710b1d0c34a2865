// Limit and stop entries: which of them a slice reaches, and what becomes of them (semantics §2.6, §3.7, §3.8).
import type { Book, EntryOrder, Position } from './book.ts';
import type { Side } from './levels.ts';
import { mirrored, type Slice } from './slice.ts';

/** Live orders whose price the slice's open has passed, or that it reaches inside. */
export function pendingOf(book: Book, slice: Slice, wanted: 'open' | 'inside'): EntryOrder[] {
  const live = [...book.pending.values()].toSorted((a, b) => a.rule - b.rule);
  return live.filter((order) => {
    if (order.signalRow >= slice.row) return false;
    const side = book.sideOf(order);
    const { open, high, low } = mirrored(slice, side);
    const price = side * order.price;
    const isPassed = order.type === 'limit' ? open <= price : open >= price;
    if (wanted === 'open') return isPassed;
    return !isPassed && (order.type === 'limit' ? low <= price : high >= price);
  });
}

/** Conflict and slots are checked again, then the entry fills at `raw` (semantics §2.6); null when it does not. */
export function fillOrder(
  book: Book,
  order: EntryOrder,
  raw: number,
  slice: Slice,
  taken: Set<Position>,
): Position | null {
  const { conflict } = book.input.strategy.entries[order.rule];
  const side = book.sideOf(order);
  const cancel = (counter: 'blockedInPosition' | 'blockedMaxPositions' | null): null => {
    if (counter !== null) book.counts[counter]++;
    book.note(order, 'cancelled');
    return null;
  };
  const { maxConcurrentPositions } = book.input.strategy;
  book.pending.delete(order.rule);
  if (book.isCancelledByLink(order)) return cancel(null);
  if (book.isOver) return cancel('blockedMaxPositions');
  const opposite = [...taken].filter((position) => position.side !== side);
  if (opposite.length > 0 && conflict === 'ignore') return cancel('blockedInPosition');
  for (const position of opposite) {
    taken.delete(position);
    if (position.quantity > 0) closeByReversal(book, position, order, raw, slice);
  }
  if (opposite.length > 0 && conflict === 'close') return cancel(null);
  if (taken.size >= maxConcurrentPositions)
    return cancel(maxConcurrentPositions === 1 ? 'blockedInPosition' : 'blockedMaxPositions');
  if (!book.hasAccountSlot(taken)) {
    book.loseSlot(order);
    return null;
  }
  const position = book.enter(order, raw, { row: slice.row, isAtClose: false });
  if (position !== null) taken.add(position);
  return position;
}

/** A reversal has one price: that of the order, slipped for a stop and not for a limit (semantics §2.3). */
function closeByReversal(book: Book, position: Position, order: EntryOrder, raw: number, slice: Slice): void {
  book.exit(position, {
    quantity: position.quantity,
    price: raw,
    isSlipped: order.type !== 'limit',
    role: 'exit',
    reason: 'reverse',
    rule: null,
    decision: {
      method: slice.fineTime === null ? 'direct' : 'drill',
      resolution: slice.timeframe,
      policy: null,
      fineTime: slice.fineTime,
    },
    instant: { row: slice.row, isAtClose: false },
    held: null,
  });
}

export const closesSide = (book: Book, order: EntryOrder, side: Side): boolean =>
  book.sideOf(order) !== side && book.input.strategy.entries[order.rule].conflict !== 'ignore';
