// The fill of market entries: of one alone, or of those of a linked group, which fill together or not at all
// (semantics §8.7).
import { costOf, feeTime, fillEntry, isCovered, openPosition, sizeEntry } from '../fills.ts';
import { closedRow, type Instant } from '../instant.ts';
import { freeCash } from '../ledger.ts';
import { rejectEntry } from '../orderLog.ts';
import type { EntryOrder } from '../orders.ts';
import { cancelEntry } from '../pendingOrders.ts';
import { atClose, atOpen } from '../run.ts';
import type { RejectionReason } from '../simulation.ts';
import { isComplete } from './links.ts';
import type { Link, Member } from './member.ts';
import type { Portfolio, MarketEntries } from './portfolio.ts';

/** Fills due entries at the marks of their members. */
export function fillMarketEntries(
  portfolio: Portfolio,
  entries: MarketEntries,
  instant: number,
  isAtClose: boolean,
): void {
  const { members, link } = entries;
  if (link === null) fillAlone(portfolio, members[0], isAtClose);
  else fillTogether(portfolio, members, link, instant, isAtClose);
}

function fillAlone(portfolio: Portfolio, member: Member, isAtClose: boolean): void {
  const order = takeDue(member);
  if (order === null) return;
  portfolio.takeTurn(member);
  if (hasSlots(portfolio, 1)) fillEntry(member.run, order, member.mark, instantOf(member, isAtClose));
  else cancelEntry(member.run, order, 'slots');
  portfolio.endTurn(member);
}

/** All sizes are those of the account before the first fill, and all are paid from it or none is. */
function fillTogether(
  portfolio: Portfolio,
  members: readonly Member[],
  link: Link,
  instant: number,
  isAtClose: boolean,
): void {
  const { ledger, config } = portfolio;
  const legs = members.flatMap((member) => {
    const order = takeDue(member);
    return order === null ? [] : [{ member, order }];
  });
  if (!isComplete(link, instant)) {
    for (const { member, order } of legs) cancelEntry(member.run, order, 'linked');
    return;
  }
  if (!hasSlots(portfolio, legs.length)) {
    for (const { member, order } of legs) cancelEntry(member.run, order, 'slots');
    return;
  }
  let cost = 0;
  const rejections: (RejectionReason | null)[] = [];
  for (const { member, order } of legs) {
    const { run } = member;
    portfolio.takeTurn(member);
    const at = instantOf(member, isAtClose);
    rejections.push(sizeEntry(run, order, member.mark, closedRow(at), feeTime(run, at)));
    cost += costOf(run.entryFill, config.leverage);
  }
  const failed = rejections.findIndex((rejection) => rejection !== null && rejection !== 'INSUFFICIENT_BALANCE');
  if (failed >= 0) {
    legs.forEach(({ member: { run }, order }, leg) => {
      if (leg === failed) rejectEntry(run, order, rejections[leg]!);
      else cancelEntry(run, order, 'linked');
    });
    return;
  }
  if (!isCovered(cost, freeCash(ledger))) {
    for (const { member, order } of legs) rejectEntry(member.run, order, 'INSUFFICIENT_BALANCE');
    return;
  }
  for (const { member, order } of legs) {
    portfolio.takeTurn(member);
    openPosition(member.run, order, instantOf(member, isAtClose));
    portfolio.endTurn(member);
  }
}

/** null: it was cancelled. */
function takeDue({ run }: Member): EntryOrder | null {
  const order = run.dueEntry;
  run.dueEntry = null;
  return order;
}

/** Whether the account has slots for more positions: what a waiting exit will close still holds its slot. */
const hasSlots = ({ ledger, openCount }: Portfolio, wanted: number): boolean => openCount + wanted <= ledger.slots;

const instantOf = ({ run, row }: Member, isAtClose: boolean): Instant =>
  isAtClose ? atClose(run, row) : atOpen(run, row);
