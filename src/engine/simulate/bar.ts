// A bar, in its order: funding, the orders due at its open, the levels of what is held, then limit and stop entries.
import {
  decideByPolicy,
  childrenOf,
  enterInside,
  signedStretch,
  touchOf,
  undoWalk,
  walkChildren,
  walkEntry,
} from './drill.ts';
import { fillDueExits, fillEntry, fillPassedAtOpen } from './fills.ts';
import { settle, settlePessimistic, type Stretch } from './intrabar.ts';
import { adverseLevel, payFunding } from './ledger.ts';
import { logEntry, removePending, type EntryOrder } from './orders.ts';
import { absorb, hasMovingStop, stopAfter, type Position } from './position.ts';
import { countBar, decide, enterBar, type Run } from './run.ts';
import { closeOpposite } from './signals.ts';

const bar: Stretch = { open: NaN, best: NaN, worst: NaN, close: NaN };

/** Everything that happens on `row` before its close is read. */
export function playBar(run: Run, row: number): void {
  enterBar(run, row);
  if (run.input.config.fundingRate !== 0) payFunding(run, row);
  fillDueOrders(run, row);
  if (run.positions.length > 0) checkLevels(run, row);
  if (run.pendingCount > 0) fillPending(run, row);
}

/** Market orders of the close before, at this open: exits first. */
function fillDueOrders(run: Run, row: number): void {
  const open = run.bars.open[row];
  fillDueExits(run, open);
  const order = run.dueEntry;
  if (order === null) return;
  run.dueEntry = null;
  fillEntry(run, order, open);
}

/** Liquidation, stops and targets of every position, each for itself, oldest first. */
function checkLevels(run: Run, row: number): void {
  if (run.positions.length === 1) {
    checkPosition(run, run.positions[0], row);
    return;
  }
  const positions = [...run.positions];
  // In a bar that reaches the liquidation price the nearer stops fill first: what they give up moves that price.
  signedStretch(run.bars, row, positions[0].side, bar);
  if (bar.worst <= run.ledger.liquidation) positions.sort((a, b) => b.stop - a.stop || a.id - b.id);
  for (const position of positions) {
    if (position.quantity > 0) checkPosition(run, position, row);
  }
}

function checkPosition(run: Run, position: Position, row: number): void {
  signedStretch(run.bars, row, position.side, bar);
  const { best, worst } = bar;
  const adverse = Math.max(adverseLevel(run, position), stopAfter(position, best));
  if (worst > adverse && best < position.nextTarget) {
    absorb(position, best, worst);
    return;
  }
  run.insideOpen = run.bars.open[row];
  decide(run, 'gap');
  fillPassedAtOpen(run, position, bar.open);
  if (position.quantity === 0) return;
  if (isDecided(run, position, bar)) {
    decide(run, 'direct');
    settlePessimistic(run, position, bar);
    if (position.quantity > 0) absorb(position, best, worst);
  } else {
    settleUndecided(run, position, row);
  }
}

/**
 * Whether every path through the bar gives the same outcome (semantics §3.1): no stop moves in it, and not both sides are touched, nor
 * a target that would move the stop to where the bar has also been.
 */
function isDecided(run: Run, position: Position, at: Stretch): boolean {
  const isTargetTouched = at.best >= position.nextTarget;
  if (hasMovingStop(position, at.best)) {
    const adverse = Math.max(adverseLevel(run, position), stopAfter(position, at.best));
    return !isTargetTouched && at.worst > adverse;
  }
  if (!isTargetTouched) return true;
  if (at.worst <= adverseLevel(run, position)) return false;
  return !touchesMovedStop(run, position, at);
}

/** Whether a ladder step reached here moves the stop to an entry price the bar also touches, with something left to lose. */
function touchesMovedStop(run: Run, position: Position, at: Stretch): boolean {
  const { takeProfits } = run.input.risk;
  if (at.worst > position.side * position.entryPrice) return false;
  let percent = position.closedPercent;
  const steps = position.targets.map((target, step) => ({ target, step })).filter(({ target }) => target <= at.best);
  steps.sort((a, b) => a.target - b.target || a.step - b.step);
  for (const { step } of steps) {
    const { closeBasis, closePercent, moveStopToBreakeven } = takeProfits[step];
    percent += closeBasis === 'initial' ? closePercent : 0;
    if (percent >= 100 - 1e-9 || (closeBasis === 'remaining' && closePercent >= 100)) return false;
    if (moveStopToBreakeven) return true;
  }
  return false;
}

/** Walks the children; where they are absent or decide nothing, the policy. */
function settleUndecided(run: Run, position: Position, row: number): void {
  countBar(run.undecided, row);
  const { best, worst } = bar;
  const isMoving = hasMovingStop(position, best);
  const { first, last } = childrenOf(run, row);
  if (last > first) {
    countBar(run.drilled, row);
    const before = { best: position.best, peak: position.peak, trough: position.trough };
    const hasFilled = walkChildren(run, position, first, last);
    // With a stop that moves the children stand for the bar: a level they never touch is not hit.
    if (hasFilled || isMoving) return;
    undoWalk(position, before);
  }
  if (run.children !== null) countBar(run.childrenMissing, row);
  run.insideOpen = run.bars.open[row];
  decideByPolicy(run, null);
  signedStretch(run.bars, row, position.side, bar);
  settle(run, position, bar, run.policy);
  if (position.quantity > 0) absorb(position, best, worst);
}

/** Limit and stop entries that the bar reaches, in the order of their rules. */
function fillPending(run: Run, row: number): void {
  for (const order of run.pending) {
    if (order === null || order.signalRow >= row) continue;
    const { side, order: orderRule } = run.entries[order.rule];
    const type = orderRule.type as 'limit' | 'stop';
    signedStretch(run.bars, row, side, bar);
    const touch = touchOf(order, type, side, bar);
    if (touch === 'none') continue;
    if (touch === 'open') fillPendingAtOpen(run, order, row);
    else fillPendingInside(run, order, row);
  }
}

/** The open is past the price already: the bar belongs to the position from its open on, as with a market order. */
function fillPendingAtOpen(run: Run, order: EntryOrder, row: number): void {
  removePending(run, order);
  enterBar(run, row);
  if (!makeRoom(run, order, run.bars.open[row])) return;
  const position = fillEntry(run, order, run.bars.open[row]);
  if (position !== null) checkPosition(run, position, row);
}

function fillPendingInside(run: Run, order: EntryOrder, row: number): void {
  enterBar(run, row);
  countBar(run.undecided, row);
  const { first, last } = childrenOf(run, row);
  if (last > first) {
    countBar(run.drilled, row);
    if (walkEntry(run, order, () => makeRoom(run, order, order.price))) return;
  }
  if (run.children !== null) countBar(run.childrenMissing, row);
  removePending(run, order);
  enterBar(run, row);
  if (!makeRoom(run, order, order.price)) return;
  signedStretch(run.bars, row, run.entries[order.rule].side, bar);
  enterInside(run, order, bar, false, null);
}

/**
 * Conflict and slots, judged again at the fill of a limit or stop order (semantics §2.2, §2.6): closes opposite positions where the rule
 * says so, and is false when the order may not open.
 */
function makeRoom(run: Run, order: EntryOrder, price: number): boolean {
  const { side, conflict } = run.entries[order.rule];
  const { positions, counts } = run;
  const isOpposed = positions.length > 0 && positions[0].side !== side;
  let blocked: 'in position' | 'max positions' | 'conflict' | null = null;
  if (run.isOver) blocked = 'max positions';
  else if (isOpposed && conflict === 'ignore') blocked = 'in position';
  else if (isOpposed) {
    closeOpposite(run, price);
    if (conflict === 'close') blocked = 'conflict';
  } else if (positions.length >= run.input.maxConcurrentPositions) {
    blocked = run.input.maxConcurrentPositions === 1 ? 'in position' : 'max positions';
  }
  if (blocked === null) return true;
  if (blocked === 'in position') counts.blockedInPosition++;
  if (blocked === 'max positions') counts.blockedMaxPositions++;
  logEntry(run, order, { status: 'cancelled', reason: blocked });
  return false;
}
