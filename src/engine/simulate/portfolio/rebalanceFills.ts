// The fills of a rebalance: first all reductions, however long the slowest takes, then the additions together
// (semantics §8.11).
import { droppedExit } from '../../definitions/exitReasons/droppedExit.ts';
import { rebalanceExit } from '../../definitions/exitReasons/rebalanceExit.ts';
import { affordableFactor } from '../../definitions/fees/affordable.ts';
import { feeOf } from '../../definitions/fees/orderFees.ts';
import { feeRate } from '../costs.ts';
import { costOf, exitFill, feeTime, fillExit, isCovered } from '../fills.ts';
import { closedRow, type Instant } from '../instant.ts';
import { freeCash } from '../ledger.ts';
import { expireEntry, logEntry, logExit, rejectEntry } from '../orderLog.ts';
import { NO_LEVELS, type EntryOrder } from '../orders.ts';
import type { Position } from '../position.ts';
import { atClose, atOpen } from '../run.ts';
import type { RejectionReason } from '../simulation.ts';
import { floorToStep, partialQuantity } from '../sizing.ts';
import { addToHolding } from './holdings.ts';
import { isLastRow, type HoldingOrder, type Member } from './member.ts';
import type { Portfolio } from './portfolio.ts';

/** A difference below this part of what is held is a rounding error, not an order. */
const NOTHING = 1e-12;

/** Cash below this part of what additions cost is a rounding error of the account, and buys nothing. */
const NO_CASH = 1e-9;

/** Fills the reductions that have a bar. Returns whether one of them still waits for a bar. */
export function fillReductions(portfolio: Portfolio, instant: number, isAtClose: boolean): boolean {
  let isWaiting = false;
  for (const member of portfolio.active) {
    const order = liveOrder(portfolio, member);
    if (order === null || !isReduction(member, order)) continue;
    if (hasBarAt(member, instant)) reduce(portfolio, member, order, instantOf(member, isAtClose));
    else isWaiting = true;
  }
  return isWaiting;
}

/**
 * Fills the additions that have a bar. Where cash does not suffice for all of them, those that wait included, they are
 * scaled by one factor.
 */
export function fillAdditions(portfolio: Portfolio, instant: number, isAtClose: boolean): void {
  const adding = portfolio.active.filter((member) => liveOrder(portfolio, member) !== null);
  const first = adding.find((member) => hasBarAt(member, instant));
  if (first === undefined) return;
  const { config, ledger, fees } = portfolio;
  portfolio.takeTurn(first);
  const funds = freeCash(ledger);
  const rate = feeRate(fees, config.execution.entryOrderRole, feeTime(first.run, instantOf(first, isAtClose)));
  // A rebate buys nothing before it is paid (semantics §4.2).
  const paid = Math.max(0, rate);
  const additions = adding.map((member) => {
    const hasBar = hasBarAt(member, instant);
    const side = sideOf(member.holdingOrder!);
    const { run, mark } = member;
    const price = hasBar ? run.slippedPrice(mark, side, closedRow(instantOf(member, isAtClose))) : mark;
    const held = member.open === 0 ? 0 : run.positions[0].quantity;
    const missing = Math.abs(member.holdingOrder!.value) / price - held;
    return { member, hasBar, price, quantity: missing > NOTHING * held ? missing : 0 };
  });
  const factor = factorOf(
    additions.toSorted((a, b) => a.member.symbolRank - b.member.symbolRank),
    funds,
    paid,
    portfolio,
  );
  for (const { member, hasBar, price, quantity } of additions) {
    if (hasBar) add(portfolio, member, price, quantity * factor, instantOf(member, isAtClose));
  }
}

/** The factor by which additions are multiplied so that funds cover them. @param additions in the order of symbols */
function factorOf(
  additions: readonly { readonly price: number; readonly quantity: number }[],
  funds: number,
  rate: number,
  { config: { leverage }, fees: { perOrder } }: Portfolio,
): number {
  let cost = 0;
  for (const { price, quantity } of additions)
    if (perOrder === null || quantity > 0)
      cost += costOf({ price, quantity, fee: feeOf(perOrder, rate, quantity, price) }, leverage);
  if (isCovered(cost, funds)) return 1;
  if (funds < NO_CASH * cost) return 0;
  if (perOrder === null) return funds / cost;
  const orders = additions.filter(({ quantity }) => quantity > 0);
  return affordableFactor(funds, orders, 1 / leverage, perOrder, rate);
}

/** Expires the orders of members at their last bar. */
export function expireHoldingOrders(portfolio: Portfolio): void {
  for (const member of portfolio.present)
    if (member.holdingOrder !== null && isLastRow(member)) cancelHoldingOrder(portfolio, member, 'expired');
}

/** Ends an order that has not filled. */
export function cancelHoldingOrder({ rebalancing }: Portfolio, member: Member, status: 'expired' | 'cancelled'): void {
  const order = member.holdingOrder!;
  const { run } = member;
  member.holdingOrder = null;
  if (status === 'expired') rebalancing.ordersExpired++;
  else rebalancing.ordersCancelled++;
  if (isReduction(member, order)) {
    const { execution } = run.input.config;
    const exit = { orderId: order.id, row: order.row, type: 'market', role: execution.exitOrderRole } as const;
    const { reason } = rebalanceExit;
    logExit(run, run.positions[0], { ...exit, reason, rule: reason }, { status });
  } else if (status === 'expired') expireEntry(run, entryOf(order));
  else logEntry(run, entryOf(order), { status });
}

/** The order of a member; null when there is none, or when something else has closed the holding that it changes. */
function liveOrder(portfolio: Portfolio, member: Member): HoldingOrder | null {
  const order = member.holdingOrder;
  if (order === null || order.positionId === null || member.run.positions[0]?.id === order.positionId) return order;
  cancelHoldingOrder(portfolio, member, 'cancelled');
  return null;
}

const hasBarAt = ({ instants, row }: Member, instant: number): boolean => instants[row] === instant;

const sideOf = ({ value }: HoldingOrder): 1 | -1 => (value < 0 ? -1 : 1);

/** Whether less is wanted than is held, or the other side, at the mark of the member. */
function isReduction({ run, mark }: Member, order: HoldingOrder): boolean {
  const position: Position | undefined = run.positions[0];
  if (position === undefined) return false;
  return position.side !== sideOf(order) || Math.abs(order.value) < position.quantity * mark * (1 - NOTHING);
}

function reduce(portfolio: Portfolio, member: Member, order: HoldingOrder, at: Instant): void {
  const { run, mark } = member;
  const { rebalancing: counts } = portfolio;
  const [position] = run.positions;
  const { quantity, side } = position;
  const isTurn = order.value !== 0 && side !== sideOf(order);
  const price = run.slippedPrice(mark, side > 0 ? -1 : 1, closedRow(at));
  const kept = isTurn ? 0 : Math.abs(order.value) / price;
  const closing = partialQuantity(quantity, quantity - kept, run.input.instrument.qtyStep);
  if (closing > 0) {
    const reason = closing >= quantity ? droppedExit.reason : rebalanceExit.reason;
    const exit = exitFill(run, reason, closing, mark, run.input.config.execution.exitOrderRole);
    exit.order = { id: order.id, signalRow: order.row, position, quantity: closing, reason, rule: null };
    portfolio.beginTurn(member);
    fillExit(run, position, exit, at);
    portfolio.endTurn(member);
    counts.ordersFilled++;
  } else counts.ordersUnneeded++;
  if (isTurn) counts.orders++;
  member.holdingOrder = isTurn ? { ...order, id: portfolio.ledger.nextOrderId++, positionId: null } : null;
}

function add(portfolio: Portfolio, member: Member, price: number, wanted: number, at: Instant): void {
  const { run, mark } = member;
  const { qtyStep, minNotional } = run.input.instrument;
  const { rebalancing: counts } = portfolio;
  const order = member.holdingOrder!;
  const entry = entryOf(order);
  const quantity = floorToStep(wanted, qtyStep);
  member.holdingOrder = null;
  // What is held is as near to what is wanted as the step allows.
  if (!(quantity > 0) && member.open > 0) {
    counts.ordersUnneeded++;
    return;
  }
  const rejection = rejectionOf(order, quantity, quantity * price < minNotional);
  if (rejection !== null) {
    counts.ordersRejected++;
    rejectEntry(run, entry, rejection);
    return;
  }
  const fill = run.entryFill;
  fill.rawPrice = mark;
  fill.price = price;
  fill.quantity = quantity;
  portfolio.takeTurn(member);
  addToHolding(run, entry, at);
  portfolio.endTurn(member, true);
  counts.ordersFilled++;
}

function rejectionOf({ levels }: HoldingOrder, quantity: number, isTooSmall: boolean): RejectionReason | null {
  if (levels === null) return 'LEVEL_MISSING';
  if (!(quantity > 0)) return 'ZERO_QTY';
  return isTooSmall ? 'MIN_NOTIONAL' : null;
}

const entryOf = (order: HoldingOrder): EntryOrder => ({
  id: order.id,
  rule: sideOf(order) > 0 ? 0 : 1,
  signalRow: order.row,
  price: NaN,
  lastRow: order.row + 1,
  levels: order.levels ?? NO_LEVELS,
  lacksLeg: false,
});

const instantOf = ({ run, row }: Member, isAtClose: boolean): Instant =>
  isAtClose ? atClose(run, row) : atOpen(run, row);
