// Drilling: an undecided bar is walked through its children, the finest imported bars inside it, in time order.
import type { Bars } from '../bars/bars.ts';
import { fillPassed } from './levelFills.ts';
import type { Instant } from './instant.ts';
import { isDecided, isTouched, settleByPolicy, settleDecided, settleMoving } from './inside.ts';
import { hasMovingStop, recordExtremes, tightenStop, type Position } from './position.ts';
import { countBar, type Run } from './run.ts';
import { barRange, childRange, childRows, pricesAt, pricesOf, type Prices, type PriceRange } from './priceRange.ts';

/** Plays the inside of a base bar for one position. */
export function playInside(run: Run, position: Position, row: number): void {
  const prices = pricesAt(run.bars, row, position.side);
  if (isTouched(run, position, prices.best, prices.worst)) playTouched(run, position, row, prices);
  else recordExtremes(position, prices.best, prices.worst);
}

/**
 * Plays a base bar that touches a level. A decided bar fills at the level; an undecided one is walked, or left to the
 * policy.
 */
export function playTouched(run: Run, position: Position, row: number, prices: Prices): void {
  if (isDecided(run, position, prices)) {
    settleDecided(run, position, barRange(run, row), prices);
    return;
  }
  countBar(run.ambiguous.undecided, row);
  if (run.children !== null) {
    if (walkAlone(run, run.children, position, row, prices)) return;
    countBar(run.ambiguous.childrenMissing, row);
  }
  settleUndecided(run, position, barRange(run, row), prices);
}

function settleUndecided(run: Run, position: Position, range: PriceRange, prices: Prices): void {
  if (!settleMoving(run, position, range, prices)) settleByPolicy(run, position, range, prices);
}

/**
 * Walks a position through the children of its bar. Returns false, with the position as it was, when they decide
 * nothing.
 */
function walkAlone(run: Run, children: Bars, position: Position, row: number, prices: Prices): boolean {
  const { first, last } = childRows(run, row);
  if (first === last) return false;
  countBar(run.ambiguous.drilled, row);
  const before = beginWalk(position, prices);
  for (let index = first; index < last && position.quantity > 0; index++) {
    const { best, worst } = pricesAt(children, index, position.side);
    if (!isTouched(run, position, best, worst)) {
      recordExtremes(position, best, worst);
      continue;
    }
    const child = childRange(run, children, row, index);
    fillPassed(run, position, position.side * children.open[index], openOf(child));
    if (position.quantity > 0) playLevels(run, position, child);
  }
  if (undoWalk(before)) return false;
  surviveBar(position, prices);
  return true;
}

/** The instant of a fill at the open of a price range, or at a price that the market reaches from it. */
export const openOf = ({ bars, index, row, certain }: PriceRange): Instant => ({
  row,
  isAtClose: false,
  isAtOpen: false,
  from: bars.open[index],
  decision: certain,
});

/** Plays the inside of a child for a position that is walked alone. */
function playLevels(run: Run, position: Position, range: PriceRange): void {
  const prices = pricesOf(range, position.side);
  if (!isTouched(run, position, prices.best, prices.worst)) recordExtremes(position, prices.best, prices.worst);
  else if (isDecided(run, position, prices)) settleDecided(run, position, range, prices);
  else settleUndecided(run, position, range, prices);
}

/** A position before a walk that may decide nothing for it. */
export interface BeforeWalk {
  readonly position: Position;
  readonly quantity: number;
  /** Differs after the walk when a ladder step was done, even one too small to close anything. */
  readonly nextStep: number;
  readonly best: number;
  readonly peak: number;
  readonly trough: number;
  /** With a moving stop, the children replace the bar: a level that they never touch is not hit. */
  readonly isReplaced: boolean;
}

/**
 * Begins a walk. The position was held through the open of the bar, even if its first child is missing.
 * @param prices of the base bar, signed for the position
 */
export function beginWalk(position: Position, prices: Prices): BeforeWalk {
  const { quantity, nextStep, best, peak, trough } = position;
  const isReplaced = hasMovingStop(position, prices.best);
  position.peak = Math.max(peak, prices.open);
  position.trough = Math.min(trough, prices.open);
  return { position, quantity, nextStep, best, peak, trough, isReplaced };
}

/** Undoes a walk that decided nothing, so that the base bar can be settled instead. False when the walk stands. */
export function undoWalk({ position, quantity, nextStep, best, peak, trough, isReplaced }: BeforeWalk): boolean {
  if (isReplaced || position.quantity !== quantity || position.nextStep !== nextStep) return false;
  position.best = best;
  position.peak = peak;
  position.trough = trough;
  tightenStop(position);
  return true;
}

/**
 * What a walk leaves of a position was held through the whole bar: the extremes of the bar count for MFE and MAE, but
 * its stops follow only the prices of the children.
 */
export function surviveBar(position: Position, { best, worst }: Prices): void {
  position.peak = Math.max(position.peak, best);
  position.trough = Math.min(position.trough, worst);
}
