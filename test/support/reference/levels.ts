// The levels of one position (semantics §2.4, §3.4). Prices here are mirrored for a short (times −1), so that every
// rule reads as for a long.
import type { ExitReason } from '../../../src/engine/definitions/exitReasons/exitReasons.ts';

export type Side = 1 | -1;

/** A bar or child as a long sees it: for a short every price is negated and high and low change places. */
export interface PriceRange {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

export interface Target {
  /** Infinity: an R target without a known R, which never fills. */
  readonly price: number;
  readonly closePercent: number;
  readonly closeBasis: 'initial' | 'remaining';
  readonly moveStopToBreakeven: boolean;
  /** Its place in the ladder as written. */
  readonly step: number;
  isDone: boolean;
}

export interface Levels {
  readonly side: Side;
  /** The entry fill, slippage included. */
  readonly entry: number;
  readonly initialQuantity: number;
  quantity: number;
  /** -Infinity: none, or not known yet. */
  stopLoss: number;
  readonly targets: Target[];
  /**
   * Percent of the initial quantity that the ladder's steps so far amount to, apart from rounding and other exits
   * (semantics §2.8).
   */
  ladderPercent: number;
  /** Trailing is on once `best` reaches this; Infinity without a trailing stop. */
  readonly trailFrom: number;
  readonly trailLevel: (best: number) => number;
  /** Break-even comes on once `best` reaches this. */
  readonly breakevenFrom: number;
  readonly breakevenLevel: number;
  /** The stop that break-even or a ladder step has set. */
  breakevenStop: number;
  /** A ladder step has filled that moves the stop; the move has not acted yet. */
  isLadderMoveDue: boolean;
  best: number;
  /** The extreme prices held through. */
  highest: number;
  lowest: number;
}

export const copyLevels = <T extends Levels>(levels: T): T => ({
  ...levels,
  targets: levels.targets.map((target) => ({ ...target })),
});

export interface Stop {
  readonly price: number;
  readonly reason: Extract<ExitReason, 'stop_loss' | 'breakeven' | 'trailing_stop' | 'liquidation'>;
}

/** The stop in force: the tightest; of equal ones the first named. */
export function stopInForce(levels: Levels): Stop {
  const stops: Stop[] = [
    { price: levels.stopLoss, reason: 'stop_loss' },
    { price: levels.breakevenStop, reason: 'breakeven' },
    { price: trailing(levels, levels.best), reason: 'trailing_stop' },
  ];
  return stops.reduce((tightest, stop) => (stop.price > tightest.price ? stop : tightest));
}

const trailing = ({ trailFrom, trailLevel }: Levels, best: number): number =>
  best >= trailFrom ? trailLevel(best) : -Infinity;

/** The stop, or the liquidation price (mirrored too) where that is nearer; a stop at the same price comes first. */
export function adverseLevel(levels: Levels, liquidation: number): Stop {
  const stop = stopInForce(levels);
  return liquidation > stop.price ? { price: liquidation, reason: 'liquidation' } : stop;
}

/** Targets that have not filled, nearest first, equal ones as written. */
export const openTargets = ({ targets }: Levels): Target[] =>
  targets.filter(({ isDone, price }) => !isDone && price < Infinity).toSorted((a, b) => a.price - b.price);

/** The stops after a price of `seen`: trailing, break-even, and what a ladder step has asked for. */
export function moveStops(levels: Levels, seen: number): void {
  levels.best = Math.max(levels.best, seen);
  if (levels.best >= levels.breakevenFrom) levels.breakevenStop = Math.max(levels.breakevenStop, levels.breakevenLevel);
  applyLadderMove(levels);
}

export function applyLadderMove(levels: Levels): void {
  if (levels.isLadderMoveDue) levels.breakevenStop = Math.max(levels.breakevenStop, levels.entry);
  levels.isLadderMoveDue = false;
}

/** Holds the position through a price range: its extremes count, and its best price moves the stops. */
export function holdThrough(levels: Levels, high: number, low: number): void {
  levels.highest = Math.max(levels.highest, high);
  levels.lowest = Math.min(levels.lowest, low);
  moveStops(levels, high);
}

/** Whether trailing is on or comes on, or break-even comes on, at prices up to `high` (semantics §3.1). */
export const hasMovingStop = (levels: Levels, high: number): boolean =>
  Math.max(levels.best, high) >= levels.trailFrom ||
  (levels.best < levels.breakevenFrom && high >= levels.breakevenFrom);

/** Semantics §3.1: whether the two paths through the price range, from its open on, may give different outcomes. */
export function isUndecided(levels: Levels, { high, low }: PriceRange, liquidation: number, qtyStep: number): boolean {
  const after = copyLevels(levels);
  let isTargetTouched = false;
  let isStoppedAtOnce = false;
  for (const { price, step, moveStopToBreakeven } of openTargets(levels)) {
    if (price > high || after.quantity === 0) break;
    const quantity = takeTarget(after, step, qtyStep);
    after.quantity -= quantity;
    // A step that rounds to nothing and moves nothing changes nothing.
    if (quantity > 0 || moveStopToBreakeven) isTargetTouched = true;
    // A path fills the moved stop where the market has already passed it, before any later step.
    if (moveStopToBreakeven && price <= levels.entry && after.quantity > 0) isStoppedAtOnce = true;
  }
  if (hasMovingStop(levels, high)) {
    moveStops(after, high);
    return isTargetTouched || low <= adverseLevel(after, liquidation).price;
  }
  if (!isTargetTouched) return false;
  if (low <= adverseLevel(levels, liquidation).price) return true;
  return isStoppedAtOnce || (after.isLadderMoveDue && after.quantity > 0 && low <= levels.entry);
}

/** Marks a step of the ladder as done and says how much it closes. The caller takes it off the quantity. */
export function takeTarget(levels: Levels, step: number, qtyStep: number): number {
  const target = levels.targets[step];
  target.isDone = true;
  const basis = target.closeBasis === 'initial' ? levels.initialQuantity : levels.quantity;
  const wanted = (basis * target.closePercent) / 100;
  const wholePercent = target.closeBasis === 'initial' ? 100 : 100 - levels.ladderPercent;
  levels.ladderPercent += (wholePercent * target.closePercent) / 100;
  if (target.moveStopToBreakeven) levels.isLadderMoveDue = true;
  return levels.ladderPercent >= 100 - 1e-9 ? levels.quantity : partialQuantity(levels.quantity, wanted, qtyStep);
}

/** Whole steps, with the tolerance of semantics §4.2. */
export function floorToStep(quantity: number, qtyStep: number): number {
  if (qtyStep === 0) return quantity;
  const steps = quantity / qtyStep;
  return Math.floor(steps + toleranceOf(steps)) * qtyStep;
}

const toleranceOf = (steps: number): number => Math.max(1e-9, 1e-12 * steps);

/**
 * What an exit closes that wants `wanted` of what is left: rounded down, 0 if that is nothing, and no remainder below
 * one step (semantics §2.8).
 */
export function partialQuantity(left: number, wanted: number, qtyStep: number): number {
  if (wanted >= left * (1 - 1e-12)) return left;
  const quantity = floorToStep(wanted, qtyStep);
  if (quantity <= 0) return 0;
  return (left - quantity) / qtyStep < 1 - toleranceOf(left / qtyStep) ? left : quantity;
}
