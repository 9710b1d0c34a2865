// Held rows: bars in which no level of an open position is touched. They are passed in one loop, which keeps only the
// extremes of their prices.
import { firstOutside, highestOf, lowestOf, type PriceBlocks } from '../bars/priceBlocks.ts';
import { adverseLevel } from './margin.ts';
import { tightenStop, type Position } from './position.ts';
import { ABOVE, BELOW, BEST, FACTOR, OFFSET, PEAK, scanState, WORST } from './rowScan.ts';
import type { Run } from './run.ts';

/** Passes one position through the rows in which nothing is touched, and marks them. @returns the row after them */
export function skipOne(run: Run, position: Position, from: number, limit: number): number {
  const isTrailing = position.best >= position.trailFrom;
  // Prices at which something happens: a target, break-even, or the start of trailing.
  scanState[ABOVE] = Math.min(position.nextTarget, position.breakevenFrom, isTrailing ? Infinity : position.trailFrom);
  scanState[BELOW] = adverseLevel(run, position);
  let row = from;
  if (isTrailing) row = trail(run, position, from, limit);
  else if (run.blocks !== null) row = passBlocks(run, run.blocks, position, from, limit);
  else row = pass(run, position, from, limit);
  run.marks.held(from, row, run.ledger);
  return row;
}

/**
 * Like `skipOne`, for several positions of one side whose stops do not move: no level of any of them is touched while
 * prices stay between two bounds.
 */
export function skipSeveral(run: Run, from: number, limit: number): number {
  const { positions } = run;
  let above = Infinity;
  let below = -Infinity;
  for (const position of positions) {
    above = Math.min(above, position.nextTarget);
    below = Math.max(below, adverseLevel(run, position));
  }
  scanState[ABOVE] = above;
  scanState[BELOW] = below;
  scanState[BEST] = -Infinity;
  scanState[WORST] = Infinity;
  const row = run.scans.passRows(positions[0].side, from, limit);
  run.marks.held(from, row, run.ledger);
  for (const position of positions) {
    position.peak = Math.max(position.peak, scanState[BEST]);
    position.trough = Math.min(position.trough, scanState[WORST]);
  }
  return row;
}

/** Passes rows while a trailing stop follows the price. @returns the first row that touches a level, or `limit` */
export function trail(run: Run, position: Position, from: number, limit: number): number {
  scanState[BEST] = position.best;
  scanState[WORST] = position.trough;
  scanState[PEAK] = position.peak;
  scanState[FACTOR] = position.trailFactor;
  scanState[OFFSET] = position.trailOffset;
  const row = run.scans.trailRows(position.side, from, limit);
  position.best = scanState[BEST];
  position.peak = scanState[PEAK];
  position.trough = scanState[WORST];
  tightenStop(position);
  return row;
}

/** Passes rows with a stop that does not move. @returns the first row that touches a level, or `limit` */
function pass(run: Run, position: Position, from: number, limit: number): number {
  // Start from `best`, not `peak`: `peak` may include the high of a walked bar that no child reached, and stops do not
  // follow such a high.
  scanState[BEST] = position.best;
  scanState[WORST] = position.trough;
  const row = run.scans.passRows(position.side, from, limit);
  position.best = scanState[BEST];
  if (position.best > position.peak) position.peak = position.best;
  position.trough = scanState[WORST];
  return row;
}

/** Like `pass`, by the extremes of whole blocks of rows. */
function passBlocks(run: Run, blocks: PriceBlocks, position: Position, from: number, limit: number): number {
  const above = scanState[ABOVE];
  const below = scanState[BELOW];
  const isLong = position.side > 0;
  const row = isLong
    ? firstOutside(blocks, from, limit, above, below)
    : firstOutside(blocks, from, limit, -below, -above);
  if (!run.reads.extremes) return row;
  if (isLong) {
    position.best = highestOf(blocks, from, row, position.best);
    position.trough = lowestOf(blocks, from, row, position.trough);
  } else {
    position.best = -lowestOf(blocks, from, row, -position.best);
    position.trough = -highestOf(blocks, from, row, -position.trough);
  }
  if (position.best > position.peak) position.peak = position.best;
  return row;
}
