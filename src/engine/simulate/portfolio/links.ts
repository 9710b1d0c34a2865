// Linked instruments: exits and cancellations when one of them is closed (semantics §8.7).
import { linkedExit } from '../../definitions/exitReasons/linkedExit.ts';
import type { Ledger } from '../ledger.ts';
import { removePending } from '../orderLog.ts';
import { cancelEntry } from '../pendingOrders.ts';
import { markLeaving } from '../position.ts';
import type { Run } from '../run.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../tradeLog.ts';
import { hasLaterBar, type Link, type Member } from './member.ts';

/** Adds to `closed` the links of which the trades from `first` on, of this member, have closed an entry. */
export function noteClosings({ links, run }: Member, trades: TradeLog, first: number, closed: Set<Link>): void {
  if (links === null) return;
  for (let trade = first; trade < trades.length; trade++) {
    const signalRow = trades.numbers[trade * TRADE_WIDTH + TRADE.entryDecisionRow];
    const link = links.get(signalRow);
    if (link === undefined || run.positions.some(({ entryDecisionRow }) => entryDecisionRow === signalRow)) continue;
    closed.add(link);
  }
}

/**
 * For each link with a closed entry: orders an exit for every position of the link that is still open, and cancels
 * entry orders of the link that have not filled. The exit fills at the first bar of its instrument after this instant;
 * an exit that was ordered before keeps its reason.
 * @param countsAsOrdered false: orders of this close fill before it, and do not see it
 */
export function closeLinks(closed: Set<Link>, ledger: Ledger, instant: number, countsAsOrdered: boolean): void {
  if (closed.size === 0) return;
  for (const { legs } of closed) {
    for (const { member, signalRow } of legs) {
      member.links!.delete(signalRow);
      cancelWaiting(member.run, signalRow);
      if (!hasLaterBar(member, instant)) continue;
      const row = member.instants[member.row] === instant ? member.row : member.row - 1;
      for (const position of member.run.positions) {
        if (position.entryDecisionRow !== signalRow || position.plannedQuantity === 0) continue;
        const id = ledger.nextOrderId++;
        member.linkedExits.add(id, row, position, position.quantity, linkedExit.reason, null);
        if (countsAsOrdered) markLeaving(position);
      }
    }
  }
  closed.clear();
}

/** Cancels the entry of a signal that has not filled. */
function cancelWaiting(run: Run, signalRow: number): void {
  const { dueEntry } = run;
  if (dueEntry?.signalRow === signalRow) {
    run.dueEntry = null;
    cancelEntry(run, dueEntry, 'linked');
  }
  for (const order of run.pending) {
    if (order?.signalRow !== signalRow) continue;
    removePending(run, order);
    cancelEntry(run, order, 'linked');
  }
}
