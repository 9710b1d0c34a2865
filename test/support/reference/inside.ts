// The inside of one bar or child for everything that takes part in it, in time order, by each of the four policies
// (semantics §3.3, §3.7, §3.8). Nothing here knows money.
import type { AmbiguityFallback } from '../../../src/engine/config.ts';
import {
  adverseLevel,
  applyLadderMove,
  moveStops,
  openTargets,
  stopInForce,
  type Levels,
  type PriceRange,
  type Side,
  type Stop,
} from './levels.ts';

/** A fill that a level asks for; prices are mirrored for a short and before slippage. */
export type LevelFill =
  | { readonly reason: Stop['reason']; readonly price: number; readonly quantity: number; readonly step: null }
  | { readonly reason: 'take_profit'; readonly price: number; readonly quantity: number; readonly step: number };

/** A limit or stop entry that filled inside the price range at its price (mirrored). */
export interface EntryInside {
  readonly type: 'limit' | 'stop';
  readonly price: number;
}

/** A position that takes part. */
export interface Actor<T extends Levels = Levels> {
  readonly levels: T;
  readonly entry: EntryInside | null;
  /** No policy is asked: the levels fill where they stand, and nothing moves the stops. */
  readonly isDecided: boolean;
  /** The extremes of the range that count, and its close, mirrored. */
  readonly reach: { readonly high: number; readonly low: number; readonly close: number };
  /** On the path of a rehearsal, whether the entry has come. */
  hasEntered: boolean;
  /** Mirrored prices of its targets that filled. */
  readonly targets: number[];
  readonly stopBefore: number;
  /** Points of the path (mirrored) since the entry. */
  readonly seen: number[];
}

export const actorOf = <T extends Levels>(
  levels: T,
  reach: Actor['reach'],
  entry: EntryInside | null,
  isDecided: boolean,
): Actor<T> => ({
  levels,
  entry,
  isDecided,
  reach,
  hasEntered: true,
  targets: [],
  stopBefore: stopInForce(levels).price,
  seen: [],
});

/** A pending order in the range. */
export interface Waiting {
  readonly price: number;
}

/** What is done about the events of a range. */
export interface Hands<T extends Levels, O extends Waiting> {
  /** The liquidation price of now, as that side sees it. */
  liquidation(side: Side): number;
  stop(actor: Actor<T>, price: number, reason: Stop['reason']): void;
  target(actor: Actor<T>, price: number, step: number): void;
  /** The order is reached: the position it opens, nothing, or the end of all that matters. */
  order(order: O): Actor<T> | null | 'end';
}

export interface Stage<T extends Levels, O extends Waiting> {
  /** As the market has it. */
  readonly range: PriceRange;
  readonly policy: AmbiguityFallback;
  readonly actors: Actor<T>[];
  orders: O[];
  /** Where swings begin: the first direction, and the closing order short of which the first one turns. */
  readonly swings: { readonly from: number; readonly isUp: boolean; readonly turn: number | null };
  readonly hands: Hands<T, O>;
}

/** An event on the way, at a price of the market. */
interface Event {
  readonly price: number;
  /** At one price: levels, liquidation, orders. */
  readonly rank: 0 | 1 | 2;
  /** False when the rest does not matter. */
  readonly happen: () => boolean;
}

export function playInside<T extends Levels, O extends Waiting>(stage: Stage<T, O>): void {
  const { range, policy, actors, swings } = stage;
  const path = pathOf(range, policy);
  if (path !== null) {
    moveAll(actors, path[0]);
    for (let leg = 1; leg < path.length; leg++) {
      if (playLeg(stage, path[leg - 1], path[leg], 'path', null) === 'end') return;
      moveAll(actors, path[leg]);
    }
    return;
  }
  const rule = policy === 'optimistic' ? 'optimistic' : 'pessimistic';
  let at = swings.from;
  let quiet = 0;
  for (let number = 1; stage.orders.length > 0 || quiet < 2; number++) {
    const isUp = (number % 2 === 1) === swings.isUp;
    const to = number === 1 && swings.turn !== null ? swings.turn : isUp ? range.high : range.low;
    const filled = playLeg(stage, at, to, rule, number < 3 ? swings.turn : null);
    if (filled === 'end') return;
    quiet = filled === 0 ? quiet + 1 : 0;
    at = to;
  }
}

const isOpen = ({ levels, hasEntered }: Actor): boolean => levels.quantity > 0 && hasEntered;

/** The market comes to a point of the path: the stops of all move as of it. */
function moveAll(actors: readonly Actor[], price: number): void {
  for (const actor of actors.filter(isOpen)) {
    const { levels } = actor;
    actor.seen.push(levels.side * price);
    if (!actor.isDecided) moveStops(levels, levels.side * price);
  }
}

type Rule = 'path' | 'pessimistic' | 'optimistic';

/** Plays a leg or swing: again and again what comes next on it. How many events there were. */
function playLeg<T extends Levels, O extends Waiting>(
  stage: Stage<T, O>,
  from: number,
  to: number,
  rule: Rule,
  untouched: number | null,
): number | 'end' {
  let at = from;
  for (let count = 0; ; count++) {
    const events = stage.actors.flatMap((actor) => eventsOf(stage, actor, at, to, Math.sign(to - from), rule));
    const isBefore = stage.actors.some(({ hasEntered }) => !hasEntered);
    for (const order of isBefore ? [] : stage.orders) {
      const isOnTheWay = from !== to && order.price >= Math.min(at, to) && order.price <= Math.max(at, to);
      if (isOnTheWay && order.price !== untouched) events.push(orderEvent(stage, order));
    }
    // Sorting keeps the order of age, and of listing, at equal ones.
    const [next] = events.toSorted((a, b) => Math.abs(a.price - at) - Math.abs(b.price - at) || a.rank - b.rank);
    if (next === undefined) return count;
    at = next.price;
    if (!next.happen()) return 'end';
  }
}

function orderEvent<T extends Levels, O extends Waiting>(stage: Stage<T, O>, order: O): Event {
  return {
    price: order.price,
    rank: 2,
    happen: () => {
      stage.orders = stage.orders.filter((other) => other !== order);
      const result = stage.hands.order(order);
      if (result === 'end') return false;
      if (result !== null) stage.actors.push(result);
      return true;
    },
  };
}

/** What a position does next on the way from `at` to `to`. */
function eventsOf<T extends Levels, O extends Waiting>(
  { hands }: Stage<T, O>,
  actor: Actor<T>,
  at: number,
  to: number,
  direction: number,
  rule: Rule,
): Event[] {
  const { levels, entry } = actor;
  const { side } = levels;
  if (levels.quantity === 0) return [];
  const [market, end] = [side * at, side * to];
  const enter = (): boolean => {
    actor.hasEntered = true;
    return true;
  };
  if (!actor.hasEntered) {
    const isOnTheWay = entry!.price >= Math.min(market, end) && entry!.price <= Math.max(market, end);
    return isOnTheWay ? [{ price: side * entry!.price, rank: 0, happen: enter }] : [];
  }
  const adverse = adverseLevel(levels, hands.liquidation(side));
  const stopAt = (price: number): Event => ({
    price: side * price,
    rank: adverse.reason === 'liquidation' ? 1 : 0,
    happen: () => {
      hands.stop(actor, price, adverse.reason);
      return true;
    },
  });
  const isFavorable = direction === side;
  if (rule === 'path' && adverse.price >= market) return [stopAt(market)];
  if (isFavorable) {
    const target = openTargets(levels)[0];
    const limit = rule === 'path' ? end : Math.min(end, targetLimit(actor, adverse.price, rule));
    return target !== undefined && target.price <= limit ? [targetEvent(hands, actor, target.price, rule)] : [];
  }
  if (rule !== 'path' && !isStopHit(actor, adverse.price, rule)) return [];
  const comesFrom = rule === 'path' ? [] : actor.targets.slice(-1);
  const price = Math.min(market, adverse.price, ...comesFrom);
  return price >= end ? [stopAt(price)] : [];
}

function targetEvent<T extends Levels, O extends Waiting>(
  hands: Hands<T, O>,
  actor: Actor<T>,
  price: number,
  rule: Rule,
): Event {
  const { levels, isDecided, targets, reach } = actor;
  const { step } = openTargets(levels)[0];
  return {
    price: levels.side * price,
    rank: 0,
    happen: () => {
      hands.target(actor, price, step);
      targets.push(price);
      if (isDecided || levels.quantity === 0) return true;
      if (rule === 'path') moveStops(levels, price);
      const isLast = !openTargets(levels).some((other) => other.price <= reach.high);
      if (rule === 'optimistic' && isLast) applyLadderMove(levels);
      return true;
    },
  };
}

/** How far up targets are hit on swings. */
function targetLimit({ entry, reach }: Actor, stop: number, rule: Rule): number {
  if (rule === 'optimistic' || entry === null) return reach.high;
  // A touched stop was hit after the fill, and after a limit order only the close proves that a target came later.
  if (reach.low <= stop) return -Infinity;
  return entry.type === 'limit' ? Math.min(reach.high, reach.close) : reach.high;
}

/** Whether the stop is hit on swings. */
function isStopHit({ levels, entry, reach, targets, stopBefore }: Actor, stop: number, rule: Rule): boolean {
  if (rule === 'pessimistic') return targets.length === 0 && reach.low <= stop;
  if (openTargets(levels).some(({ price }) => price <= reach.high)) return false;
  const isCertain = entry === null || (entry.type === 'limit' && stopInForce(levels).price === stopBefore);
  return (isCertain ? reach.low : reach.close) <= stop;
}

/** The points of the path that a policy assumes; null where it assumes none. */
export function pathOf(range: PriceRange, policy: AmbiguityFallback): readonly number[] | null {
  const { open, high, low, close } = range;
  if (policy === 'pessimistic' || policy === 'optimistic') return null;
  const lowFirst = [open, low, high, close];
  const highFirst = [open, high, low, close];
  if (policy === 'distance') return high - open === open - low ? null : high - open < open - low ? highFirst : lowFirst;
  return close >= open ? lowFirst : highFirst;
}
