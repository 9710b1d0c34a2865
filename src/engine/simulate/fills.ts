// Fills: an order becomes a position, a position or part of it becomes a trade row.
import { feeOf } from '../definitions/fees/orderFees.ts';
import { setBits } from '../kernels/bits.ts';
import type { OrderRole } from '../config.ts';
import { chargeFee, feeRate } from './costs.ts';
import { equityAt, freeCash } from './ledger.ts';
import { closedRow, timeOf, type Instant } from './instant.ts';
import { updateMargin } from './margin.ts';
import { initialStop, setLevels } from './levels.ts';
import type { EntryFill, EntryOrder, ExitFill, ExitOrder } from './orders.ts';
import { logEntry, logExit, rejectEntry } from './orderLog.ts';
import { blankPosition, resetPosition, type Position } from './position.ts';
import type { RejectionReason } from './simulation.ts';
import { exitReasonOf, type ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import type { Run } from './run.ts';
import { orderQuantity } from './sizing.ts';
import { writeTrade } from './tradeRow.ts';

/**
 * The time by which the fee tiers price a fill at this instant. The time column is read only for a window: loading its
 * cache line costs more than a fill.
 */
export const feeTime = (run: Run, at: Pick<Instant, 'row' | 'isAtClose' | 'time'>): number =>
  run.fees.windowMs === null ? NaN : timeOf(at, run.bars, run.closeOf);

/** An order that was sized to use all funds must not be rejected because its cost rounds up. */
const FUNDS_TOLERANCE = 1e-9;

/**
 * Prices and sizes an entry order that fills at `rawPrice`, the market's price before slippage, with the equity of this
 * instant (semantics §4.1), and writes it to `run.entryFill`.
 * @param closed the last row that had closed before the fill
 * @param now the time by which the fee tiers price it, see `feeTime`
 * @returns why the order is rejected; null: it fills
 */
export function sizeEntry(
  run: Run,
  { rule, signalRow, levels }: Pick<EntryOrder, 'rule' | 'signalRow' | 'levels'>,
  rawPrice: number,
  closed: number,
  now: number,
): RejectionReason | null {
  const { ledger, sizing, fees, entryFill: fill } = run;
  const { config, instrument } = run.input;
  const { side, order } = run.entries[rule];
  const size = run.sizes[rule];
  const price = order.type === 'limit' ? rawPrice : run.slippedPrice(rawPrice, side, closed);
  const stopPrice = initialStop(run.levels, levels, side, price);
  const rate = feeRate(fees, config.execution.entryOrderRole, now);
  const isByRisk = size.readsStop;
  const funds = freeCash(ledger);
  sizing.price = price;
  sizing.stopPrice = isByRisk ? run.slippedPrice(stopPrice, side > 0 ? -1 : 1, closed) : stopPrice;
  sizing.feeRate = rate;
  sizing.stopFeeRate = isByRisk ? feeRate(fees, config.execution.riskOrderRole, now) : NaN;
  sizing.equity = equityAt(ledger, rawPrice);
  sizing.freeCash = funds;
  sizing.signalRow = signalRow;
  const quantity = orderQuantity(size, sizing);
  fill.rawPrice = rawPrice;
  fill.price = price;
  fill.stopPrice = stopPrice;
  fill.quantity = quantity;
  fill.fee = feeOf(fees.perOrder, rate, quantity, price);
  if (Number.isNaN(quantity)) return 'LEVEL_MISSING';
  if (!(quantity > 0)) return 'ZERO_QTY';
  if (quantity * price < instrument.minNotional) return 'MIN_NOTIONAL';
  return isCovered(costOf(fill, config.leverage), funds) ? null : 'INSUFFICIENT_BALANCE';
}

/** Fills an entry at `rawPrice`, see `sizeEntry`. Returns the position, or null when the order was rejected. */
export function fillEntry(run: Run, order: EntryOrder, rawPrice: number, at: Instant): Position | null {
  const rejection = sizeEntry(run, order, rawPrice, closedRow(at), feeTime(run, at));
  if (rejection === null) return openPosition(run, order, at);
  if (rejection === 'INSUFFICIENT_BALANCE' && run.ledger.withheld > 0) countContested(run);
  rejectEntry(run, order, rejection);
  return null;
}

/** Counts a fill that other instruments have freed the funds for, inside the same bar. */
function countContested({ ledger, entryFill, input }: Run): void {
  if (isCovered(costOf(entryFill, input.config.leverage), freeCash(ledger) + ledger.withheld)) ledger.contestedFunds++;
}

/** The margin and fee of an entry, quote units. */
export function costOf(
  { quantity, price, fee }: Pick<EntryFill, 'quantity' | 'price' | 'fee'>,
  leverage: number,
): number {
  return (quantity * price) / leverage + fee;
}

export const isCovered = (cost: number, funds: number): boolean => cost <= funds + FUNDS_TOLERANCE * Math.abs(funds);

/**
 * A position to fill: one that was closed on an earlier row, or a new one. Those closed on this row may still be read.
 */
function takeBlank(run: Run, row: number): Position {
  if (run.lastFullExitRow < row) freeClosed(run);
  return run.blanks.length > 0 ? run.blanks.pop()! : blankPosition();
}

function freeClosed({ closed, blanks }: Run): void {
  while (closed.length > 0) blanks.push(closed.pop()!);
}

/** Opens the position of an order that `sizeEntry` has sized. */
export function openPosition(run: Run, order: EntryOrder, at: Instant): Position {
  const { input, ledger, entryFill: fill } = run;
  const { price, quantity } = fill;
  const { side } = run.entries[order.rule];
  const fee = chargeFee(run.fees, quantity, price, input.config.execution.entryOrderRole, feeTime(run, at));
  const slippage = Math.abs(price - fill.rawPrice) * quantity;
  const stopSource = run.levels.stop?.source;
  const position = takeBlank(run, at.row);
  resetPosition(position, run.ledger.nextPositionId++, side, price, quantity);
  position.entryRule = order.rule;
  position.entryRow = at.row;
  position.entryDecisionRow = order.signalRow;
  position.initialRisk = Math.abs(price - fill.stopPrice);
  position.entryFee = fee;
  position.entrySlippage = slippage;
  if (run.watch.hasStatefulExits) {
    position.exitMemories = input.exits.map(({ when }) =>
      when.kind === 'stateful' ? when.condition.newMemory(run.memories.get(when.condition)!) : null,
    );
  }
  if (stopSource?.kind === 'stateful')
    position.stopMemory = stopSource.value.newMemory(run.memories.get(stopSource.value)!);
  if (run.hasLevels) setLevels(run, position, order.levels, fill.stopPrice);
  if (run.positions.length === 0) run.openSince = at.isAtClose ? at.row + 1 : at.row;
  run.positions.push(position);
  run.slippageCost += slippage;
  run.counts.fillsByRule[order.rule]++;
  if (run.readsState) run.state.noteEntry(price);
  ledger.balance -= fee;
  updateMargin(run);
  if (run.orders !== null) {
    const { id } = position;
    logEntry(run, order, { status: 'filled', filledRow: at.row, fillPrice: price, quantity, fee, positionId: id });
  }
  return position;
}

/**
 * The argument of `fillExit`, valid until the next exit. It is slipped and has no rule and no order, unless the caller
 * sets these.
 */
export function exitFill(run: Run, reason: ExitReason, quantity: number, price: number, role: OrderRole): ExitFill {
  const fill = run.exitFill;
  fill.reason = reason;
  fill.quantity = quantity;
  fill.price = price;
  fill.role = role;
  fill.isSlipped = true;
  fill.rule = null;
  fill.order = null;
  return fill;
}

/** Closes a part of a position, or all of it, and writes its trade row (semantics §4.7). */
export function fillExit(run: Run, position: Position, exit: ExitFill, at: Instant): void {
  const { ledger } = run;
  const { side, entryPrice } = position;
  const isFull = exit.quantity >= position.quantity;
  const quantity = isFull ? position.quantity : exit.quantity;
  const share = isFull ? 1 : quantity / position.quantity;
  const direction = side > 0 ? -1 : 1;
  const price = exit.isSlipped ? run.slippedPrice(exit.price, direction, closedRow(at)) : exit.price;
  const exitFee = chargeFee(run.fees, quantity, price, exit.role, feeTime(run, at));
  const entryFee = position.entryFee * share;
  const carry = position.carry * share;
  const entrySlippage = position.entrySlippage * share;
  const exitSlippage = Math.abs(price - exit.price) * quantity;
  const gross = side * quantity * (price - entryPrice);
  const pnl = gross - entryFee - exitFee + carry;
  if (run.reads.trades) {
    const { closing } = run;
    closing.price = price;
    closing.quantity = quantity;
    closing.entryFee = entryFee;
    closing.exitFee = exitFee;
    closing.slippage = entrySlippage + exitSlippage;
    closing.pnl = pnl;
    writeTrade(run, position, exit.reason, exit.rule, at);
  }
  position.entryFee -= entryFee;
  position.carry -= carry;
  position.entrySlippage -= entrySlippage;
  position.realizedPnl += pnl;
  position.quantity = isFull ? 0 : position.quantity - quantity;
  ledger.balance += gross - exitFee;
  run.slippageCost += exitSlippage;
  if (isFull) removePosition(run, position, at);
  updateMargin(run);
  if (run.readsState) run.state.noteExit(position, price, at.row);
  if (run.orders !== null) logFill(run, position, exit, at.row, { fillPrice: price, quantity, fee: exitFee });
}

function removePosition(run: Run, position: Position, { row, isAtOpen }: Instant): void {
  const { ledger, positions } = run;
  let at = 0;
  while (positions[at] !== position) at++;
  for (; at < positions.length - 1; at++) positions[at] = positions[at + 1];
  positions.pop();
  if (run.lastFullExitRow < row) freeClosed(run);
  run.closed.push(position);
  run.lastFullExitRow = row;
  if (positions.length === 0) {
    // A bar at whose open everything was closed has no position inside (semantics §5.2).
    setBits(run.inPosition, run.openSince - run.input.start, row - run.input.start + (isAtOpen ? 0 : 1));
    if (!(ledger.balance > 0) && ledger.othersOpen === 0) ledger.isOver = true;
  }
}

function logFill(
  run: Run,
  position: Position,
  exit: ExitFill,
  row: number,
  filled: { fillPrice: number; quantity: number; fee: number },
): void {
  const { order, reason, rule } = exit;
  const { order: type, names } = exitReasonOf(reason);
  logExit(
    run,
    position,
    {
      orderId: order?.id ?? run.ledger.nextOrderId++,
      row: order?.signalRow ?? row,
      type,
      role: exit.role,
      reason,
      rule: names === 'exit' && rule !== null ? run.input.exits[rule].id : reason,
    },
    {
      status: 'filled',
      filledRow: row,
      price: type === 'risk' ? exit.price : null,
      ...filled,
    },
  );
}

/** Fills the market exits that are due, at `price`. */
export function fillDueExits(run: Run, price: number, at: Instant): void {
  const { dueExits } = run;
  for (let index = 0; index < dueExits.count; index++) fillMarketExit(run, dueExits.at(index), price, true, at);
  dueExits.count = 0;
}

/** A market exit at `price`; not slipped when it is part of a limit entry of the other side (semantics §2.3). */
export function fillMarketExit(run: Run, order: ExitOrder, price: number, isSlipped: boolean, at: Instant): void {
  const { position } = order;
  if (position.quantity === 0) return;
  const exit = exitFill(run, order.reason, order.quantity, price, run.input.config.execution.exitOrderRole);
  exit.isSlipped = isSlipped;
  exit.rule = order.rule;
  exit.order = order;
  fillExit(run, position, exit, at);
}
