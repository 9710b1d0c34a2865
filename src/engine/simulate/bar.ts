// Plays one bar in order: carry, the orders due at its open, the levels that the open has passed, then its inside. A
// portfolio plays the steps of all its instruments one after the other.
import { playInside, playTouched } from './drill.ts';
import { fillDueExits, fillEntry } from './fills.ts';
import { fillPassed, isPassed } from './levelFills.ts';
import { payCarry } from './payCarry.ts';
import { isTouched } from './inside.ts';
import { recordBar, recordExtremes, type Position } from './position.ts';
import { atGap, atOpen, type Run } from './run.ts';
import { barRange, pricesAt } from './priceRange.ts';
import { passLevelsTogether, passOrders, playInsideTogether, playTogether, recordAll } from './together.ts';

/** The open of a bar: what carrying positions into it costs or earns, then the orders that are due. */
export function playOpen(run: Run, row: number): void {
  if (run.carry !== null) payCarry(run, run.carry, row);
  fillDueOrders(run, row);
}

/** What happens between the orders at the open of `row` and its close. */
export function playInsideBar(run: Run, row: number): void {
  if (run.pendingCount > 0 || run.positions.length > 1) playTogether(run, row);
  else if (run.positions.length === 1) playPosition(run, run.positions[0], row);
}

/** Fills the market orders of the previous close at this open, exits first. */
function fillDueOrders(run: Run, row: number): void {
  const { dueExits, dueEntry } = run;
  if (dueExits.count === 0 && dueEntry === null) return;
  const at = atOpen(run, row);
  fillDueExits(run, at.from, at);
  if (dueEntry === null) return;
  run.dueEntry = null;
  fillEntry(run, dueEntry, at.from, at);
}

/**
 * Plays the levels of one position in a bar without pending orders: those that the open has passed, then those inside.
 */
function playPosition(run: Run, position: Position, row: number): void {
  const { high, low } = run.bars;
  const { side } = position;
  const best = side > 0 ? high[row] : -low[row];
  const worst = side > 0 ? low[row] : -high[row];
  if (!isTouched(run, position, best, worst)) {
    recordExtremes(position, best, worst);
    return;
  }
  const prices = pricesAt(run.bars, row, side);
  if (!isPassed(run, position, prices.open)) {
    playTouched(run, position, row, prices);
    return;
  }
  fillPassed(run, position, prices.open, atGap(run, row));
  if (position.quantity > 0) playInside(run, position, row);
}

/**
 * Fills the levels that the open of `row` has passed. Returns true when no order is pending and the bar touches no
 * level, so that nothing happens in it.
 */
export function passLevels(run: Run, row: number): boolean {
  const { positions, bars } = run;
  if (positions.length !== 1 || run.pendingCount > 0) return passLevelsTogether(run, barRange(run, row));
  const [position] = positions;
  const { side } = position;
  const best = side > 0 ? bars.high[row] : -bars.low[row];
  const worst = side > 0 ? bars.low[row] : -bars.high[row];
  if (!isTouched(run, position, best, worst)) return true;
  const open = side * bars.open[row];
  if (isPassed(run, position, open)) fillPassed(run, position, open, atGap(run, row));
  return false;
}

/** Fills the pending orders that the open of `row` has passed. */
export function passPendingOrders(run: Run, row: number): void {
  if (run.pendingCount > 0) passOrders(run, barRange(run, row));
}

/** @param isQuiet what `passLevels` returned */
export function playAfterOpen(run: Run, row: number, isQuiet: boolean): void {
  if (!isQuiet) playInsideTogether(run, barRange(run, row));
  else if (run.positions.length > 1) recordAll(run.positions, barRange(run, row));
  else recordBar(run.positions[0], run.bars, row);
}
