// One bar up to its close: funding, the orders due, what the open has passed, and the inside (semantics §2.1, §3.7).
import type { Book, Decision, EntryOrder, Position } from './book.ts';
import { copyLevels, hasMovingStop, isUndecided, type PriceRange } from './levels.ts';
import { fillInside, fillOrder, pendingOf } from './pendingEntries.ts';
import { adopt, hasFilled, inOrder, inPathOrder, settleByPolicy, settlePassed } from './settle.ts';
import { childrenOf, mirrored, policyOf, sliceOf, type Slice } from './slice.ts';

export function playBar(book: Book, row: number): void {
  const { bars } = book.input;
  const bar = sliceOf(bars, row, row, null);
  book.payFunding(row);
  fillDue(book, bar.open, row, false);
  settleOpen(book, bar);
  const isReached = pendingOf(book, bar, 'inside').length > 0;
  if (isReached && childrenOf(book, row).length > 0) walkTogether(book, bar);
  else playInside(book, bar, (position, orders) => settleBar(book, position, bar, orders));
}

/** Market orders of the close before: exits, then the entry. */
export function fillDue(book: Book, price: number, row: number, isAtClose: boolean): void {
  const { dueExits, dueEntry } = book;
  book.dueExits = [];
  book.dueEntry = null;
  for (const { position, quantity, reason, rule } of dueExits)
    if (position.quantity > 0)
      book.exit(position, {
        quantity,
        price,
        isSlipped: true,
        role: 'exit',
        reason,
        rule,
        decision: directOf(book),
        instant: { row, isAtClose },
        held: isAtClose ? [] : [price],
      });
  if (dueEntry !== null) book.enter(dueEntry, price, { row, isAtClose });
}

export const directOf = (book: Book): Decision => ({
  method: 'direct',
  resolution: book.input.bars.timeframe,
  policy: null,
  fineTime: null,
});

/** What the open has passed fills at it: levels, position by position, then pending orders as listed. */
function settleOpen(book: Book, slice: Slice): void {
  for (const position of book.positions) position.heldBefore = [...extremesOf(position), position.side * slice.open];
  const { open } = slice;
  const opening = { open, high: open, low: open, close: open };
  for (const position of inOrder(book, opening)) settlePassed(book, position, slice);
  for (const order of pendingOf(book, slice, 'open')) {
    const position = fillOrder(book, order, slice.open, slice, new Set(book.positions));
    if (position !== null) settlePassed(book, position, slice);
  }
}

const extremesOf = ({ highest, lowest }: Position): number[] => [highest, lowest];

/** Levels of the positions held, each for itself, then pending orders. */
function playInside(
  book: Book,
  slice: Slice,
  settle: (position: Position, orders: readonly EntryOrder[]) => void,
): void {
  // What an exit inside frees stays taken until the end of the slice.
  const taken = new Set(book.positions);
  const orders = pendingOf(book, slice, 'inside');
  for (const position of inOrder(book, slice)) if (position.quantity > 0) settle(position, orders);
  for (const order of inPathOrder(orders, slice, policyOf(book))) fillInside(book, order, orders, slice, taken);
}

/** A position on a base bar: by its children if the bar is undecided and has any, else by the policy. */
function settleBar(book: Book, position: Position, bar: Slice, orders: readonly EntryOrder[]): void {
  const liquidation = book.liquidation(position.side);
  const { qtyStep } = book.input.instrument;
  const children = childrenOf(book, bar.row);
  const at = mirrored(bar, position.side);
  if (children.length === 0 || !isUndecided(position, at, liquidation, qtyStep)) {
    settleByPolicy(book, position, bar, orders);
    return;
  }
  const before = copyLevels(position);
  // A liquidation in a child closes the others there too: the children before it and its open are then theirs.
  const others = book.positions.filter((other) => other !== position).map((other) => ({ other, ...other }));
  const holdOthers = (...prices: number[]): void => {
    for (const { other } of others)
      other.heldBefore = [...other.heldBefore, ...prices.map((price) => other.side * price)];
  };
  for (const child of children) {
    holdOthers(child.open);
    if (position.quantity > 0) settlePassed(book, position, child);
    if (position.quantity > 0) settleByPolicy(book, position, child, []);
    holdOthers(child.high, child.low);
  }
  for (const { other, heldBefore } of others) other.heldBefore = heldBefore;
  if (!hasFilled(position, before) && !hasMovingStop(before, at.high)) {
    adopt(position, before);
    settleByPolicy(book, position, bar, orders);
  }
  surviveBar(position, at);
}

/** A position held through the whole bar was held through its extremes, whatever its children show (semantics §4.7). */
function surviveBar(position: Position, { high, low }: PriceRange): void {
  position.highest = Math.max(position.highest, high);
  position.lowest = Math.min(position.lowest, low);
}

/**
 * Levels of all positions and pending orders, child by child; what no child touches is settled on the bar itself
 * (semantics §3.7).
 */
function walkTogether(book: Book, bar: Slice): void {
  const held = book.positions.map((position) => ({ position, before: copyLevels(position) }));
  const reached = pendingOf(book, bar, 'inside');
  for (const child of childrenOf(book, bar.row)) {
    settleOpen(book, child);
    playInside(book, child, (position, orders) => settleByPolicy(book, position, child, orders));
  }
  const taken = new Set([...held.map(({ position }) => position), ...book.positions]);
  const left = reached.filter((order) => book.pending.get(order.rule) === order);
  for (const position of book.positions) position.heldBefore = extremesOf(position);
  const forgotten = held.filter(({ position, before }) => {
    const { high } = mirrored(bar, position.side);
    if (position.quantity === 0 || hasFilled(position, before) || hasMovingStop(before, high)) return false;
    adopt(position, before);
    position.heldBefore = [...extremesOf(before), position.side * bar.open];
    return true;
  });
  for (const position of inOrder(book, bar))
    if (position.quantity > 0 && forgotten.some((each) => each.position === position))
      settleByPolicy(book, position, bar, left);
  for (const { position } of held) surviveBar(position, mirrored(bar, position.side));
  for (const order of inPathOrder(left, bar, policyOf(book))) fillInside(book, order, left, bar, taken);
}
