// The fill loop as semantics §2 to §4 tell it: bar by bar, nothing skipped.
import { directOf, fillDue, playBar } from './bar.ts';
import type { Book } from './book.ts';
import { readClose, type Signals } from './close.ts';
import type { StateRecord } from './state.ts';

/** Equity at the close of every evaluated bar. */
export function simulate(book: Book, signals: Signals, state: StateRecord): number[] {
  const { start, end, bars, config } = book.input;
  const equity: number[] = [];
  const mark = (row: number): number => book.account.equity(book.positions, bars.close[row]);
  for (let row = start; row < end; row++) {
    book.row = row;
    playBar(book, row);
    expirePending(book, row);
    state.record(row, equity);
    readClose(book, signals, row);
    if (row === end - 1) endRun(book, row);
    else if (config.execution.orderTiming === 'bar_close') fillDue(book, bars.close[row], row, true);
    // Fills at a close are in its mark.
    equity.push(mark(row));
  }
  return equity;
}

/** Ends the orders whose last live bar this was. */
function expirePending(book: Book, row: number): void {
  for (const order of book.pending.values()) {
    if (order.lastRow > row) continue;
    book.pending.delete(order.rule);
    book.note(order, 'expired');
  }
}

/** Orders of the last close never fill; what is open is sold at it (semantics §2.7). */
function endRun(book: Book, row: number): void {
  for (const order of [book.dueEntry, ...book.pending.values()]) if (order !== null) book.note(order, 'expired');
  book.dueEntry = null;
  book.dueExits = [];
  book.pending.clear();
  for (const position of book.positions)
    book.exit(position, {
      quantity: position.quantity,
      price: book.input.bars.close[row],
      isSlipped: true,
      role: 'exit',
      reason: 'end_of_data',
      rule: null,
      decision: directOf(book),
      instant: { row, isAtClose: true },
      held: [],
    });
}
