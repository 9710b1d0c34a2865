// A position: what was filled, what is left of it, and the levels that stand around it.
import type { Bars } from '../bars/bars.ts';
import { breakevenExit } from '../definitions/exitReasons/breakevenExit.ts';
import { stopLossExit } from '../definitions/exitReasons/stopLossExit.ts';
import { trailingStopExit } from '../definitions/exitReasons/trailingStopExit.ts';
import type { StateMemory } from '../evaluate/tradingRules.ts';

type StopReason = typeof STOP_LOSS | typeof BREAKEVEN | typeof TRAILING_STOP;
const STOP_LOSS = stopLossExit.reason;
const BREAKEVEN = breakevenExit.reason;
const TRAILING_STOP = trailingStopExit.reason;

/**
 * One entry fill and its own risk levels (semantics §2.2). Everything marked "signed" is side × price, so that a short
 * is a long with the sign of every price flipped: a signed stop is hit from above, a signed target from below, and one
 * set of rules serves both sides. A level that does not exist is -Infinity (stops) or Infinity (targets, activations),
 * so that no comparison needs a test for it.
 */
export interface Position {
  id: number;
  side: 1 | -1;
  /** Index into `entries`. */
  entryRule: number;
  entryRow: number;
  /** The row at whose close the entry was decided. */
  entryDecisionRow: number;
  /** As filled, slippage included. */
  entryPrice: number;
  initialQuantity: number;
  /** |entry fill − initial stop|; NaN without a stop at the entry. */
  initialRisk: number;
  /** What is left; 0 once closed. */
  quantity: number;
  /** The parts of the entry's fee, slippage cost and carry (negative when paid) that belong to what is left. */
  entryFee: number;
  entrySlippage: number;
  carry: number;
  /** Σ pnl of the closing fills so far. */
  realizedPnl: number;

  /** Signed. The stop of the stopLoss rule. */
  stopLoss: number;
  /** Signed. The stop of the breakeven rule or of a ladder step, once set. */
  breakevenStop: number;
  /** Signed. The tightest stop, and the rule that it comes from. */
  stop: number;
  stopReason: StopReason;
  /** Signed. The best price that moved the stops. */
  best: number;
  /** Signed. The best and worst prices held through, for MFE and MAE. */
  peak: number;
  trough: number;
  /**
   * Signed. `peak` and `trough` at the start of the price range being played: its open, or the entry inside it. Not
   * kept for a range in which no fill of another position or order can close this one. See `leaveRange`.
   */
  peakBefore: number;
  troughBefore: number;
  /** Signed. Trailing starts once `best` reaches this; the level is then best × trailFactor − trailOffset. */
  trailFrom: number;
  trailFactor: number;
  trailOffset: number;
  /** Signed. The breakeven rule acts once `best` reaches this; Infinity when there is none or it has acted. */
  breakevenFrom: number;
  /** Signed. */
  breakevenLevel: number;
  /** A ladder step asks for the stop at the entry price; it gets there when the stops move next. */
  isBreakevenDue: boolean;
  /** Signed, one per ladder step; Infinity once it is done. */
  readonly targets: number[];
  /** Signed. The nearest target that is not done, and its step; Infinity and -1 when none. */
  nextTarget: number;
  nextStep: number;
  /** Percent of the initial quantity that the steps done so far close before rounding, whatever their basis. */
  closedPercent: number;

  /** What is left once the orders of this close have filled; 0 when they close it wholly. */
  plannedQuantity: number;
  /** Whether an exit of all that is left waits for the next bar, whatever the exit rules order until then. */
  isLeaving: boolean;
  /** Indices of the exit rules whose partial exit was ordered: each fires once per position. */
  readonly exitsFired: number[];
  /** The memory of stateful exits, and of a stateful stop price; empty and null where there is none. */
  exitMemories: readonly (StateMemory | null)[];
  stopMemory: StateMemory | null;
}

/**
 * A position object before its first use. Closed positions are reused: the 30 new fields were a third of the cost of an
 * entry.
 */
export const blankPosition = (): Position => ({
  id: 0,
  side: 1,
  entryRule: 0,
  entryRow: 0,
  entryDecisionRow: 0,
  entryPrice: NaN,
  initialQuantity: NaN,
  initialRisk: NaN,
  quantity: NaN,
  entryFee: NaN,
  entrySlippage: NaN,
  carry: NaN,
  realizedPnl: NaN,
  stopLoss: NaN,
  breakevenStop: NaN,
  stop: -Infinity,
  stopReason: STOP_LOSS,
  best: NaN,
  peak: NaN,
  trough: NaN,
  peakBefore: NaN,
  troughBefore: NaN,
  trailFrom: NaN,
  trailFactor: NaN,
  trailOffset: NaN,
  breakevenFrom: NaN,
  breakevenLevel: NaN,
  isBreakevenDue: false,
  targets: [],
  nextTarget: Infinity,
  nextStep: -1,
  closedPercent: NaN,
  plannedQuantity: NaN,
  isLeaving: false,
  exitsFired: [],
  exitMemories: [],
  stopMemory: null,
});

/** Notes that an exit of all that is left waits for the next bar. */
export function markLeaving(position: Position): void {
  position.isLeaving = true;
  position.plannedQuantity = 0;
}

/** Copies to `into` everything of `from` that decides its levels and fills. */
export function copyLevels(from: Position, into: Position): void {
  into.side = from.side;
  into.entryPrice = from.entryPrice;
  into.initialQuantity = from.initialQuantity;
  into.quantity = from.quantity;
  into.stopLoss = from.stopLoss;
  into.breakevenStop = from.breakevenStop;
  into.stop = from.stop;
  into.stopReason = from.stopReason;
  into.best = from.best;
  into.trailFrom = from.trailFrom;
  into.trailFactor = from.trailFactor;
  into.trailOffset = from.trailOffset;
  into.breakevenFrom = from.breakevenFrom;
  into.breakevenLevel = from.breakevenLevel;
  into.isBreakevenDue = from.isBreakevenDue;
  const steps = from.targets.length;
  // Setting the length of an array costs more than everything else here.
  if (into.targets.length > steps) into.targets.length = steps;
  for (let step = 0; step < steps; step++) into.targets[step] = from.targets[step];
  into.nextTarget = from.nextTarget;
  into.nextStep = from.nextStep;
  into.closedPercent = from.closedPercent;
}

/** Sets what is known at an entry fill, before the levels are set. */
export function resetPosition(position: Position, id: number, side: 1 | -1, price: number, quantity: number): void {
  position.id = id;
  position.side = side;
  position.entryPrice = price;
  position.initialQuantity = quantity;
  position.quantity = quantity;
  position.plannedQuantity = quantity;
  position.isLeaving = false;
  position.carry = 0;
  position.realizedPnl = 0;
  position.stopLoss = -Infinity;
  position.breakevenStop = -Infinity;
  position.best = side * price;
  position.peak = side * price;
  position.trough = side * price;
  position.trailFrom = Infinity;
  position.trailFactor = 1;
  position.trailOffset = 0;
  position.breakevenFrom = Infinity;
  position.breakevenLevel = -Infinity;
  position.isBreakevenDue = false;
  position.closedPercent = 0;
  if (position.exitsFired.length > 0) position.exitsFired.length = 0;
}

/**
 * The trailing stop after `best` (signed); -Infinity before its activation. `trailRows` in rowScan.ts repeats
 * this in its loop.
 */
const trailingLevel = (position: Position, best: number): number =>
  best >= position.trailFrom ? best * position.trailFactor - position.trailOffset : -Infinity;

/**
 * Sets the stop in force, which is the tightest. Of equal ones, the first of stop_loss, breakeven and trailing_stop is
 * the reason (semantics §3.4).
 */
export function tightenStop(position: Position): void {
  let stop = position.stopLoss;
  let reason: StopReason = STOP_LOSS;
  if (position.breakevenStop > stop) {
    stop = position.breakevenStop;
    reason = BREAKEVEN;
  }
  const trail = trailingLevel(position, position.best);
  if (trail > stop) {
    stop = trail;
    reason = TRAILING_STOP;
  }
  position.stop = stop;
  position.stopReason = reason;
}

/** Moves the stop to the entry price now, if a ladder step has asked for it. */
export function applyBreakevenDue(position: Position): void {
  if (!position.isBreakevenDue) return;
  position.isBreakevenDue = false;
  position.breakevenStop = Math.max(position.breakevenStop, position.side * position.entryPrice);
  tightenStop(position);
}

/** Moves the stops after a best price (signed) has been seen: trailing, break-even and what ladder steps asked for. */
export function moveStops(position: Position, bestSeen: number): void {
  if (bestSeen > position.best) position.best = bestSeen;
  if (position.best >= position.breakevenFrom) {
    position.breakevenFrom = Infinity;
    position.breakevenStop = Math.max(position.breakevenStop, position.breakevenLevel);
  }
  if (position.isBreakevenDue) applyBreakevenDue(position);
  tightenStop(position);
}

/** Updates MFE, MAE and the stops with the extremes of a price range that the position was held through. */
export function recordExtremes(position: Position, best: number, worst: number): void {
  if (best > position.peak) position.peak = best;
  if (worst < position.trough) position.trough = worst;
  moveStops(position, best);
}

/** Updates MFE, MAE and the stops of a position that was held through a bar. */
export function recordBar(position: Position, { high, low }: Pick<Bars, 'high' | 'low'>, row: number): void {
  if (position.side > 0) recordExtremes(position, high[row], low[row]);
  else recordExtremes(position, -low[row], -high[row]);
}

/** What a target leaves of a position was held through its signed price (semantics §4.7). */
export function holdThroughTarget(position: Position, price: number): void {
  position.peak = Math.max(position.peak, price);
  position.peakBefore = Math.max(position.peakBefore, price);
}

/**
 * Notes that a price range begins at a signed price: its open, or the price of the entry that opened the position in
 * it.
 */
export function enterRange(position: Position, price: number): void {
  position.peakBefore = Math.max(position.peak, price);
  position.troughBefore = Math.min(position.trough, price);
}

/** Notes signed prices of a walked bar for a position that is not walked itself: they count if something closes it. */
export function passPrices(position: Position, best: number, worst: number): void {
  position.peakBefore = Math.max(position.peakBefore, best);
  position.troughBefore = Math.min(position.troughBefore, worst);
}

/** The fill of another position or order closes the position inside the range: only what it was held through counts. */
export function leaveRange(position: Position): void {
  position.peak = position.peakBefore;
  position.trough = position.troughBefore;
}

/**
 * True when prices up to `best` (signed) can move a stop of this position: trailing is on or starts, or break-even
 * starts.
 */
export const hasMovingStop = (position: Position, best: number): boolean =>
  Math.max(best, position.best) >= position.trailFrom || best >= position.breakevenFrom;

/** The signed stop as it would stand after `best` (signed). */
export function stopAfter(position: Position, best: number): number {
  const reached = Math.max(best, position.best);
  const breakeven = reached >= position.breakevenFrom ? position.breakevenLevel : -Infinity;
  return Math.max(position.stop, breakeven, trailingLevel(position, reached));
}

/** Finds the nearest target that is not done; of equal ones the first listed. */
export function findNextTarget(position: Position): void {
  const { targets } = position;
  let nearest = Infinity;
  let step = -1;
  for (let i = 0; i < targets.length; i++) {
    if (targets[i] < nearest) {
      nearest = targets[i];
      step = i;
    }
  }
  position.nextTarget = nearest;
  position.nextStep = step;
}
