// The order log and the book of pending orders: what became of each order.
import type { EntryOrder } from './orders.ts';
import type { Position } from './position.ts';
import type { OrderRecord, RejectionReason } from './simulation.ts';
import type { Run } from './run.ts';

type Outcome = Pick<OrderRecord, 'status'> & Partial<OrderRecord>;

/** Logs what became of an entry order. */
export function logEntry(run: Run, order: EntryOrder, outcome: Outcome): void {
  if (run.orders === null) return;
  const rule = run.entries[order.rule];
  run.orders.push({
    orderId: order.id,
    row: order.signalRow,
    filledRow: null,
    type: rule.order.type,
    purpose: 'entry',
    side: rule.side > 0 ? 'buy' : 'sell',
    price: Number.isNaN(order.price) ? null : order.price,
    fillPrice: null,
    quantity: null,
    fee: null,
    role: run.input.config.execution.entryOrderRole,
    reason: null,
    rule: rule.id,
    positionId: null,
    ...outcome,
  });
}

/** Logs a closing order: a market exit, or a level of the risk rules. */
export function logExit(
  run: Run,
  position: Position,
  order: Pick<OrderRecord, 'orderId' | 'row' | 'type' | 'role' | 'reason' | 'rule'>,
  outcome: Outcome,
): void {
  run.orders?.push({
    filledRow: null,
    purpose: 'exit',
    side: position.side > 0 ? 'sell' : 'buy',
    price: null,
    fillPrice: null,
    quantity: null,
    fee: null,
    positionId: position.id,
    ...order,
    ...outcome,
  });
}

/** Counts and logs an entry order that cannot be filled. */
export function rejectEntry(run: Run, order: EntryOrder, reason: RejectionReason): void {
  run.counts.ordersRejected[reason]++;
  logEntry(run, order, { status: 'rejected', reason });
}

/** Counts and logs an entry order that has expired. */
export function expireEntry(run: Run, order: EntryOrder): void {
  run.counts.ordersExpired++;
  logEntry(run, order, { status: 'expired' });
}

/** Places a limit or stop order; a later signal of the same entry rule replaces its pending order (semantics §2.6). */
export function placePending(run: Run, order: EntryOrder): void {
  const replaced = run.pending[order.rule];
  if (replaced === null) run.pendingCount++;
  else {
    run.counts.ordersReplaced++;
    logEntry(run, replaced, { status: 'replaced' });
  }
  run.pending[order.rule] = order;
}

/** Takes a limit or stop order out of the book: it is filled, cancelled or expired. */
export function removePending(run: Run, order: EntryOrder): void {
  run.pending[order.rule] = null;
  run.pendingCount--;
}

/** Expires the orders whose last live bar was `row`, at its close. */
export function expirePending(run: Run, row: number): void {
  for (const order of run.pending) {
    if (order !== null && order.lastRow <= row) {
      removePending(run, order);
      expireEntry(run, order);
    }
  }
}
