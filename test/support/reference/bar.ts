// One bar up to its close: funding, the orders due, what the open has passed, and the inside (semantics §2.1, §3.7).
import type { Book, Decision, DueExit, Position } from './book.ts';
import { adverseLevel, copyLevels, hasMovingStop, isUndecided, openTargets, type PriceRange } from './levels.ts';
import { fillOrder, pendingOf } from './pendingEntries.ts';
import { adopt, hasFilled, hold, settleOpen, settlePassed, settleTogether, touches, type Decided } from './settle.ts';
import { childrenOf, mirrored, sliceOf, type Slice } from './slice.ts';

export function playBar(book: Book, row: number): void {
  const { bars } = book.input;
  const bar = sliceOf(bars, row, row, null);
  book.payFunding(row);
  fillDue(book, bar.open, row, false);
  settleOpen(book, bar);
  settlePassedOrders(book, bar);
  playInsideBar(book, row);
}

/** What the inside of the bar does, after its open. */
export function playInsideBar(book: Book, row: number): void {
  const bar = sliceOf(book.input.bars, row, row, null);
  const isReached = pendingOf(book, bar, 'inside').length > 0;
  const isOpened = isReached || isUndecidedBar(book, bar);
  if (isOpened && childrenOf(book, row).length > 0) walk(book, bar, isReached);
  else settleTogether(book, bar, book.positions, pendingOf(book, bar, 'inside'), new Set(book.positions));
}

/** Market orders of the close before: exits, then the entry. */
export function fillDue(book: Book, price: number, row: number, isAtClose: boolean): void {
  const { dueExits, dueEntry } = book;
  book.dueExits = [];
  book.dueEntry = null;
  fillExits(book, dueExits, price, row, isAtClose);
  if (dueEntry !== null) book.enter(dueEntry, price, { row, isAtClose });
}

/** Market exits, in the order in which they were made. */
export function fillExits(book: Book, exits: readonly DueExit[], price: number, row: number, isAtClose: boolean): void {
  for (const { position, quantity, reason, rule } of exits)
    if (position.quantity > 0)
      book.exit(position, {
        quantity,
        price,
        isSlipped: true,
        role: reason === 'liquidation' ? 'risk' : 'exit',
        reason,
        rule,
        // A liquidation that waited for a bar is as one that an open has passed.
        decision: reason === 'liquidation' ? { ...directOf(book), method: 'gap' } : directOf(book),
        instant: { row, isAtClose },
        held: isAtClose ? [] : [price],
      });
}

export const directOf = (book: Book): Decision => ({
  method: 'direct',
  resolution: book.input.bars.timeframe,
  policy: null,
  fineTime: null,
});

/** Pending orders that the open has passed, as listed. */
export function settlePassedOrders(book: Book, slice: Slice): void {
  for (const order of pendingOf(book, slice, 'open')) {
    const position = fillOrder(book, order, slice.open, slice, new Set(book.positions));
    if (position === null) continue;
    const method = slice.fineTime === null ? 'gap' : 'drill';
    settlePassed(book, position, position.side * slice.open, { slice, held: [slice.open], method });
  }
}

const isDecided = (book: Book, position: Position, bar: Slice): boolean =>
  !isUndecided(position, mirrored(bar, position.side), book.liquidation(position.side), book.input.instrument.qtyStep);

/** Undecided for a position, or for the order of the fills of two (semantics §3.1). */
function isUndecidedBar(book: Book, bar: Slice): boolean {
  const isStopTouched = (position: Position): boolean =>
    mirrored(bar, position.side).low <= adverseLevel(position, book.liquidation(position.side)).price;
  const isTargetTouched = (position: Position): boolean =>
    openTargets(position).some(({ price }) => price <= mirrored(bar, position.side).high);
  const { positions } = book;
  return (
    positions.some((position) => !isDecided(book, position, bar)) ||
    positions.some((a) => isStopTouched(a) && positions.some((b) => a !== b && isTargetTouched(b)))
  );
}

/** A position held through the whole bar was held through its extremes, whatever its children show (semantics §4.7). */
function surviveBar(position: Position, { high, low }: PriceRange): void {
  position.highest = Math.max(position.highest, high);
  position.lowest = Math.min(position.lowest, low);
}

/**
 * Everything, child by child; what no child touches is settled on the bar itself (semantics §3.2, §3.7).
 * @param hasOrders whether pending orders are reached: then no position counts as decided
 */
function walk(book: Book, bar: Slice, hasOrders: boolean): void {
  const touched = book.positions.filter((position) =>
    touches(position, mirrored(bar, position.side), book.liquidation(position.side)),
  );
  const decided: Decided = {
    bar,
    positions: new Set(hasOrders ? [] : book.positions.filter((position) => isDecided(book, position, bar))),
  };
  const held = book.positions.map((position) => ({ position, before: copyLevels(position) }));
  for (const { position } of held) {
    const open = position.side * bar.open;
    if (!decided.positions.has(position)) surviveBar(position, { open, high: open, low: open, close: open });
  }
  for (const child of childrenOf(book, bar.row)) {
    settleOpen(book, child, decided);
    if (hasOrders) settlePassedOrders(book, child);
    const orders = hasOrders ? pendingOf(book, child, 'inside') : [];
    settleTogether(book, child, book.positions, orders, new Set(book.positions), decided);
    for (const position of decided.positions) {
      const { high, low } = mirrored(child, position.side);
      position.heldBefore = [...position.heldBefore, high, low];
    }
  }
  const taken = new Set([...held.map(({ position }) => position), ...book.positions]);
  for (const position of book.positions)
    if (!decided.positions.has(position)) position.heldBefore = [position.highest, position.lowest];
  const left = held.filter(({ position, before }) => {
    const at = mirrored(bar, position.side);
    if (position.quantity === 0) return false;
    if (decided.positions.has(position))
      return touched.includes(position) && touches(position, at, book.liquidation(position.side));
    if (hasFilled(position, before) || hasMovingStop(before, at.high)) return false;
    adopt(position, before);
    position.heldBefore = [before.highest, before.lowest, position.side * bar.open];
    return true;
  });
  const unsettled = left.map(({ position }) => position);
  const orders = hasOrders ? pendingOf(book, bar, 'inside') : [];
  if (unsettled.length > 0 || orders.length > 0) settleTogether(book, bar, unsettled, orders, taken);
  for (const { position } of held) {
    if (position.quantity === 0 || unsettled.includes(position)) continue;
    const at = mirrored(bar, position.side);
    if (decided.positions.has(position)) hold(position, at.high, at.low);
    else surviveBar(position, at);
  }
}
