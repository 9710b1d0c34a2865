// Inside a price range: the order in which levels and pending orders fill between an open and a close when only four
// prices are known (semantics §3.3, §3.7).
//
// Prices of a position are signed (side × price): `best` is the high of a long and the negated low of a short. Prices
// of the market are as they are.
import type { AmbiguityFallback } from '../config.ts';
import type { InsideEntry } from './rangePart.ts';
import { applyBreakevenDue, moveStops, type Position } from './position.ts';
import { goesWorstFirst, type Prices } from './priceRange.ts';

/** A position in a price range, from the open of the range on, or from its entry inside. */
export interface Player {
  position: Position;
  /** null: held from the open on. */
  entry: InsideEntry | null;
  /** A position that no policy is asked about: its levels fill where they stand, and its stops do not move. */
  isFixed: boolean;
  /** Whether the path has not come to the entry yet. */
  isWaiting: boolean;
  /** Signed. The extremes of the range that count for the position, see `cutAt`; its close. */
  best: number;
  worst: number;
  close: number;
  /** Signed. The last target that filled; Infinity before the first. */
  lastTarget: number;
  /** Signed. The stop where the part of the position begins. */
  stopBefore: number;
}

/** @param prices of the range, signed for the position */
export const playerOf = (position: Position, entry: InsideEntry | null, prices: Prices, isFixed: boolean): Player => ({
  position,
  entry,
  isFixed,
  isWaiting: false,
  best: prices.best,
  worst: prices.worst,
  close: prices.close,
  lastTarget: Infinity,
  stopBefore: position.stop,
});

/** A price at which something happens: a pending order. */
export interface Mark {
  readonly price: number;
}

/** Everything that takes part in a price range. Its fills are those of the run or of a rehearsal. */
export interface Play {
  /** Oldest first. */
  readonly players: readonly Player[];
  /** Pending orders inside the range that have not been reached, in the order of listing. */
  readonly orders: Mark[];
  /** The signed stop in force or the account's liquidation, whichever is nearer. */
  adverseLevel(position: Position): number;
  fillAdverse(player: Player, signedPrice: number): void;
  fillTarget(player: Player, signedPrice: number): void;
  /** The market reaches an order. Returns false when nothing after it is of interest. */
  reach(order: Mark): boolean;
}

/** Where the swings of a policy without a path begin. */
export interface Swings {
  /** Whether the first swing goes up. */
  readonly isUp: boolean;
  /** The price of the closing order at which the first swing turns; null: it goes to the extreme. */
  readonly turn: number | null;
}

/**
 * Plays a price range, after what its open has passed.
 * @param prices as a long sees them
 * @param from the price at which the swings begin: the open
 */
export function playRange(play: Play, prices: Prices, policy: AmbiguityFallback, swings: Swings, from: number): void {
  const isWorstFirst = goesWorstFirst(1, prices, policy);
  if (isWorstFirst !== null) followPath(play, prices, isWorstFirst);
  else swing(play, prices, policy === 'optimistic' ? 'optimistic' : 'pessimistic', swings, from);
}

/** Along the path from the open through the two extremes in the given order to the close. Stops move at once. */
function followPath(play: Play, { open, best, worst, close }: Prices, isWorstFirst: boolean): void {
  moveAllStops(play, open);
  const first = isWorstFirst ? worst : best;
  const second = isWorstFirst ? best : worst;
  if (!playLeg(play, open, first, 'path', NaN)) return;
  moveAllStops(play, first);
  if (!playLeg(play, first, second, 'path', NaN)) return;
  moveAllStops(play, second);
  // A stop that the close puts beyond the market is left to the next open.
  if (playLeg(play, second, close, 'path', NaN)) moveAllStops(play, close);
}

function moveAllStops({ players }: Play, price: number): void {
  for (let index = 0; index < players.length; index++) {
    const { position, isFixed, isWaiting } = players[index];
    if (!isFixed && !isWaiting && position.quantity > 0) moveStops(position, position.side * price);
  }
}

/** To and fro between the extremes, until no order is left and two swings in a row have filled nothing. */
function swing(play: Play, prices: Prices, rule: Rule, { isUp, turn }: Swings, from: number): void {
  let at = from;
  let goesUp = isUp;
  let end = turn ?? (goesUp ? prices.best : prices.worst);
  let waitsAt = turn ?? NaN;
  let quiet = 0;
  let count = 0;
  while (play.orders.length > 0 || (quiet < 2 && hasOpen(play))) {
    fillCount = 0;
    if (!playLeg(play, at, end, rule, waitsAt)) return;
    quiet = fillCount > 0 ? 0 : quiet + 1;
    // One position that is held from the open on has nothing left after both extremes.
    if (count === 1 && play.players.length === 1 && play.orders.length === 0 && play.players[0].entry === null) return;
    at = end;
    goesUp = !goesUp;
    end = goesUp ? prices.best : prices.worst;
    // The orders at which the first swing turns are left to the third.
    if (++count === 2) waitsAt = NaN;
  }
}

function hasOpen({ players }: Play): boolean {
  for (let index = 0; index < players.length; index++) if (players[index].position.quantity > 0) return true;
  return false;
}

type Rule = 'path' | 'pessimistic' | 'optimistic';

/** What `nextFill` found besides a price. Variables of the module, since a leg is played millions of times. */
let isTargetNext = false;
/** How many fills and orders the current swing had. */
let fillCount = 0;

/**
 * One straight leg: the nearest price first; at one price levels before orders, stops and targets before liquidation,
 * then the older position. Returns false when the rest of the range is of no interest.
 * @param waitsAt orders at this price are left for later; NaN: none
 */
function playLeg(play: Play, from: number, to: number, rule: Rule, waitsAt: number): boolean {
  const { players, orders } = play;
  const direction = Math.sign(to - from);
  if (players.length === 1 && orders.length === 0) {
    playAlone(play, players[0], from, to, direction, rule);
    return true;
  }
  let at = from;
  for (;;) {
    let next: Player | null = null;
    let isTarget = false;
    let isLiquidation = false;
    /** direction × price: the nearest is the smallest. */
    let nearest = Infinity;
    for (const player of players) {
      const { position } = player;
      if (position.quantity === 0) continue;
      const price = nextFill(play, player, at, to, direction, rule);
      if (Number.isNaN(price)) continue;
      const key = direction * position.side * price;
      const liquidates = !isTargetNext && !player.isWaiting && play.adverseLevel(position) > position.stop;
      if (key > nearest || (key === nearest && (next === null || liquidates || !isLiquidation))) continue;
      nearest = key;
      next = player;
      isTarget = isTargetNext;
      isLiquidation = liquidates;
    }
    const order = orders.length === 0 ? null : nextOrder(play, at, to, direction, waitsAt, nearest);
    if (order !== null) {
      at = order.price;
      orders.splice(orders.indexOf(order), 1);
      const goesOn = play.reach(order);
      // After it, since an entry inside the range is rehearsed, which counts too.
      fillCount++;
      if (!goesOn) return false;
    } else if (next === null) return true;
    else {
      at = direction === 0 ? at : direction * nearest;
      fill(play, next, next.position.side * at, isTarget, rule);
    }
  }
}

/** A leg for one position: there is nothing to compare its next fill with. */
function playAlone(play: Play, player: Player, from: number, to: number, direction: number, rule: Rule): void {
  const { position } = player;
  let at = from;
  while (position.quantity > 0) {
    const price = nextFill(play, player, at, to, direction, rule);
    if (Number.isNaN(price)) return;
    at = position.side * price;
    fill(play, player, price, isTargetNext, rule);
  }
}

function fill(play: Play, player: Player, signedPrice: number, isTarget: boolean, rule: Rule): void {
  const { position } = player;
  fillCount++;
  if (player.isWaiting) player.isWaiting = false;
  else if (!isTarget) play.fillAdverse(player, signedPrice);
  else {
    play.fillTarget(player, signedPrice);
    player.lastTarget = signedPrice;
    if (position.quantity === 0 || player.isFixed) return;
    if (rule === 'path') moveStops(position, signedPrice);
    else if (rule === 'optimistic' && position.nextTarget > player.best) applyBreakevenDue(position);
  }
}

/**
 * The signed price of the next fill of a position on the way from `at` to `to`; NaN: none. Sets `isTargetNext`.
 */
function nextFill(play: Play, player: Player, at: number, to: number, direction: number, rule: Rule): number {
  const { position, entry } = player;
  const { side, nextTarget } = position;
  const market = side * at;
  const end = side * to;
  isTargetNext = false;
  if (player.isWaiting) return isBetween(entry!.price, market, end) ? entry!.price : NaN;
  const adverse = play.adverseLevel(position);
  const isFavorable = direction === side;
  if (rule === 'path') {
    if (adverse >= market) return market;
    if (!isFavorable) return adverse >= end ? adverse : NaN;
    isTargetNext = true;
    return nextTarget <= end ? nextTarget : NaN;
  }
  if (isFavorable) {
    isTargetNext = true;
    return nextTarget <= end && nextTarget <= targetReach(player, adverse, rule) ? nextTarget : NaN;
  }
  if (adverse < stopReach(player, rule)) return NaN;
  const price = Math.min(market, adverse, player.lastTarget);
  return price >= end ? price : NaN;
}

const isBetween = (price: number, a: number, b: number): boolean => price >= Math.min(a, b) && price <= Math.max(a, b);

/**
 * How far up (signed) targets count. Pessimistic: after an entry inside, only if the stop is untouched, and after that
 * of a limit order only if the close is past them.
 */
function targetReach({ entry, best, worst, close }: Player, adverse: number, rule: Rule): number {
  if (rule === 'optimistic' || entry === null) return best;
  if (adverse >= worst) return -Infinity;
  return entry.type === 'limit' ? Math.min(best, close) : best;
}

/**
 * How far down (signed) the stop counts. Pessimistic: not after a target. Optimistic: after the touched targets; after
 * an entry inside down to the close, unless every way to the stop crosses the entry.
 */
function stopReach({ position, entry, best, worst, close, lastTarget, stopBefore }: Player, rule: Rule): number {
  if (rule === 'pessimistic') return lastTarget < Infinity ? Infinity : worst;
  if (position.nextTarget <= best) return Infinity;
  const isCertain = entry === null || (entry.type === 'limit' && position.stop === stopBefore);
  return isCertain ? worst : close;
}

/** The first pending order on the way that comes before the nearest level; null: none. */
function nextOrder(
  { orders, players }: Play,
  at: number,
  to: number,
  direction: number,
  waitsAt: number,
  nearestLevel: number,
): Mark | null {
  let next: Mark | null = null;
  let nearest = nearestLevel;
  // A rehearsal: the orders that end the position's part count from its entry on.
  if (players.length > 0 && players[0].isWaiting) return null;
  for (const order of orders) {
    const key = direction * order.price;
    if (key < direction * at || key > direction * to || direction === 0) continue;
    if (order.price === waitsAt) continue;
    if (key < nearest) {
      nearest = key;
      next = order;
    }
  }
  return next;
}
