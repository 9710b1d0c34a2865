// Inside a bar: what the levels of one position do between an open and a close, when only four prices are known.
//
// Every price here is signed (side × price): `best` is the high of a long and the negated low of a short.
import type { AmbiguityFallback } from './config.ts';
import { fillAdverse, fillTarget } from './fills.ts';
import { adverseLevel } from './ledger.ts';
import { applyBreakevenDue, moveStops, type Position } from './position.ts';
import type { Run } from './run.ts';

/** Four signed prices of a bar or a child. */
export interface Stretch {
  open: number;
  best: number;
  worst: number;
  close: number;
}

/**
 * Fills what the stretch does to an open position whose levels its open has not passed. Where only one side is touched every policy
 * gives the same fill, so a decided stretch is settled by `pessimistic`.
 */
export function settle(run: Run, position: Position, at: Stretch, policy: AmbiguityFallback): void {
  switch (policy) {
    case 'pessimistic':
      return settlePessimistic(run, position, at);
    case 'optimistic':
      return settleOptimistic(run, position, at);
    case 'bar_direction':
    case 'distance': {
      const isWorstFirst = goesWorstFirst(position.side, at, policy);
      if (isWorstFirst === null) settlePessimistic(run, position, at);
      else followPath(run, position, at.open, isWorstFirst, at);
    }
  }
}

/** Whether the adverse extreme comes first; null: a tie, which pessimistic settles. */
function goesWorstFirst(side: 1 | -1, at: Stretch, policy: 'bar_direction' | 'distance'): boolean | null {
  if (policy === 'bar_direction') {
    // close >= open reads O-L-H-C: the low, a long's worst and a short's best, comes first.
    const isLowFirst = side > 0 ? at.close >= at.open : at.close <= at.open;
    return side > 0 ? isLowFirst : !isLowFirst;
  }
  const toBest = at.best - at.open;
  const toWorst = at.open - at.worst;
  return toBest === toWorst ? null : toWorst < toBest;
}

/** Assumes against the trader: the stop was hit before any target. Moves of the stop act after the stretch. */
export function settlePessimistic(run: Run, position: Position, at: Stretch): void {
  const adverse = adverseLevel(run, position);
  if (at.worst <= adverse) {
    fillAdverse(run, position, adverse);
    return;
  }
  while (position.quantity > 0 && at.best >= position.nextTarget) fillTarget(run, position, position.nextTarget);
}

/** Assumes for the trader: the targets in order of distance, then the stop as they moved it, on what is left. */
function settleOptimistic(run: Run, position: Position, at: Stretch): void {
  while (position.quantity > 0 && at.best >= position.nextTarget) fillTarget(run, position, position.nextTarget);
  if (position.quantity === 0) return;
  applyBreakevenDue(position);
  const adverse = adverseLevel(run, position);
  if (at.worst <= adverse) fillAdverse(run, position, adverse);
}

/** Open, the two extremes in the given order, close; stops move at once along it. */
function followPath(run: Run, position: Position, from: number, isWorstFirst: boolean, at: Stretch): void {
  const first = isWorstFirst ? at.worst : at.best;
  const second = isWorstFirst ? at.best : at.worst;
  walkLeg(run, position, from, first);
  if (position.quantity > 0) walkLeg(run, position, first, second);
  if (position.quantity > 0) walkLeg(run, position, second, at.close);
}

/** One straight leg of a path. */
function walkLeg(run: Run, position: Position, from: number, to: number): void {
  if (to > from) {
    while (position.quantity > 0 && to >= position.nextTarget) {
      moveStops(position, position.nextTarget);
      fillTarget(run, position, position.nextTarget);
      applyBreakevenDue(position);
    }
    if (position.quantity > 0) moveStops(position, to);
    return;
  }
  const adverse = adverseLevel(run, position);
  if (to <= adverse) fillAdverse(run, position, Math.min(from, adverse));
}

/**
 * A limit or stop entry filled inside the stretch at `entry` (signed): before it the stretch belonged to the order, so an extreme may
 * have come too early to touch the position (semantics §3.3).
 */
export function settleAfterEntry(
  run: Run,
  position: Position,
  at: Stretch,
  entry: number,
  type: 'limit' | 'stop',
  policy: AmbiguityFallback,
): void {
  switch (policy) {
    case 'pessimistic':
      return afterEntryPessimistic(run, position, at, type);
    case 'optimistic':
      return afterEntryOptimistic(run, position, at, type);
    case 'bar_direction':
    case 'distance': {
      const isWorstFirst = goesWorstFirst(position.side, at, policy);
      if (isWorstFirst === null) afterEntryPessimistic(run, position, at, type);
      else followPathFromEntry(run, position, at, entry, type, isWorstFirst);
    }
  }
}

/** A touched stop was hit after the fill; a target only if the close is past it, or every way to it crosses the entry and no stop was touched. */
function afterEntryPessimistic(run: Run, position: Position, at: Stretch, type: 'limit' | 'stop'): void {
  const adverse = adverseLevel(run, position);
  if (at.worst <= adverse) {
    fillAdverse(run, position, adverse);
    return;
  }
  const reach = type === 'stop' ? at.best : Math.min(at.best, at.close);
  while (position.quantity > 0 && reach >= position.nextTarget) fillTarget(run, position, position.nextTarget);
}

/** The mirror: a touched target was hit after the fill; a stop only if the close is past it, or every way to it crosses the entry. */
function afterEntryOptimistic(run: Run, position: Position, at: Stretch, type: 'limit' | 'stop'): void {
  const stopBefore = position.stop;
  while (position.quantity > 0 && at.best >= position.nextTarget) fillTarget(run, position, position.nextTarget);
  if (position.quantity === 0) return;
  applyBreakevenDue(position);
  const isStopWhereItWas = position.stop === stopBefore;
  const adverse = adverseLevel(run, position);
  const reach = type === 'limit' && isStopWhereItWas ? at.worst : at.close;
  if (reach <= adverse) fillAdverse(run, position, adverse);
}

function followPathFromEntry(
  run: Run,
  position: Position,
  at: Stretch,
  entry: number,
  type: 'limit' | 'stop',
  isWorstFirst: boolean,
): void {
  const points = isWorstFirst ? [at.worst, at.best, at.close] : [at.best, at.worst, at.close];
  let isFilled = false;
  let from = at.open;
  for (const to of points) {
    if (!isFilled && (type === 'limit' ? to <= entry : to >= entry)) {
      isFilled = true;
      from = entry;
    }
    if (isFilled) {
      walkLeg(run, position, from, to);
      if (position.quantity === 0) return;
    }
    from = to;
  }
}
