// Drilling: a bar whose outcome depends on the path is walked through its children, the finest imported bars inside it.
import type { Bars } from '../columns/bars.ts';
import { fillEntry, fillPassedAtOpen } from './fills.ts';
import { settle, settleAfterEntry, settlePessimistic, type Stretch } from './intrabar.ts';
import { adverseLevel } from './ledger.ts';
import { removePending, type EntryOrder } from './orders.ts';
import { absorb, hasMovingStop, stopAfter, tightenStop, type Position } from './position.ts';
import { countBar, decide, type Run } from './run.ts';

const child: Stretch = { open: NaN, best: NaN, worst: NaN, close: NaN };

/** The first row of `bars` at or after `time`. */
function firstRowAt(bars: Bars, time: number): number {
  let low = 0;
  let high = bars.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bars.time[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child rows [first, last) of base row `row`; empty when there are none. */
export function childrenOf(run: Run, row: number): { first: number; last: number } {
  if (run.children === null) return { first: 0, last: 0 };
  const opens = run.bars.time[row];
  return { first: firstRowAt(run.children, opens), last: firstRowAt(run.children, opens + run.barMs) };
}

export function signedStretch(bars: Bars, row: number, side: 1 | -1, into: Stretch): void {
  into.open = side * bars.open[row];
  into.best = side > 0 ? bars.high[row] : -bars.low[row];
  into.worst = side > 0 ? bars.low[row] : -bars.high[row];
  into.close = side * bars.close[row];
}

/**
 * Carries a position through children [first, last), each checked as a bar; stops move from child to child. True when anything filled.
 * The position keeps what it lived through; see `undoWalk` for a walk that decided nothing.
 */
export function walkChildren(run: Run, position: Position, first: number, last: number): boolean {
  const children = run.children!;
  const quantityBefore = position.quantity;
  for (let row = first; row < last && position.quantity > 0; row++) {
    signedStretch(children, row, position.side, child);
    const { best, worst } = child;
    if (worst <= adverseLevel(run, position) || best >= position.nextTarget) settleChild(run, position, row);
    if (position.quantity > 0) absorb(position, best, worst);
  }
  return position.quantity !== quantityBefore;
}

function settleChild(run: Run, position: Position, row: number): void {
  const at = run.children!.time[row];
  run.insideOpen = run.children!.open[row];
  decide(run, 'drill', null, at);
  fillPassedAtOpen(run, position, child.open);
  if (position.quantity === 0) return;
  const isStopTouched = child.worst <= adverseLevel(run, position);
  const isTargetTouched = child.best >= position.nextTarget;
  if (isStopTouched && isTargetTouched) {
    decideByPolicy(run, at);
    settle(run, position, child, run.policy);
  } else {
    settlePessimistic(run, position, child);
  }
}

/** What follows is decided by the fallback: in a child that opens at `fineTime`, or on the base bar. */
export function decideByPolicy(run: Run, fineTime: number | null): void {
  countBar(run.fallback, run.row);
  decide(run, 'fallback', run.policy, fineTime);
}

/** What a walk may have moved although it filled nothing. */
export interface BeforeWalk {
  readonly best: number;
  readonly peak: number;
  readonly trough: number;
}

/** Forgets a walk that decided nothing, so that the base bar can be settled in its place. */
export function undoWalk(position: Position, before: BeforeWalk): void {
  position.best = before.best;
  position.peak = before.peak;
  position.trough = before.trough;
  tightenStop(position);
}

/** Where the price of a waiting order lies in a stretch: not touched, passed by the open, or reached inside. */
export function touchOf(
  order: EntryOrder,
  type: 'limit' | 'stop',
  side: 1 | -1,
  at: Stretch,
): 'none' | 'open' | 'inside' {
  const price = side * order.price;
  // A limit waits for the market to come down to it (signed), a stop for it to rise to it.
  if (type === 'limit') {
    if (at.open <= price) return 'open';
    return at.worst <= price ? 'inside' : 'none';
  }
  if (at.open >= price) return 'open';
  return at.best >= price ? 'inside' : 'none';
}

/**
 * Fills a limit or stop entry in a stretch that it shares with its own position (semantics §3.3): a child that opens at `fineTime`, or
 * the base bar. Where a level of the new position is touched and only a policy can tell whether that was after the fill, it does.
 */
export function enterInside(
  run: Run,
  order: EntryOrder,
  at: Stretch,
  isPassedAtOpen: boolean,
  fineTime: number | null,
): void {
  const rule = run.entries[order.rule];
  const type = rule.order.type as 'limit' | 'stop';
  const entry = isPassedAtOpen ? at.open : rule.side * order.price;
  const position = fillEntry(run, order, rule.side * entry);
  if (position === null) return;
  run.insideOpen = rule.side * entry;
  fillPassedAtOpen(run, position, entry);
  if (position.quantity === 0) return;
  if (isPassedAtOpen) {
    if (isTouched(run, position, at, false)) settleOpened(run, position, at, fineTime);
    if (position.quantity > 0) absorb(position, at.best, at.worst);
    return;
  }
  if (isTouched(run, position, at, fineTime === null)) {
    if (!isCertainAfterEntry(run, position, at, type)) decideByPolicy(run, fineTime);
    settleAfterEntry(run, position, at, entry, type, run.policy);
  }
  if (position.quantity === 0) return;
  // Of the two extremes only the one beyond the entry is surely the position's; of the other, the close is.
  const best = type === 'stop' ? at.best : Math.max(entry, at.close);
  const worst = type === 'limit' ? at.worst : Math.min(entry, at.close);
  absorb(position, best, worst);
}

/** Whether a level is touched; on a bar that is not walked also the stop as it would stand after the bar's best price. */
function isTouched(run: Run, position: Position, at: Stretch, withMoves: boolean): boolean {
  const adverse = adverseLevel(run, position);
  const nearest = withMoves ? Math.max(adverse, stopAfter(position, at.best)) : adverse;
  return at.worst <= nearest || at.best >= position.nextTarget;
}

/** Whether every policy agrees: the touched level lies beyond the entry from where the price came, and nothing else is in play. */
function isCertainAfterEntry(run: Run, position: Position, at: Stretch, type: 'limit' | 'stop'): boolean {
  if (hasMovingStop(position, at.best)) return false;
  if (type === 'limit') return at.best < position.nextTarget;
  const movesStop = run.input.risk.takeProfits.some(({ moveStopToBreakeven }) => moveStopToBreakeven);
  return !movesStop && at.worst > adverseLevel(run, position);
}

function settleOpened(run: Run, position: Position, at: Stretch, fineTime: number | null): void {
  const isBoth = at.worst <= adverseLevel(run, position) && at.best >= position.nextTarget;
  if (!isBoth) return settlePessimistic(run, position, at);
  decideByPolicy(run, fineTime);
  settle(run, position, at, run.policy);
}

/**
 * Walks the children of a bar inside which an order's price is touched: to the child that fills it, and on with its position.
 * False when no child touches what the bar touched.
 */
export function walkEntry(run: Run, order: EntryOrder, canFill: () => boolean): boolean {
  const { first, last } = childrenOf(run, run.row);
  const rule = run.entries[order.rule];
  const type = rule.order.type as 'limit' | 'stop';
  const at: Stretch = { open: NaN, best: NaN, worst: NaN, close: NaN };
  for (let row = first; row < last; row++) {
    signedStretch(run.children!, row, rule.side, at);
    const touch = touchOf(order, type, rule.side, at);
    if (touch === 'none') continue;
    const opened = run.nextPositionId;
    const time = run.children!.time[row];
    removePending(run, order);
    if (!canFill()) return true;
    run.insideOpen = rule.side * at.open;
    decide(run, 'drill', null, time);
    enterInside(run, order, at, touch === 'open', time);
    const position = run.positions.find(({ id }) => id === opened);
    if (position !== undefined) walkChildren(run, position, row + 1, last);
    return true;
  }
  return false;
}
