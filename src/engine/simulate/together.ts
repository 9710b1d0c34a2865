// Several positions and pending orders of one bar, settled together in time order (semantics §3.7, §3.9): child by
// child where the bar is walked, else on the bar.
import { beginWalk, openOf, playInside, surviveBar, undoWalk, type BeforeWalk } from './drill.ts';
import { isDecided, isTouched } from './inside.ts';
import type { Instant } from './instant.ts';
import { fillAdverse, fillPassed, fillTarget, isPassed } from './levelFills.ts';
import { adverseLevel, openingOrder } from './margin.ts';
import { fillPending, reachedOrders, touchOf, type Freed } from './pendingOrders.ts';
import { enterRange, passPrices, recordExtremes, type Position } from './position.ts';
import { barRange, childRange, childRows, pricesAt, pricesOf, type PriceRange } from './priceRange.ts';
import { isContested, liquidateInChild, playRangeTogether } from './rangeTogether.ts';
import { atGap, atOpen, countBar, type Run } from './run.ts';

/** A bar with several positions or with pending orders, after the orders due at its open. */
export function playTogether(run: Run, row: number): void {
  const base = barRange(run, row);
  if (passLevelsTogether(run, base)) {
    recordAll(run.positions, base);
    return;
  }
  passOrders(run, base);
  playInsideTogether(run, base);
}

/**
 * Fills the levels that the open of a bar has passed. Returns true when no order is pending and the bar touches no
 * level, so that nothing happens in it.
 */
export function passLevelsTogether(run: Run, base: PriceRange): boolean {
  const { row } = base;
  if (run.pendingCount === 0 && !run.positions.some((position) => isTouchedIn(run, position, base))) return true;
  for (const position of run.positions) enterRange(position, position.side * base.bars.open[row]);
  fillPassedLevels(run, base, atGap(run, row));
  return false;
}

/** Fills the pending orders that the open of a bar has passed. */
export const passOrders = (run: Run, base: PriceRange): void =>
  fillPassedOrders(run, base, atGap(run, base.row), atOpen(run, base.row));

/** What happens in a bar after its open. */
export function playInsideTogether(run: Run, base: PriceRange): void {
  const { row } = base;
  const orders = reachedOrders(run, base);
  if (orders.length > 0) playReached(run, base);
  else if (run.positions.length === 1) playInside(run, run.positions[0], row);
  else if (run.positions.length > 1) playLevelsTogether(run, base);
}

const isTouchedIn = (run: Run, position: Position, { bars, index }: PriceRange): boolean => {
  const { best, worst } = pricesAt(bars, index, position.side);
  return isTouched(run, position, best, worst);
};

const isDecidedIn = (run: Run, position: Position, range: PriceRange): boolean =>
  isDecided(run, position, pricesOf(range, position.side));

/** Records the extremes of a bar in which nothing happens. */
export function recordAll(positions: readonly Position[], { bars, index }: PriceRange): void {
  for (const position of positions) {
    const { best, worst } = pricesAt(bars, index, position.side);
    recordExtremes(position, best, worst);
  }
}

/** A bar inside which no pending order fills. */
function playLevelsTogether(run: Run, base: PriceRange): void {
  const { positions } = run;
  const touched = positions.filter((position) => isTouchedIn(run, position, base));
  const isUndecided =
    touched.some((position) => !isDecidedIn(run, position, base)) || isContested(run, touched, [], base);
  if (isUndecided) countBar(run.ambiguous.undecided, base.row);
  if (!isUndecided || !walk(run, base, touched)) {
    if (isUndecided && run.children !== null) countBar(run.ambiguous.childrenMissing, base.row);
    playRangeTogether(run, base, positions.slice(), [], { long: 0, short: 0 });
  }
}

/** A bar inside which a pending order fills: everything is walked. */
function playReached(run: Run, base: PriceRange): void {
  countBar(run.ambiguous.undecided, base.row);
  if (walk(run, base, null)) return;
  if (run.children !== null) countBar(run.ambiguous.childrenMissing, base.row);
  playRangeTogether(run, base, run.positions.slice(), reachedOrders(run, base), { long: 0, short: 0 });
}

/** Levels that the open of a price range has passed. */
function fillPassedLevels(run: Run, range: PriceRange, at: Instant): void {
  const open = range.bars.open[range.index];
  for (const position of openingOrder(run, open)) {
    if (position.quantity > 0) fillPassed(run, position, position.side * open, at);
  }
}

/** Pending orders that the open of a price range has passed, in the order of listing. */
function fillPassedOrders(run: Run, range: PriceRange, passed: Instant, ordered: Instant): void {
  if (run.pendingCount === 0) return;
  const open = range.bars.open[range.index];
  for (const order of run.pending) {
    if (order === null || touchOf(run, order, range) !== 'open') continue;
    const position = fillPending(run, order, open, ordered, { long: 0, short: 0 });
    if (position !== null) fillPassed(run, position, position.side * open, passed);
  }
}

/** A position in a walk. */
interface Walked {
  readonly position: Position;
  /** null: the bar is decided for the position, which fills at its own levels. */
  readonly before: BeforeWalk | null;
}

/**
 * Walks all positions through the children of a bar; false when there are none.
 * @param touched the positions that the bar touches; null: pending orders are reached, so that everything is walked
 */
function walk(run: Run, base: PriceRange, touched: readonly Position[] | null): boolean {
  const { children } = run;
  const { first, last } = childRows(run, base.row);
  if (children === null || first === last) return false;
  countBar(run.ambiguous.drilled, base.row);
  const held = run.positions.map((position): Walked => {
    const isFixed = touched !== null && (!touched.includes(position) || isDecidedIn(run, position, base));
    return { position, before: isFixed ? null : beginWalk(position, pricesOf(base, position.side)) };
  });
  const fixed = held.filter(({ before }) => before === null).map(({ position }) => position);
  for (let index = first; index < last; index++) {
    const traded = run.fees.cumulative;
    walkChild(run, base, childRange(run, children, base.row, index), fixed, touched === null);
    if (touched !== null && run.fees.cumulative !== traded && isWalkOver(run, base, fixed)) break;
  }
  settleAfterWalk(run, base, held, touched);
  return true;
}

/** Whether no position has anything left to fill in the bar. */
const isWalkOver = (run: Run, base: PriceRange, fixed: readonly Position[]): boolean =>
  run.positions.every((position) => fixed.includes(position) && !isTouchedIn(run, position, base));

function walkChild(
  run: Run,
  base: PriceRange,
  child: PriceRange,
  fixed: readonly Position[],
  hasOrders: boolean,
): void {
  const { bars, index } = child;
  const open = bars.open[index];
  for (const position of run.positions) {
    const signedOpen = position.side * open;
    if (fixed.includes(position)) passPrices(position, signedOpen, signedOpen);
    else enterRange(position, signedOpen);
  }
  const at = openOf(child);
  for (const position of openingOrder(run, open)) {
    if (position.quantity === 0) continue;
    if (fixed.includes(position)) fillPassedAtLevels(run, position, base, position.side * open, at);
    else fillPassed(run, position, position.side * open, at);
  }
  if (hasOrders) fillPassedOrders(run, child, at, at);
  const orders = hasOrders ? reachedOrders(run, child) : [];
  const { positions } = run;
  if (orders.length > 0 || positions.some((position) => isTouchedIn(run, position, child)))
    playRangeTogether(run, child, positions.slice(), orders, { long: 0, short: 0 }, { base, fixed });
  else recordAll(fixed.length === 0 ? positions : positions.filter((position) => !fixed.includes(position)), child);
  for (const position of fixed) {
    const { best, worst } = pricesAt(bars, index, position.side);
    if (position.quantity > 0) passPrices(position, best, worst);
  }
}

/** A position that the bar decides: what the open of a child (signed) has passed fills at its level, now. */
function fillPassedAtLevels(run: Run, position: Position, base: PriceRange, signedOpen: number, at: Instant): void {
  if (!isPassed(run, position, signedOpen)) return;
  const level: Instant = openOf(base);
  if (signedOpen <= adverseLevel(run, position)) {
    if (run.ledger.liquidation > position.stop) liquidateInChild(run, position, signedOpen, at);
    else fillAdverse(run, position, position.stop, level);
    return;
  }
  while (position.quantity > 0 && signedOpen >= position.nextTarget)
    fillTarget(run, position, position.nextTarget, level);
}

/** Settles on the bar what it touches and no child did. */
function settleAfterWalk(
  run: Run,
  base: PriceRange,
  held: readonly Walked[],
  touched: readonly Position[] | null,
): void {
  const { row } = base;
  const left: Position[] = [];
  const stays: Walked[] = [];
  const open = held.filter(({ position }) => position.quantity > 0);
  let isMissing = false;
  // What a walk has recorded stays, unless the walk is undone.
  for (const position of run.positions) {
    if (!open.some((each) => each.position === position && each.before === null))
      enterRange(position, position.side * position.entryPrice);
  }
  for (const each of open) {
    const { position, before } = each;
    if (before === null ? touched!.includes(position) && isTouchedIn(run, position, base) : undoWalk(before)) {
      left.push(position);
      if (before !== null) enterRange(position, position.side * base.bars.open[row]);
      isMissing ||= before === null || !isDecidedIn(run, position, base);
    } else stays.push(each);
  }
  const closed = held.filter(({ position }) => position.quantity === 0);
  const freed: Freed = {
    long: closed.filter(({ position }) => position.side > 0).length,
    short: closed.filter(({ position }) => position.side < 0).length,
  };
  const orders = touched === null ? reachedOrders(run, base) : [];
  if (isMissing || orders.length > 0) countBar(run.ambiguous.childrenMissing, row);
  if (left.length > 0 || orders.length > 0) playRangeTogether(run, base, left, orders, freed);
  for (const { position, before } of stays) {
    if (position.quantity === 0) continue;
    const prices = pricesOf(base, position.side);
    if (before === null) recordExtremes(position, prices.best, prices.worst);
    else surviveBar(position, prices);
  }
}
