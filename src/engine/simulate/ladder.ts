// The ladder: what a take-profit step closes, and whether something is left after the steps that a price reaches.
import type { TakeProfitRule } from '../evaluate/tradingRules.ts';
import { findNextTarget, type Position } from './position.ts';
import { partialQuantity } from './sizing.ts';

interface Progress {
  readonly initialQuantity: number;
  quantity: number;
  closedPercent: number;
}

/** Counts a step as done, and says how much of what is left it closes (semantics §2.8). */
function stepQuantity(position: Progress, { closeBasis, closePercent }: TakeProfitRule, qtyStep: number): number {
  const { quantity, initialQuantity } = position;
  const isOfInitial = closeBasis === 'initial';
  position.closedPercent += isOfInitial ? closePercent : (closePercent * (100 - position.closedPercent)) / 100;
  // Steps that were rounded down leave more than their percents say: the last one closes that too.
  if (position.closedPercent >= 100 - 1e-9) return quantity;
  return partialQuantity(quantity, ((isOfInitial ? initialQuantity : quantity) * closePercent) / 100, qtyStep);
}

/**
 * Marks the nearest target as done. If it moves the stop and something is left, that move is due. Returns the quantity
 * to close, which is 0 when the step is too small.
 */
export function takeStep(position: Position, steps: readonly TakeProfitRule[], qtyStep: number): number {
  const rule = steps[position.nextStep];
  position.targets[position.nextStep] = Infinity;
  findNextTarget(position);
  const quantity = stepQuantity(position, rule, qtyStep);
  if (rule.moveStopToBreakeven && quantity < position.quantity) position.isBreakevenDue = true;
  return quantity;
}

/**
 * What the steps up to `best` (signed) would do: whether any of them closes something, and whether one of them moves
 * the stop of a remainder that the market can still stop out.
 */
export function reachedSteps(
  position: Position,
  best: number,
  steps: readonly TakeProfitRule[],
  qtyStep: number,
): { closesSome: boolean; movesStop: boolean } {
  const { initialQuantity, quantity, closedPercent, targets } = position;
  const progress: Progress = { initialQuantity, quantity, closedPercent };
  const reached = targets.map((target, step) => ({ target, step })).filter(({ target }) => target <= best);
  reached.sort((a, b) => a.target - b.target || a.step - b.step);
  let movesStop = false;
  for (const { step, target } of reached) {
    const closing = stepQuantity(progress, steps[step], qtyStep);
    progress.quantity = closing < progress.quantity ? progress.quantity - closing : 0;
    if (progress.quantity === 0) return { closesSome: true, movesStop: false };
    if (!steps[step].moveStopToBreakeven) continue;
    movesStop = true;
    // Slippage has put the entry price beyond this target. The market is already past the moved stop, so the rest is
    // stopped before the next step.
    if (target <= position.side * position.entryPrice) break;
  }
  return { closesSome: progress.quantity < quantity, movesStop };
}
