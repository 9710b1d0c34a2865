// The opens of an instant: funding, market exits, market entries, the liquidation test, and what the opens have passed.
import { passLevels, passPendingOrders } from '../bar.ts';
import { fillDueExits } from '../fills.ts';
import { payFunding } from '../funding.ts';
import { atOpen } from '../run.ts';
import { fillTicket } from './tickets.ts';
import { liquidateMember, testLiquidation } from './liquidation.ts';
import type { Portfolio } from './portfolio.ts';

export function playOpens(portfolio: Portfolio, instant: number): void {
  const { present, config, ledger } = portfolio;
  for (const member of present) member.mark = member.run.bars.open[member.row];
  if (config.fundingRate !== 0) for (const { run, row } of present) payFunding(run, row);
  for (const member of present) {
    const { run, row, mark, linkedExits } = member;
    if (member.open === 0) continue;
    portfolio.beginTurn(member);
    if (member.isLiquidated) liquidateMember(member, true);
    if (run.dueExits.count > 0) fillDueExits(run, mark, atOpen(run, row));
    if (linkedExits.count > 0) {
      fillDueExits(run, mark, atOpen(run, row), linkedExits);
      linkedExits.count = 0;
    }
    portfolio.endTurn(member);
  }
  fillDueEntries(portfolio, instant);

  ledger.isShared = portfolio.isShared();
  if (ledger.isShared) {
    ledger.liquidation = -Infinity;
    testLiquidation(portfolio, true);
  }
  for (const member of present) {
    const { run, row } = member;
    if (member.open === 0 && run.pendingCount === 0) continue;
    // Alone, its liquidation price is that of the account.
    if (ledger.isShared) portfolio.beginTurn(member);
    else portfolio.takeTurn(member);
    member.isQuiet = passLevels(run, row);
    portfolio.endTurn(member);
  }
  for (const member of present) {
    if (member.run.pendingCount === 0) continue;
    portfolio.takeTurn(member);
    passPendingOrders(member.run, member.row);
    portfolio.endTurn(member);
  }
}

function fillDueEntries(portfolio: Portfolio, instant: number): void {
  const { dueEntries } = portfolio;
  const tickets = dueEntries.get(instant);
  if (tickets === undefined) return;
  dueEntries.delete(instant);
  for (const ticket of tickets) fillTicket(portfolio, ticket, instant, false);
}
