// The inside of one bar or child for one position, by each of the four policies (semantics §3.3, §3.8). Nothing here
// knows money.
import type { AmbiguityFallback } from '../../../src/engine/config.ts';
import {
  adverseLevel,
  applyLadderMove,
  copyLevels,
  holdThrough,
  moveStops,
  openTargets,
  takeTarget,
  type Levels,
  type Stop,
  type PriceRange,
} from './levels.ts';

/** A fill that a level asks for; prices are mirrored for a short and before slippage. */
export type LevelFill =
  | { readonly reason: Stop['reason']; readonly price: number; readonly quantity: number; readonly step: null }
  | { readonly reason: 'take_profit'; readonly price: number; readonly quantity: number; readonly step: number };

/** A limit or stop entry that filled inside the price range at its price. */
export interface EntryInside {
  readonly type: 'limit' | 'stop';
  readonly price: number;
}

/** What happened, and the levels afterwards. */
export interface Outcome<T extends Levels> {
  readonly fills: readonly LevelFill[];
  readonly after: T;
}

export interface Conditions {
  /** The liquidation price once these fills have been made, mirrored; -Infinity when there is none. */
  readonly liquidationAfter: (fills: readonly LevelFill[]) => number;
  readonly qtyStep: number;
}

/** Plays levels without executing anything: the fills are noted, and the quantity is taken off a copy. */
class Play<T extends Levels> {
  readonly levels: T;
  readonly fills: LevelFill[] = [];
  readonly #conditions: Conditions;

  constructor(levels: T, conditions: Conditions) {
    this.levels = copyLevels(levels);
    this.#conditions = conditions;
  }

  get isOpen(): boolean {
    return this.levels.quantity > 0;
  }

  get adverse(): Stop {
    return adverseLevel(this.levels, this.#conditions.liquidationAfter(this.fills));
  }

  /**
   * The stop fills at its level, or at the price from which the market comes to it where that is worse
   * (semantics §2.5).
   */
  stopOut(from: number): void {
    const { price, reason } = this.adverse;
    this.fills.push({ reason, price: Math.min(from, price), quantity: this.levels.quantity, step: null });
    this.levels.quantity = 0;
  }

  /**
   * The nearest target up to `high` fills, at its level or at a better `market`; its price, or null when there is none.
   */
  takeNext(high: number, market = -Infinity): number | null {
    const target = openTargets(this.levels).find(({ price }) => price <= high);
    if (target === undefined || !this.isOpen) return null;
    const price = Math.max(target.price, market);
    const quantity = takeTarget(this.levels, target.step, this.#conditions.qtyStep);
    this.levels.quantity -= quantity;
    if (quantity > 0) this.fills.push({ reason: 'take_profit', price, quantity, step: target.step });
    return target.price;
  }

  /** Every target up to `high`, nearest first; the price of the last, -Infinity without any. */
  takeAll(high: number): number {
    let last = -Infinity;
    for (let price = this.takeNext(high); price !== null; price = this.takeNext(high)) last = price;
    return last;
  }

  outcome(): Outcome<T> {
    return { fills: this.fills, after: this.levels };
  }
}

/**
 * Levels that a price has already passed fill at it: the stop first, else every target, whose ladder moves act at once
 * (semantics §2.5).
 */
export function fillPassed<T extends Levels>(levels: T, price: number, conditions: Conditions): Outcome<T> {
  const play = new Play(levels, conditions);
  if (price <= play.adverse.price) play.stopOut(price);
  while (play.takeNext(price, price) !== null);
  applyLadderMove(play.levels);
  if (play.isOpen && price <= play.adverse.price) play.stopOut(price);
  return play.outcome();
}

/** Which part of a price range is the position's. */
export interface Part {
  /** The order that opened it inside the price range; null: it is held from the open on. */
  readonly entry: EntryInside | null;
  /** The price of the order that closes or reverses it inside the price range; null: nothing does. */
  readonly until: number | null;
}

/** Settles a price range whose open (or whose entry) has been dealt with, for one position. */
export function settleInside<T extends Levels>(
  levels: T,
  at: PriceRange,
  policy: AmbiguityFallback,
  conditions: Conditions,
  { entry, until }: Part,
): Outcome<T> {
  const play = new Play(levels, conditions);
  const path = pathOf(at, policy, levels.side);
  const own = until === null ? at : cutAt(at, until);
  if (path !== null) followPath(play, until === null ? path : pathUntil(path, until), entry);
  else if (policy === 'optimistic') settleOptimistic(play, own, entry);
  else settlePessimistic(play, own, entry);
  return play.outcome();
}

/** Without a path: the extreme on that price's side of the open counts only up to it (semantics §3.7). */
const cutAt = ({ open, high, low }: PriceRange, price: number): PriceRange => ({
  open,
  high: price > open ? Math.min(high, price) : high,
  low: price < open ? Math.max(low, price) : low,
  close: price,
});

function pathUntil(path: readonly number[], price: number): number[] {
  const leg = path.findIndex((to, at) => at > 0 && (price - path[at - 1]) * (price - to) <= 0);
  return [...path.slice(0, leg), price];
}

/** The points of the path that a policy assumes; null where it assumes none. */
export function pathOf(at: PriceRange, policy: AmbiguityFallback, side: 1 | -1): readonly number[] | null {
  const { open, high, low, close } = at;
  if (policy === 'pessimistic' || policy === 'optimistic') return null;
  const lowFirst = [open, low, high, close];
  const highFirst = [open, high, low, close];
  if (policy === 'distance') return high - open === open - low ? null : high - open < open - low ? highFirst : lowFirst;
  // The direction is that of the bar as it is, not as a short sees it.
  return (side === 1 ? close >= open : close > open) ? lowFirst : highFirst;
}

/**
 * Semantics §3.3: three straight legs. An entry inside joins the path where it first reaches the price
 * (semantics §3.8).
 */
function followPath(play: Play<Levels>, path: readonly number[], entry: EntryInside | null): void {
  let from = path[0];
  let isHeld = entry === null;
  if (isHeld) arrive(play, from);
  for (const [leg, to] of path.slice(1).entries()) {
    if (!isHeld && (entry!.type === 'limit' ? to <= entry!.price : to >= entry!.price)) {
      isHeld = true;
      from = entry!.price;
      arrive(play, from);
    }
    if (isHeld && play.isOpen) followLeg(play, from, to);
    const isEnd = leg === path.length - 2;
    if (isHeld && play.isOpen && isEnd) holdThrough(play.levels, to, to);
    else if (isHeld && play.isOpen) arrive(play, to);
    from = to;
  }
}

/** The stops move as of a point of the path; one that is then above the market fills there (semantics §2.5). */
function arrive(play: Play<Levels>, price: number): void {
  holdThrough(play.levels, price, price);
  if (price <= play.adverse.price) play.stopOut(price);
}

function followLeg(play: Play<Levels>, from: number, to: number): void {
  if (to <= from) {
    if (to <= play.adverse.price) play.stopOut(from);
    return;
  }
  const nextTarget = (): number => openTargets(play.levels)[0]?.price ?? Infinity;
  for (let price = nextTarget(); play.isOpen && price <= to; price = nextTarget()) {
    moveStops(play.levels, price);
    play.takeNext(price);
    if (play.isOpen) arrive(play, price);
  }
}

/** Assumes the stop was hit before any target. */
function settlePessimistic(play: Play<Levels>, at: PriceRange, entry: EntryInside | null): void {
  if (at.low <= play.adverse.price) {
    play.stopOut(entry?.price ?? at.open);
    return;
  }
  // After a limit entry only the close proves that a target was reached later.
  play.takeAll(entry?.type === 'limit' ? at.close : at.high);
  if (play.isOpen) holdFrom(play.levels, at, entry);
}

/** Assumes the targets were hit before the stop. */
function settleOptimistic(play: Play<Levels>, at: PriceRange, entry: EntryInside | null): void {
  const stopBefore = play.adverse.price;
  const last = play.takeAll(at.high);
  if (!play.isOpen) return;
  applyLadderMove(play.levels);
  const isCertain = entry === null || (entry.type === 'limit' && play.adverse.price === stopBefore);
  if ((isCertain ? at.low : at.close) <= play.adverse.price) {
    play.stopOut(Math.max(last, entry?.price ?? at.open));
    return;
  }
  holdFrom(play.levels, at, entry);
}

/**
 * Of the extremes of a bar with an entry inside, only the one beyond the entry is the position's; for the other stands
 * the close (semantics §3.8).
 */
function holdFrom(levels: Levels, at: PriceRange, entry: EntryInside | null): void {
  const high = entry?.type === 'limit' ? Math.max(entry.price, at.close) : at.high;
  const low = entry?.type === 'stop' ? Math.min(entry.price, at.close) : at.low;
  holdThrough(levels, high, low);
}
