// Held rows: those in which nothing of an open position is touched, passed at once, with the extremes of their prices.
import { firstOutside, highestOf, lowestOf, type PriceBlocks } from '../bars/priceBlocks.ts';
import { ABOVE, BELOW, BEST, FACTOR, OFFSET, PEAK, state, WORST } from '../kernels/simd/inPlace.ts';
import { adverseLevel } from './margin.ts';
import { tightenStop, type Position } from './position.ts';
import type { Run } from './run.ts';

/** Passes one position through the rows in which nothing is touched, and marks them. @returns the row after them */
export function skipOne(run: Run, position: Position, from: number, limit: number): number {
  const isTrailing = position.best >= position.trailFrom;
  // Prices at which something happens: a target, break-even, or the start of trailing.
  state[ABOVE] = Math.min(position.nextTarget, position.breakevenFrom, isTrailing ? Infinity : position.trailFrom);
  state[BELOW] = adverseLevel(run, position);
  let row = from;
  if (isTrailing) row = trail(run, position, from, limit);
  else if (run.blocks !== null) row = passBlocks(run, run.blocks, position, from, limit);
  else row = pass(run, position, from, limit);
  run.marks.held(from, row, run.ledger);
  return row;
}

/**
 * The same for several positions of one side whose stops do not move: one band of prices in which none of them is
 * touched.
 */
export function skipSeveral(run: Run, from: number, limit: number): number {
  const { positions } = run;
  let above = Infinity;
  let below = -Infinity;
  for (const position of positions) {
    above = Math.min(above, position.nextTarget);
    below = Math.max(below, adverseLevel(run, position));
  }
  state[ABOVE] = above;
  state[BELOW] = below;
  state[BEST] = -Infinity;
  state[WORST] = Infinity;
  const row = passRows(run, positions[0].side, from, limit);
  run.marks.held(from, row, run.ledger);
  for (const position of positions) {
    position.best = Math.max(position.best, state[BEST]);
    position.peak = Math.max(position.peak, state[BEST]);
    position.trough = Math.min(position.trough, state[WORST]);
  }
  return row;
}

/** The rows in which nothing is touched while the stop follows the price. */
export function trail(run: Run, position: Position, from: number, limit: number): number {
  state[BEST] = position.best;
  state[WORST] = position.trough;
  state[PEAK] = position.peak;
  state[FACTOR] = position.trailFactor;
  state[OFFSET] = position.trailOffset;
  const row = trailRows(run, position.side, from, limit);
  position.best = state[BEST];
  position.peak = state[PEAK];
  position.trough = state[WORST];
  tightenStop(position);
  return row;
}

/** The same with a stop that stands. */
function pass(run: Run, position: Position, from: number, limit: number): number {
  // Not `peak`: that may know a high that no child of a walked bar showed to the stops.
  state[BEST] = position.best;
  state[WORST] = position.trough;
  const row = passRows(run, position.side, from, limit);
  position.best = state[BEST];
  if (position.best > position.peak) position.peak = position.best;
  position.trough = state[WORST];
  return row;
}

/** The same, block after block. */
function passBlocks(run: Run, blocks: PriceBlocks, position: Position, from: number, limit: number): number {
  const above = state[ABOVE];
  const below = state[BELOW];
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

/**
 * The first row of [from, limit) that touches a level of the state; what comes before it is in BEST and WORST. The loop
 * is what the kernel computes, for prices that it cannot read.
 */
export function passRows({ bars, kernels }: Run, side: 1 | -1, from: number, limit: number): number {
  const favorable = side > 0 ? bars.high : bars.low;
  const contrary = side > 0 ? bars.low : bars.high;
  if (kernels !== null) {
    const high = favorable.byteOffset + 8 * from;
    const low = contrary.byteOffset + 8 * from;
    return from + kernels.passRows(high, low, limit - from, side > 0 ? 0 : -0);
  }
  const above = state[ABOVE];
  const below = state[BELOW];
  let best = state[BEST];
  let worst = state[WORST];
  let row = from;
  for (; row < limit; row++) {
    const highest = side * favorable[row];
    const lowest = side * contrary[row];
    if (highest >= above || lowest <= below) break;
    if (highest > best) best = highest;
    if (lowest < worst) worst = lowest;
  }
  state[BEST] = best;
  state[WORST] = worst;
  return row;
}

/** The same for a stop that follows BEST, as `trailingLevel` does; PEAK is taken along. */
function trailRows({ bars, kernels }: Run, side: 1 | -1, from: number, limit: number): number {
  const favorable = side > 0 ? bars.high : bars.low;
  const contrary = side > 0 ? bars.low : bars.high;
  if (kernels !== null) {
    const high = favorable.byteOffset + 8 * from;
    const low = contrary.byteOffset + 8 * from;
    return from + kernels.trailRows(high, low, limit - from, side > 0 ? 0 : -0);
  }
  const above = state[ABOVE];
  const below = state[BELOW];
  const factor = state[FACTOR];
  const offset = state[OFFSET];
  let best = state[BEST];
  let peak = state[PEAK];
  let worst = state[WORST];
  let row = from;
  for (; row < limit; row++) {
    const highest = side * favorable[row];
    const lowest = side * contrary[row];
    const reached = highest > best ? highest : best;
    if (highest >= above || lowest <= below || lowest <= reached * factor - offset) break;
    best = reached;
    if (highest > peak) peak = highest;
    if (lowest < worst) worst = lowest;
  }
  state[BEST] = best;
  state[PEAK] = peak;
  state[WORST] = worst;
  return row;
}
