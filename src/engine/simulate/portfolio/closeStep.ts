// The closes of an instant: equity and the liquidation test, then exits of all instruments,
// then entries of all (semantics §8.3).
import { endOfDataExit } from '../../definitions/exitReasons/endOfDataExit.ts';
import { isRead } from '../closes.ts';
import { exitFill, fillDueExits, fillExit } from '../fills.ts';
import { expireEntry, expirePending, removePending } from '../orderLog.ts';
import { atClose, type Run } from '../run.ts';
import { countSkippedSignals, expireDueOrders, readEntries, readExitSignals } from '../signals.ts';
import { decideEntries, expireEntryOf } from './entries.ts';
import { oldestFirst, testLiquidation } from './liquidation.ts';
import { cancelOrphans, closeLinks } from './links.ts';
import { isLastRow, type Member, type Signal } from './member.ts';
import type { MarketEntries, Portfolio } from './portfolio.ts';
import { rebalance } from './rebalance.ts';
import { expireHoldingOrders, fillAdditions, fillReductions } from './rebalanceFills.ts';
import { fillMarketEntries } from './marketEntries.ts';

export function playCloses(portfolio: Portfolio, instant: number): void {
  const { present, input, ledger, config } = portfolio;
  const isAtClose = config.execution.orderTiming === 'bar_close';
  for (const member of present) member.mark = member.run.bars.close[member.row];
  closeEnded(portfolio);
  if (ledger.isShared) testLiquidation(portfolio, instant, false);
  if (portfolio.hasPendingOrders) for (const { run, row } of present) if (run.pendingCount > 0) expirePending(run, row);
  closeLinks(portfolio.links, ledger, instant, !isAtClose);

  findReaders(portfolio, instant);
  const signals = readMembers(portfolio);
  cancelOrphans(portfolio.links);
  const marketEntries = signals.length === 0 ? NO_ENTRIES : decideEntries(portfolio, signals);
  if (portfolio.rebalances !== null) {
    expireHoldingOrders(portfolio);
    rebalance(portfolio, instant);
  }
  if (isAtClose) fillAtClose(portfolio, instant, marketEntries);
  else for (const entries of marketEntries) portfolio.addDue(entries);
  if (instant === input.end - 1) closeAtEnd(portfolio);
}

const NO_ENTRIES: readonly MarketEntries[] = [];

function fillAtClose(portfolio: Portfolio, instant: number, marketEntries: readonly MarketEntries[]): void {
  fillExitsAtClose(portfolio);
  if (portfolio.rebalances !== null && !fillReductions(portfolio, instant, true))
    fillAdditions(portfolio, instant, true);
  for (const entries of marketEntries) fillMarketEntries(portfolio, entries, instant, true);
  closeLinks(portfolio.links, portfolio.ledger, instant, false);
}

/** Closes the positions of members whose data ends early, at their last close (semantics §8.2). */
function closeEnded(portfolio: Portfolio): void {
  const { present, hasEarlyEnds } = portfolio;
  if (!hasEarlyEnds) return;
  const hasEnded = (member: Member): boolean => member.endsEarly && isLastRow(member);
  if (present.some(hasEnded)) closeAll(portfolio, present.filter(hasEnded), null);
}

/** Closes at their last closes what all members still hold (semantics §2.7). */
function closeAtEnd(portfolio: Portfolio): void {
  const { axis, end } = portfolio.input;
  for (const member of portfolio.active) if (member.open > 0) member.row = member.run.end - 1;
  closeAll(portfolio, portfolio.active, axis.time[end - 1]);
  for (const { run } of portfolio.active) expireAll(run);
}

/** @param opened open time of the bar at whose close the positions are closed; null: each member's current bar */
function closeAll(portfolio: Portfolio, members: readonly Member[], opened: number | null): void {
  const role = portfolio.config.execution.exitOrderRole;
  for (const { member, position } of oldestFirst(members)) {
    const { run, row, mark } = member;
    portfolio.beginTurn(member);
    const own = atClose(run, row);
    const at = opened === null || opened === run.bars.time[row] ? own : { ...own, time: run.closeOf(opened) };
    fillExit(run, position, exitFill(run, endOfDataExit.reason, position.quantity, mark, role), at);
    portfolio.endTurn(member);
  }
}

function expireAll(run: Run): void {
  for (const order of run.pending) {
    if (order === null) continue;
    removePending(run, order);
    expireEntry(run, order);
  }
}

/** Finds the members to read: active ones whose close can order something, and signals of the others. */
function findReaders(portfolio: Portfolio, instant: number): void {
  const { present, readers, calendar, members } = portfolio;
  readers.length = 0;
  let next = 0;
  for (let at = calendar.firsts[instant]; at < calendar.firsts[instant + 1]; at++) {
    const member = members[calendar.members[at]];
    member.signalInstant = instant;
    if (member.isActive) continue;
    while (next < present.length && present[next].index < member.index) addPresent(readers, present[next++], instant);
    member.row = calendar.rows[at];
    readers.push(member);
  }
  while (next < present.length) addPresent(readers, present[next++], instant);
}

function addPresent(readers: Member[], member: Member, instant: number): void {
  const { run, row } = member;
  // A position that is leaving takes no slot of its instrument: every entry counts.
  const isLeaving = member.linkedExits.count > 0 || member.isLiquidated;
  if (isLastRow(member) || isLeaving || isRead(run, row)) readers.push(member);
  else if (member.signalInstant === instant && run.positions.length >= run.input.maxConcurrentPositions)
    countSkippedSignals(run, row, row + 1);
}

/** Orders the exits of a close. Returns the entries that it signals, in the order of the list. */
function readMembers(portfolio: Portfolio): readonly Signal[] {
  const { readers, signals } = portfolio;
  signals.length = 0;
  for (const member of readers) {
    const rule = readMember(portfolio, member);
    if (rule >= 0) signals.push({ member, rule });
  }
  return signals;
}

/** Orders the exits of a close. Returns the entry rule that makes its one entry order; -1: none. */
function readMember(portfolio: Portfolio, member: Member): number {
  const { run, row } = member;
  // State is that of the account at this close, and orders of this close change nothing of it.
  if (run.readsState) portfolio.takeTurn(member);
  readExitSignals(run, row);
  const rule = readEntries(run, row);
  if (!isLastRow(member)) return rule;
  // Orders of the last bar have no bar to fill on, and take no slot from others.
  if (rule >= 0) expireEntryOf(portfolio, { member, rule });
  expireDueOrders(run);
  expireAll(run);
  for (const position of run.positions) position.plannedQuantity = position.quantity;
  return -1;
}

function fillExitsAtClose(portfolio: Portfolio): void {
  for (const member of portfolio.readers) {
    const { run, row } = member;
    if (run.dueExits.count === 0) continue;
    portfolio.beginTurn(member);
    fillDueExits(run, member.mark, atClose(run, row));
    portfolio.endTurn(member);
  }
}
