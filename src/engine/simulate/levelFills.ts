// Fills at levels: the stop, the targets and the liquidation of a position that the price has reached.
import { liquidationExit } from '../definitions/exitReasons/liquidationExit.ts';
import { takeProfitExit } from '../definitions/exitReasons/takeProfitExit.ts';
import { exitFill, fillExit } from './fills.ts';
import type { Instant } from './instant.ts';
import { takeStep } from './ladder.ts';
import { adverseLevel } from './margin.ts';
import { applyBreakevenDue, holdThroughTarget, leaveRange, type Position } from './position.ts';
import type { Run } from './run.ts';

/**
 * Fills the stop of a position at a signed price: its level, or the price that was already past it. If the account's
 * liquidation is nearer than the stop, everything is closed instead, oldest first (semantics §4.7).
 */
export function fillAdverse(run: Run, position: Position, signedPrice: number, at: Instant): void {
  const price = position.side * signedPrice;
  const role = run.input.config.execution.riskOrderRole;
  if (run.ledger.liquidation <= position.stop) {
    fillExit(run, position, exitFill(run, position.stopReason, position.quantity, price, role), at);
    return;
  }
  for (const each of run.positions.slice()) {
    if (each !== position) leaveRange(each);
    const instant = each === position ? at : { ...at, from: NaN };
    fillExit(run, each, exitFill(run, liquidationExit.reason, each.quantity, price, role), instant);
  }
}

/** Fills the nearest target at a signed price: its level, or the better price that was already past it. */
export function fillTarget(run: Run, position: Position, signedPrice: number, at: Instant): void {
  const step = position.nextStep;
  const { config, instrument, risk } = run.input;
  const quantity = takeStep(position, risk.takeProfits, instrument.qtyStep);
  if (quantity === 0) return;
  const price = position.side * signedPrice;
  const exit = exitFill(run, takeProfitExit.reason, quantity, price, config.execution.riskOrderRole);
  // A target fills like a limit order.
  exit.isSlipped = false;
  exit.rule = step;
  fillExit(run, position, exit, at);
  if (position.quantity > 0) holdThroughTarget(position, signedPrice);
}

/** Whether the market's price (signed) has passed a level of the position. */
export const isPassed = (run: Run, position: Position, signedPrice: number): boolean =>
  signedPrice <= adverseLevel(run, position) || signedPrice >= position.nextTarget;

/**
 * Fills what the market's price (signed) has already passed, at an open or at an entry fill: the stop, or else every
 * passed target. If a target has moved the stop to where the price is already past it, what is left fills too
 * (semantics §2.5).
 */
export function fillPassed(run: Run, position: Position, signedPrice: number, at: Instant): void {
  if (signedPrice <= adverseLevel(run, position)) {
    fillAdverse(run, position, signedPrice, at);
    return;
  }
  if (signedPrice < position.nextTarget) return;
  while (position.quantity > 0 && signedPrice >= position.nextTarget) fillTarget(run, position, signedPrice, at);
  if (position.quantity === 0) return;
  applyBreakevenDue(position);
  if (signedPrice <= adverseLevel(run, position)) fillAdverse(run, position, signedPrice, at);
}
