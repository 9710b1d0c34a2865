// The opens of an instant: carry, market exits, market entries, the liquidation test, then levels and
// pending orders that the opens have passed (semantics §8.3, steps 1 to 4).
import { passLevels, passPendingOrders } from '../bar.ts';
import { fillMarketExit } from '../fills.ts';
import { payCarry } from '../payCarry.ts';
import { atOpen } from '../run.ts';
import type { Member } from './member.ts';
import { cancelOrphans, holdIncomplete } from './links.ts';
import { fillAdditions, fillReductions } from './rebalanceFills.ts';
import { fillMarketEntries } from './marketEntries.ts';
import { liquidateMember, testLiquidation } from './liquidation.ts';
import type { Portfolio } from './portfolio.ts';

export function playOpens(portfolio: Portfolio, instant: number): void {
  const { present, ledger, links } = portfolio;
  for (const member of present) member.mark = member.run.bars.open[member.row];
  holdIncomplete(links, instant);
  for (const { run, row } of present) if (run.carry !== null) payCarry(run, run.carry, row);
  fillAllExits(portfolio);
  const isWaiting = portfolio.rebalances !== null && fillReductions(portfolio, instant, false);
  fillDueEntries(portfolio, instant);
  if (portfolio.rebalances !== null && !isWaiting) fillAdditions(portfolio, instant, false);
  cancelOrphans(links);

  ledger.isShared = portfolio.isShared();
  if (ledger.isShared) {
    ledger.liquidation = -Infinity;
    testLiquidation(portfolio, instant, true);
  }
  passAllLevels(portfolio);
  cancelOrphans(links);
  passAllOrders(portfolio);
  cancelOrphans(links);
}

function fillAllExits(portfolio: Portfolio): void {
  for (const member of portfolio.present) {
    if (member.open === 0 || !isLeaving(member)) continue;
    portfolio.beginTurn(member);
    // Exits that were ordered before the liquidation keep their reason.
    fillExits(member);
    if (member.isLiquidated) liquidateMember(member, true);
    portfolio.endTurn(member);
  }
}

function passAllLevels(portfolio: Portfolio): void {
  const { present, ledger } = portfolio;
  for (const member of present) {
    const { run, row } = member;
    if (member.open === 0 && run.pendingCount === 0) continue;
    if (ledger.isShared && !run.hasLevels && run.pendingCount === 0) {
      // Neither a level of its own nor a liquidation price: no bar touches anything.
      member.isQuiet = true;
      continue;
    }
    // Alone, its liquidation price is that of the account.
    if (ledger.isShared) portfolio.beginTurn(member);
    else portfolio.takeTurn(member);
    member.isQuiet = passLevels(run, row);
    portfolio.endTurn(member);
  }
}

function passAllOrders(portfolio: Portfolio): void {
  if (!portfolio.hasPendingOrders) return;
  for (const member of portfolio.present) {
    if (member.run.pendingCount === 0) continue;
    portfolio.takeTurn(member);
    passPendingOrders(member.run, member.row);
    portfolio.endTurn(member);
  }
}

/** Whether anything is to be closed at this open. */
const isLeaving = ({ run, linkedExits, isLiquidated }: Member): boolean =>
  run.dueExits.count > 0 || linkedExits.count > 0 || isLiquidated;

/** Fills the exits that are due at this open, those of links among them, in the order in which they were made. */
function fillExits({ run, row, mark, linkedExits }: Member): void {
  const { dueExits } = run;
  const at = atOpen(run, row);
  for (let due = 0, linked = 0; due < dueExits.count || linked < linkedExits.count;) {
    const isLinkedNext =
      due === dueExits.count || (linked < linkedExits.count && linkedExits.at(linked).id < dueExits.at(due).id);
    fillMarketExit(run, isLinkedNext ? linkedExits.at(linked++) : dueExits.at(due++), mark, true, at);
  }
  dueExits.count = 0;
  linkedExits.count = 0;
}

function fillDueEntries(portfolio: Portfolio, instant: number): void {
  const { dueEntries } = portfolio;
  if (dueEntries.size === 0) return;
  const found = dueEntries.get(instant);
  if (found === undefined) return;
  dueEntries.delete(instant);
  for (const entries of found) fillMarketEntries(portfolio, entries, instant, false);
}
