// Fills: an order becomes a position, a position or part of it becomes a trade row.
import { setBits } from './bits.ts';
import type { OrderRole } from './config.ts';
import { chargeFee, feeRate } from './costs.ts';
import { equityAt, freeCash, remark } from './ledger.ts';
import { initialStop, setLevels } from './levels.ts';
import { logEntry, logExit, rejectEntry, type EntryOrder, type ExitOrder } from './orders.ts';
import { applyBreakevenDue, blankPosition, findNextTarget, resetPosition, type Position } from './position.ts';
import type { ExitReason, OrderRecord } from './program.ts';
import { closedRow, type Run } from './run.ts';
import { orderQuantity, partialQuantity } from './sizing.ts';

/** Rounding in a cost that was computed to fit does not reject it. */
const FUNDS_TOLERANCE = 1e-9;

/**
 * Fills an entry at `rawPrice`, the market's price before slippage. Quantity and funds are settled here, with the equity of this instant
 * (semantics §4.1). Gives the position, or null when the order was rejected.
 */
export function fillEntry(run: Run, order: EntryOrder, rawPrice: number): Position | null {
  const { input, ledger } = run;
  const { config, instrument, risk } = input;
  const rule = run.entries[order.rule];
  const { side } = rule;
  const role = config.execution.entryOrderRole;
  const price = rule.order.type === 'limit' ? rawPrice : run.slip(rawPrice, side, closedRow(run));
  const stopPrice = initialStop(risk, order.levels, side, price);
  const rate = feeRate(run.fees, role);
  const quantity = orderQuantity(rule.sizing, {
    price,
    stopPrice: rule.sizing.mode === 'risk_percent' ? run.slip(stopPrice, side > 0 ? -1 : 1, closedRow(run)) : stopPrice,
    feeRate: rate,
    equity: equityAt(ledger, rawPrice),
    freeCash: freeCash(ledger),
    leverage: config.leverage,
    signalRow: order.signalRow,
    bars: run.bars,
    instrument,
  });
  const notional = quantity * price;
  const cost = notional / config.leverage + notional * rate;
  const funds = freeCash(ledger);
  if (Number.isNaN(quantity)) rejectEntry(run, order, 'LEVEL_MISSING');
  else if (!(quantity > 0)) rejectEntry(run, order, 'ZERO_QTY');
  else if (notional < instrument.minNotional) rejectEntry(run, order, 'MIN_NOTIONAL');
  else if (!(cost <= funds + FUNDS_TOLERANCE * Math.abs(funds))) rejectEntry(run, order, 'INSUFFICIENT_BALANCE');
  else return openPosition(run, order, { rawPrice, price, stopPrice, quantity, role });
  return null;
}

/** A closed position of an earlier row, to be used again; those of this row may still be looked at. */
function takeBlank(run: Run): Position {
  if (run.closed.length > 0 && run.lastFullExitRow < run.row) return run.closed.pop()!;
  return blankPosition();
}

interface EntryFill {
  readonly rawPrice: number;
  readonly price: number;
  readonly stopPrice: number;
  readonly quantity: number;
  readonly role: OrderRole;
}

function openPosition(run: Run, order: EntryOrder, fill: EntryFill): Position {
  const { input, ledger } = run;
  const { price, quantity } = fill;
  const { side } = run.entries[order.rule];
  const fee = chargeFee(run.fees, quantity * price, fill.role);
  const slippage = Math.abs(price - fill.rawPrice) * quantity;
  const { stopLoss } = input.risk;
  const position = takeBlank(run);
  resetPosition(position, run.nextPositionId++, side, price, quantity);
  position.entryRule = order.rule;
  position.entryRow = run.row;
  position.initialRisk = Math.abs(price - fill.stopPrice);
  position.entryFee = fee;
  position.entrySlippage = slippage;
  if (run.watch.hasStatefulExits) {
    position.exitMemories = input.exits.map(({ when }) =>
      when.kind === 'stateful' ? when.condition.newMemory() : null,
    );
  }
  if (stopLoss?.mode === 'price' && stopLoss.price.kind === 'stateful') {
    position.stopMemory = stopLoss.price.value.newMemory();
  }
  setLevels(position, input.risk, order.levels, fill.stopPrice);
  if (run.positions.length === 0) run.openSince = run.row;
  run.positions.push(position);
  run.slippageCost += slippage;
  run.counts.fillsByRule[order.rule]++;
  run.state.noteEntry(price);
  ledger.balance -= fee;
  remark(run);
  logEntry(run, order, {
    status: 'filled',
    filledRow: run.row,
    fillPrice: price,
    quantity,
    fee,
    positionId: position.id,
  });
  return position;
}

export interface ExitFill {
  readonly quantity: number;
  /** Before slippage. */
  readonly price: number;
  readonly isSlipped: boolean;
  readonly role: OrderRole;
  readonly reason: ExitReason;
  /** Index into `exits` or the ladder. */
  readonly rule: number | null;
  /** The market order this fills; null for a level of the risk rules. */
  readonly order: ExitOrder | null;
}

/** Closes a part of a position, or all of it, and writes its trade row (semantics §4.7). */
export function fillExit(run: Run, position: Position, exit: ExitFill): void {
  const { ledger } = run;
  const { side, entryPrice } = position;
  const isFull = exit.quantity >= position.quantity;
  const quantity = isFull ? position.quantity : exit.quantity;
  const share = isFull ? 1 : quantity / position.quantity;
  const price = exit.isSlipped ? run.slip(exit.price, side > 0 ? -1 : 1, closedRow(run)) : exit.price;
  const exitFee = chargeFee(run.fees, quantity * price, exit.role);
  const entryFee = position.entryFee * share;
  const funding = position.funding * share;
  const entrySlippage = position.entrySlippage * share;
  const exitSlippage = Math.abs(price - exit.price) * quantity;
  const gross = side * quantity * (price - entryPrice);
  const pnl = gross - entryFee - exitFee + funding;
  // The exit bar adds only its open and the exit price; at its close the bar has been taken in already.
  const lived = Number.isNaN(run.insideOpen) ? side * price : side * run.insideOpen;
  const signedEntry = side * entryPrice;
  run.trades.push({
    positionId: position.id,
    side,
    entryRow: position.entryRow,
    exitRow: run.row,
    entryPrice,
    exitPrice: price,
    quantity,
    entryFee,
    exitFee,
    slippage: entrySlippage + exitSlippage,
    pnl,
    returnPct: pnl / (quantity * entryPrice),
    maePct: (Math.min(position.trough, lived, side * price) - signedEntry) / entryPrice,
    mfePct: (Math.max(position.peak, lived, side * price) - signedEntry) / entryPrice,
    exitReason: exit.reason,
    exitMethod: run.how.method,
    exitResolution: run.how.resolution,
    exitPolicy: run.how.policy,
    exitFineTime: run.how.fineTime,
    entryRule: position.entryRule,
    exitRule: exit.rule,
    initialRisk: Number.isNaN(position.initialRisk) ? null : position.initialRisk,
  });
  position.entryFee -= entryFee;
  position.funding -= funding;
  position.entrySlippage -= entrySlippage;
  position.realizedPnl += pnl;
  position.quantity = isFull ? 0 : position.quantity - quantity;
  ledger.balance += gross - exitFee;
  run.slippageCost += exitSlippage;
  if (isFull) removePosition(run, position);
  remark(run);
  run.state.noteExit(position, price);
  if (run.orders !== null) logFill(run, position, exit, price, quantity, exitFee);
}

function removePosition(run: Run, position: Position): void {
  const { positions } = run;
  let at = 0;
  while (positions[at] !== position) at++;
  for (; at < positions.length - 1; at++) positions[at] = positions[at + 1];
  positions.pop();
  run.closed.push(position);
  run.lastFullExitRow = run.row;
  if (run.positions.length === 0) {
    setBits(run.inPosition, run.openSince - run.input.start, run.row - run.input.start + 1);
    if (!(run.ledger.balance > 0)) run.isOver = true;
  }
}

function logFill(run: Run, position: Position, exit: ExitFill, price: number, quantity: number, fee: number): void {
  const { order, reason, rule } = exit;
  let type: OrderRecord['type'] = 'risk';
  if (order !== null || reason === 'end_of_data') type = 'market';
  logExit(
    run,
    position,
    {
      orderId: order?.id ?? run.nextOrderId++,
      row: order?.signalRow ?? run.row,
      type,
      role: exit.role,
      reason,
      rule: reason === 'signal' && rule !== null ? run.input.exits[rule].id : reason,
    },
    {
      status: 'filled',
      filledRow: run.row,
      price: type === 'risk' ? exit.price : null,
      fillPrice: price,
      quantity,
      fee,
    },
  );
}

/** Fills the market exits that are due, at `price`. Emptied by a new array: setting a length to 0 is a slow call, and usual here. */
export function fillDueExits(run: Run, price: number): void {
  const { dueExits } = run;
  if (dueExits.length === 0) return;
  run.dueExits = [];
  for (const order of dueExits) fillMarketExit(run, order, price);
}

/** A market exit at `price`. */
export function fillMarketExit(run: Run, order: ExitOrder, price: number): void {
  const { position } = order;
  if (position.quantity === 0) return;
  fillExit(run, position, {
    quantity: order.quantity,
    price,
    isSlipped: true,
    role: run.input.config.execution.exitOrderRole,
    reason: order.reason,
    rule: order.rule,
    order,
  });
}

/**
 * The stop of a position is hit at a signed price (its level, or the price that was already past it); or the account's liquidation, if
 * that is the nearer, which closes everything.
 */
export function fillAdverse(run: Run, position: Position, signedPrice: number): void {
  const price = position.side * signedPrice;
  const isLiquidation = run.ledger.liquidation > position.stop;
  const closing = isLiquidation ? [...run.positions] : [position];
  for (const each of closing) {
    fillExit(run, each, {
      quantity: each.quantity,
      price,
      isSlipped: true,
      role: run.input.config.execution.riskOrderRole,
      reason: isLiquidation ? 'liquidation' : each.stopReason,
      rule: null,
      order: null,
    });
  }
}

/** The nearest target is reached and fills at a signed price: its level, or the better price that was already past it. */
export function fillTarget(run: Run, position: Position, signedPrice: number): void {
  const step = position.nextStep;
  const rule = run.input.risk.takeProfits[step];
  position.targets[step] = Infinity;
  findNextTarget(position);
  let wanted: number;
  if (rule.closeBasis === 'initial') {
    position.closedPercent += rule.closePercent;
    const isAll = position.closedPercent >= 100 - 1e-9;
    wanted = isAll ? position.quantity : (position.initialQuantity * rule.closePercent) / 100;
  } else {
    wanted = (position.quantity * rule.closePercent) / 100;
  }
  const quantity = partialQuantity(position.quantity, wanted, run.input.instrument.qtyStep);
  if (quantity > 0) {
    fillExit(run, position, {
      quantity,
      price: position.side * signedPrice,
      isSlipped: false,
      role: run.input.config.execution.riskOrderRole,
      reason: 'take_profit',
      rule: step,
      order: null,
    });
  }
  if (rule.moveStopToBreakeven && position.quantity > 0) position.isBreakevenDue = true;
}

/**
 * What an open (of a bar or a child, signed) has already passed fills at it: the stop first, else every target beyond which it lies.
 * A ladder step filled here moves its stop at once, since nothing about its time is in doubt.
 */
export function fillPassedAtOpen(run: Run, position: Position, signedOpen: number): void {
  if (signedOpen <= Math.max(position.stop, run.ledger.liquidation)) {
    fillAdverse(run, position, signedOpen);
    return;
  }
  while (position.quantity > 0 && signedOpen >= position.nextTarget) fillTarget(run, position, signedOpen);
  if (position.quantity > 0) applyBreakevenDue(position);
}
