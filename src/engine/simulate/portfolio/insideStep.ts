// The inside of the bars of an instant, instrument by instrument in the order of the list. Nobody knows when another
// bar freed or took what it did: an instrument sees the account as it was after the opens, with its own fills, less
// what the bars before it in the list have taken since, and never what they have freed (semantics §8.4).
import { playAfterOpen } from '../bar.ts';
import { updateMargin } from '../margin.ts';
import { TRADE, TRADE_WIDTH } from '../tradeLog.ts';
import { unrealizedOf, type Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';

/** Quote units and positions that bars have taken since the opens. */
interface Taken {
  /** Fees and losses against the entry price. */
  cash: number;
  /** Fees and losses since the open, which are not in unrealized profit at the open. */
  equity: number;
  margin: number;
  open: number;
}

/** Plays the inside of all bars. Returns whether any position was opened in it. */
export function playInsides(portfolio: Portfolio): boolean {
  const { present, ledger, hasPendingOrders } = portfolio;
  const firstNew = ledger.nextPositionId;
  // Only pending orders need funds inside a bar.
  if (hasPendingOrders && ledger.isShared && present.some(({ run }) => run.pendingCount > 0)) playWithFunds(portfolio);
  else playInTurn(portfolio);
  return ledger.nextPositionId > firstNew;
}

function playInTurn(portfolio: Portfolio): void {
  const { present, ledger } = portfolio;
  for (const member of present) {
    const { run } = member;
    if (member.open === 0 && run.pendingCount === 0) continue;
    if (ledger.isShared && member.isQuiet) {
      // Nothing fills in it, and the account is not asked.
      playAfterOpen(run, member.row, true);
      continue;
    }
    if (ledger.isShared) portfolio.beginTurn(member);
    else portfolio.takeTurn(member);
    playAfterOpen(run, member.row, member.isQuiet);
    portfolio.endTurn(member);
  }
}

function playWithFunds(portfolio: Portfolio): void {
  const { present, active, ledger, trades } = portfolio;
  const balanceAfterOpens = ledger.balance;
  const taken: Taken = { cash: 0, equity: 0, margin: 0, open: 0 };
  let isFirst = true;
  for (const member of active) {
    member.afterOpen.open = member.open;
    member.afterOpen.margin = member.margin;
    member.afterOpen.unrealized = member.open === 0 ? 0 : unrealizedOf(member);
  }
  for (const member of present) {
    const { run } = member;
    if (member.open === 0 && run.pendingCount === 0) continue;
    const balance = ledger.balance;
    const seen = isFirst ? balance : balanceAfterOpens - taken.cash;
    const firstTrade = trades.length;
    const firstPosition = ledger.nextPositionId;
    viewAfterOpens(portfolio, member, seen, taken);
    playAfterOpen(run, member.row, member.isQuiet);
    ledger.withheld = 0;
    ledger.withheldSlots = 0;
    if (!isFirst) ledger.balance = balance + (ledger.balance - seen);
    if (!portfolio.endTurn(member)) continue;
    isFirst = false;
    addTaken(portfolio, member, firstTrade, firstPosition, taken);
  }
}

/** Shows a member the account as it was after the opens, less what others have taken since. */
function viewAfterOpens(portfolio: Portfolio, member: Member, balance: number, taken: Taken): void {
  const { ledger, activeBySymbol } = portfolio;
  let unrealized = 0;
  let margin = 0;
  let open = 0;
  let marginNow = 0;
  for (const other of activeBySymbol) {
    if (other === member) continue;
    unrealized += other.afterOpen.unrealized;
    margin += other.afterOpen.margin;
    open += other.afterOpen.open;
    marginNow += other.margin;
  }
  const freed = ledger.balance - marginNow - (balance - margin - taken.margin);
  ledger.withheld = Math.max(0, freed);
  ledger.balance = balance;
  // The balance lacks the losses against entry prices, equity those since the open.
  ledger.othersUnrealized = unrealized + taken.cash - taken.equity;
  ledger.othersMargin = margin + taken.margin;
  ledger.othersOpen = open + taken.open;
  ledger.withheldSlots = ledger.othersOpen - (portfolio.openCount - member.open);
  updateMargin(member.run);
}

/** Adds what the fills of a member have taken: margin and fee of each entry, fee and loss of each closing fill. */
function addTaken(
  { trades, config, ledger }: Portfolio,
  { run, mark }: Member,
  firstTrade: number,
  firstPosition: number,
  taken: Taken,
): void {
  const { numbers } = trades;
  let notional = 0;
  for (let trade = firstTrade; trade < trades.length; trade++) {
    const at = trade * TRADE_WIDTH;
    const quantity = numbers[at + TRADE.quantity];
    const entryPrice = numbers[at + TRADE.entryPrice];
    const side = numbers[at + TRADE.side];
    const exitPrice = numbers[at + TRADE.exitPrice];
    const isNew = numbers[at + TRADE.positionId] >= firstPosition;
    const before = isNew ? entryPrice : mark;
    const fee = Math.max(0, numbers[at + TRADE.exitFee]) + (isNew ? Math.max(0, numbers[at + TRADE.entryFee]) : 0);
    taken.cash += fee + Math.max(0, side * quantity * (entryPrice - exitPrice));
    taken.equity += fee + Math.max(0, side * quantity * (before - exitPrice));
    if (isNew) notional += quantity * entryPrice;
  }
  for (const { id, quantity, entryPrice, entryFee } of run.positions) {
    if (id < firstPosition) continue;
    notional += quantity * entryPrice;
    taken.cash += Math.max(0, entryFee);
    taken.equity += Math.max(0, entryFee);
  }
  taken.margin += notional / config.leverage;
  taken.open += ledger.nextPositionId - firstPosition;
}
