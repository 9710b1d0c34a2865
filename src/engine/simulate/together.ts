// Several positions and pending orders of one bar, settled together in time order (semantics §3.7, §3.9): child by child
// where the bar is walked, else on the bar.
import { beginWalk, openOf, playInside, surviveBar, undoWalk, type BeforeWalk } from './drill.ts';
import { agreedFills, isDecided, isTouched, RunPlay, type RunPlayer } from './inside.ts';
import type { Instant } from './instant.ts';
import { cutAt, heldExtremes, playRange, type InsideEntry, type Swings } from './intrabar.ts';
import { fillAdverse, fillPassed, fillTarget, isPassed } from './levelFills.ts';
import { adverseLevel, openingOrder } from './margin.ts';
import type { EntryOrder } from './orders.ts';
import { closesSide, fillPending, reachedOrders, touchOf, type Freed } from './pendingOrders.ts';
import { enterRange, hasMovingStop, passPrices, recordExtremes, type Position } from './position.ts';
import { barRange, childRange, childRows, pricesAt, pricesOf, type PriceRange } from './priceRange.ts';
import { atGap, atOpen, countBar, type Run } from './run.ts';

/** A bar with several positions or with pending orders, after the orders due at its open. */
export function playTogether(run: Run, row: number): void {
  const base = barRange(run, row);
  if (run.pendingCount === 0 && !run.positions.some((position) => isTouchedIn(run, position, base))) {
    recordAll(run.positions, base);
    return;
  }
  for (const position of run.positions) enterRange(position, position.side * base.bars.open[row]);
  fillPassedLevels(run, base, atGap(run, row));
  fillPassedOrders(run, base, atGap(run, row), atOpen(run, row));
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

function recordAll(positions: readonly Position[], { bars, index }: PriceRange): void {
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
    const isOver = touched !== null && run.fees.cumulative !== traded && isWalkOver(run, base, fixed);
    if (isOver) break;
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
    if (run.ledger.liquidation > position.stop) fillAdverse(run, position, signedOpen, at);
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

/** The positions of a walked bar that fill at the levels of the bar, in a child. */
interface FixedInChild {
  readonly base: PriceRange;
  readonly fixed: readonly Position[];
}

/** The inside of a price range that is not walked any further, for these positions (oldest first) and orders. */
function playRangeTogether(
  run: Run,
  range: PriceRange,
  positions: readonly Position[],
  orders: readonly EntryOrder[],
  freed: Freed,
  inChild: FixedInChild | null = null,
): void {
  const market = pricesOf(range, 1);
  const play = new PlayTogether(run, range, orders, freed);
  const ofRange = positions.filter((position) => inChild === null || !inChild.fixed.includes(position));
  if (isContested(run, positions, orders, range)) countBar(run.ambiguous.fallback, range.row);
  const swings = swingsOf(run, range, orders);
  for (const position of positions) play.addHeld(position, ofRange.includes(position) ? null : inChild!.base);
  playRange(play, market, run.policy, swings, market.open);
  play.record(ofRange);
}

/** What fills in a price range of several positions and pending orders, for the run. */
class PlayTogether extends RunPlay {
  readonly #freed: Freed;

  constructor(run: Run, range: PriceRange, orders: readonly EntryOrder[], freed: Freed) {
    super(run, range);
    this.#freed = freed;
    this.orders.push(...orders);
  }

  /** @param base the bar at whose levels the position fills, in a child of it; null: those of the range itself */
  addHeld(position: Position, base: PriceRange | null): void {
    const { run, range } = this;
    const { side } = position;
    const prices = pricesOf(range, side);
    if (base !== null) {
      this.add(position, null, prices, true, Infinity);
      const start = base.bars.open[base.index];
      this.players.push({ ...this.players.pop()!, start, certain: base.certain });
      return;
    }
    const closing = this.#closing(side);
    const isTouchedHere = isTouched(run, position, prices.best, prices.worst);
    const isFixed = !isTouchedHere || (closing.length === 0 && isDecided(run, position, prices));
    const part = { market: pricesOf(range, 1), prices, entry: null, closing };
    const agreed = isFixed ? Infinity : agreedFills(run, position, part, range.row);
    this.add(position, null, this.#cut(position, null, closing), isFixed, agreed);
  }

  override fillAdverse(player: RunPlayer, signedPrice: number): void {
    this.#countFreed(() => super.fillAdverse(player, signedPrice));
  }

  override fillTarget(player: RunPlayer, signedPrice: number): void {
    this.#countFreed(() => super.fillTarget(player, signedPrice));
  }

  /** Fills a limit or stop order at its price; its position plays on from there. */
  override reach(order: EntryOrder): boolean {
    const { run, range } = this;
    const { side, order: orderRule } = run.entries[order.rule];
    const at = openOf(range);
    const position = fillPending(run, order, order.price, at, this.#freed);
    if (position === null) return true;
    const price = side * order.price;
    this.#countFreed(() => fillPassed(run, position, price, { ...at, from: order.price }));
    if (position.quantity === 0) return true;
    const entry: InsideEntry = { price, type: orderRule.type as InsideEntry['type'] };
    const closing = this.#closing(side);
    const prices = pricesOf(range, side);
    const isFixed = !isTouched(run, position, prices.best, prices.worst) && !hasMovingStop(position, prices.best);
    const part = { market: pricesOf(range, 1), prices, entry, closing };
    const agreed = isFixed ? Infinity : agreedFills(run, position, part, range.row);
    this.add(position, entry, this.#cut(position, entry, closing), isFixed, agreed);
    return true;
  }

  /** Records what the range leaves open: of `held`, and of the positions opened in it. */
  record(held: readonly Position[]): void {
    const { run, range } = this;
    for (const { position, entry } of this.players) {
      if (position.quantity === 0 || (entry === null && !held.includes(position))) continue;
      const [best, worst] = heldExtremes(position.side, pricesOf(range, position.side), entry, run.policy);
      recordExtremes(position, best, worst);
    }
  }

  #closing(side: 1 | -1): EntryOrder[] {
    return this.orders.filter((order) => closesSide(this.run, order, side));
  }

  #cut({ side }: Position, entry: InsideEntry | null, closing: readonly EntryOrder[]) {
    const prices = pricesOf(this.range, side);
    if (closing.length === 0) return prices;
    return cutAt(
      prices,
      entry === null ? prices.open : entry.price,
      closing.map(({ price }) => side * price),
    );
  }

  /** What is closed inside a price range keeps its slot and its side taken until the end of the range. */
  #countFreed(fill: () => void): void {
    const { positions } = this.run;
    const before = positions.length;
    const isLong = before > 0 && positions[0].side > 0;
    fill();
    const closed = before - positions.length;
    if (isLong) this.#freed.long += closed;
    else this.#freed.short += closed;
  }
}

/** Where the swings of a policy without a path begin (semantics §3.7). */
function swingsOf(run: Run, range: PriceRange, orders: readonly EntryOrder[]): Swings {
  const { bars, index } = range;
  const open = bars.open[index];
  const nearest = orders.reduce<EntryOrder | null>(
    (near, order) => (near === null || Math.abs(order.price - open) < Math.abs(near.price - open) ? order : near),
    null,
  );
  if (run.positions.length === 0) return { isUp: nearest !== null && nearest.price > open, turn: null };
  const { side } = run.positions[0];
  const isUp = (run.policy === 'optimistic') === side > 0;
  const onTheWay = orders.filter((order) => order.price > open === isUp && closesSide(run, order, side));
  if (onTheWay.length === 0) return { isUp, turn: null };
  const prices = onTheWay.map(({ price }) => price);
  return { isUp, turn: isUp ? Math.min(...prices) : Math.max(...prices) };
}

/**
 * Whether the order of fills depends on the policy: levels of two positions, two orders, or a level and an order that does
 * not close its position, lie on both sides of the open.
 */
function isContested(
  run: Run,
  positions: readonly Position[],
  orders: readonly EntryOrder[],
  range: PriceRange,
): boolean {
  const open = range.bars.open[range.index];
  const above: (Position | EntryOrder)[] = orders.filter(({ price }) => price > open);
  const below: (Position | EntryOrder)[] = orders.filter(({ price }) => price < open);
  for (const position of positions) {
    const { side } = position;
    const { best, worst } = pricesOf(range, side);
    const [up, down] = side > 0 ? [above, below] : [below, above];
    if (best >= position.nextTarget) up.push(position);
    if (worst <= adverseLevel(run, position)) down.push(position);
  }
  return above.some((a) => below.some((b) => a !== b && !isSettledAlone(run, a, b)));
}

/** Whether one closes the other: what the policies make of that is compared for the position. */
function isSettledAlone(run: Run, a: Position | EntryOrder, b: Position | EntryOrder): boolean {
  if ('quantity' in a) return 'rule' in b && closesSide(run, b, a.side);
  return 'quantity' in b && closesSide(run, a, b.side);
}
