// Linked instruments: entries that fill together or not at all, and exits when one of them is closed (semantics §8.7).
import { linkedExit } from '../../definitions/exitReasons/linkedExit.ts';
import type { Ledger } from '../ledger.ts';
import { removePending } from '../orderLog.ts';
import type { EntryOrder } from '../orders.ts';
import { cancelEntry } from '../pendingOrders.ts';
import { markLeaving } from '../position.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../tradeLog.ts';
import { hasBarAt, hasLaterBar, type Link, type LinkedLeg, type Member } from './member.ts';

/** The links of a portfolio about which something is still to be done. */
export interface LinkBook {
  /** An order of theirs waits for its price or its bar. */
  waiting: Link[];
  /** An entry of theirs was closed at this instant, in the order of closing. */
  readonly closed: Set<Link>;
}

/** Links entries that are placed together. */
export function linkEntries(book: LinkBook, members: readonly Member[]): Link {
  const link: Link = { legs: members.map((member) => ({ member, signalRow: member.row })), hasFilled: false };
  for (const member of members) member.links!.set(member.row, link);
  book.waiting.push(link);
  return link;
}

/** Whether the first of linked entries may fill at this instant: every leg has a bar. */
export const isComplete = ({ legs }: Link, instant: number): boolean =>
  legs.every(({ member }) => hasBarAt(member, instant));

/** Before an instant is played: no order that waits at a price may fill first while another leg has no bar. */
export function holdIncomplete({ waiting }: LinkBook, instant: number): void {
  for (const link of waiting) {
    if (link.hasFilled) continue;
    const lacksLeg = !isComplete(link, instant);
    for (const leg of link.legs) {
      const order = pendingOf(leg);
      if (order !== undefined) order.lacksLeg = lacksLeg;
    }
  }
}

/** Notes which links a member has filled in its turn, and of which it has closed an entry: trades from `first` on. */
export function noteFills({ closed }: LinkBook, { links, run }: Member, trades: TradeLog, first: number): void {
  if (links === null) return;
  for (const { entryDecisionRow } of run.positions) noteFill(links.get(entryDecisionRow));
  // Signals of positions that are still open, or whose closing trade has been passed.
  const settled = new Set(run.positions.map(({ entryDecisionRow }) => entryDecisionRow));
  const closing: Link[] = [];
  // From the last one back: the last trade of a position is the one that closes it.
  for (let trade = trades.length - 1; trade >= first; trade--) {
    const signalRow = trades.numbers[trade * TRADE_WIDTH + TRADE.entryDecisionRow];
    const link = links.get(signalRow);
    noteFill(link);
    if (link === undefined || settled.has(signalRow)) continue;
    settled.add(signalRow);
    closing.push(link);
  }
  for (const link of closing.toReversed()) closed.add(link);
}

function noteFill(link: Link | undefined): void {
  if (link !== undefined) link.hasFilled = true;
}

/**
 * Cancels the orders that must not fill any more: another order of their link has ended before any of them filled, or
 * an entry of their link is closed. Never called inside a bar, where nobody knows when another bar did that.
 */
export function cancelOrphans(book: LinkBook): void {
  const { waiting, closed } = book;
  if (waiting.length === 0) return;
  for (const link of waiting) {
    const isOver = link.hasFilled ? closed.has(link) : !link.legs.every(isWaiting);
    if (isOver) for (const leg of link.legs) cancelWaiting(leg);
  }
  book.waiting = waiting.filter(({ legs }) => legs.some(isWaiting));
}

/**
 * Of each link with a closed entry, orders an exit for every position that is still open. The exit fills at the first
 * bar of its instrument after this instant; an exit that was ordered before keeps its reason.
 * @param countsAsOrdered false: orders of this close fill before it, and do not see it
 */
export function closeLinks(book: LinkBook, ledger: Ledger, instant: number, countsAsOrdered: boolean): void {
  cancelOrphans(book);
  if (book.closed.size === 0) return;
  for (const { legs } of book.closed) {
    for (const { member, signalRow } of legs) {
      member.links!.delete(signalRow);
      if (!hasLaterBar(member, instant) || member.isLiquidated) continue;
      const row = member.instants[member.row] === instant ? member.row : member.row - 1;
      for (const position of member.run.positions) {
        if (position.entryDecisionRow !== signalRow || position.plannedQuantity === 0) continue;
        const id = ledger.nextOrderId++;
        member.linkedExits.add(id, row, position, position.quantity, linkedExit.reason, null);
        if (countsAsOrdered) markLeaving(position);
      }
    }
  }
  book.closed.clear();
}

const pendingOf = ({ member, signalRow }: LinkedLeg): EntryOrder | undefined =>
  member.run.pending.find((order) => order?.signalRow === signalRow) ?? undefined;

/** Whether the order of a leg has neither filled nor ended. */
const isWaiting = (leg: LinkedLeg): boolean =>
  leg.member.run.dueEntry?.signalRow === leg.signalRow || pendingOf(leg) !== undefined;

function cancelWaiting(leg: LinkedLeg): void {
  const { run } = leg.member;
  const { dueEntry } = run;
  if (dueEntry?.signalRow === leg.signalRow) {
    run.dueEntry = null;
    cancelEntry(run, dueEntry, 'linked');
  }
  const pending = pendingOf(leg);
  if (pending === undefined) return;
  removePending(run, pending);
  cancelEntry(run, pending, 'linked');
}
