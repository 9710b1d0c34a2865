// Fills at levels: the stop, the targets and the liquidation of a position that the price has reached.
import { exitFill, fillExit } from './fills.ts';
import type { Instant } from './instant.ts';
import { takeStep } from './ladder.ts';
import { adverseLevel } from './margin.ts';
import { applyBreakevenDue, leaveRange, recordExtremes, type Position } from './position.ts';
import { pricesAt } from './priceRange.ts';
import type { Run } from './run.ts';

/**
 * The stop of a position is hit at a signed price (its level, or the price that was already past it); or the account's
 * liquidation, if that is the nearer, which closes everything, oldest first (semantics §4.7).
 */
export function fillAdverse(run: Run, position: Position, signedPrice: number, at: Instant): void {
  const price = position.side * signedPrice;
  const role = run.input.config.execution.riskOrderRole;
  if (run.ledger.liquidation <= position.stop) {
    fillExit(run, position, exitFill(run, position.stopReason, position.quantity, price, role), at);
    return;
  }
  for (const each of run.positions.slice()) {
    const instant = each === position ? at : leaveTogether(run, each, at);
    fillExit(run, each, exitFill(run, 'liquidation', each.quantity, price, role), instant);
  }
}

/**
 * Records what another position than the one being played was held through until a liquidation closes it, and returns
 * the instant of that. Where the one being played is walked alone, the other was held through the same children.
 */
function leaveTogether(run: Run, position: Position, at: Instant): Instant {
  const { children, walked } = run;
  leaveRange(position);
  for (let index = walked.first; index <= walked.index; index++) {
    const { open, best, worst } = pricesAt(children!, index, position.side);
    if (index === walked.index) recordExtremes(position, open, open);
    else recordExtremes(position, best, worst);
  }
  return { ...at, from: NaN };
}

/**
 * The nearest target is reached and fills at a signed price: its level, or the better price that was already past it.
 */
export function fillTarget(run: Run, position: Position, signedPrice: number, at: Instant): void {
  const step = position.nextStep;
  const { config, instrument, risk } = run.input;
  const quantity = takeStep(position, risk.takeProfits, instrument.qtyStep);
  if (quantity === 0) return;
  const price = position.side * signedPrice;
  const exit = exitFill(run, 'take_profit', quantity, price, config.execution.riskOrderRole);
  // A target fills like a limit order.
  exit.isSlipped = false;
  exit.rule = step;
  fillExit(run, position, exit, at);
}

/** Whether the market's price (signed) has passed a level of the position. */
export const isPassed = (run: Run, position: Position, signedPrice: number): boolean =>
  signedPrice <= adverseLevel(run, position) || signedPrice >= position.nextTarget;

/**
 * What the market's price (signed) has already passed, at an open or at an entry fill, fills at it: the stop first,
 * else every target beyond which it lies, and then what is left if a ladder step has moved the stop to where the price
 * has passed it (semantics §2.5).
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
