// Settling a position on a slice: what it has passed, what its inside does by the policy, and the rows that makes.
import { AMBIGUITY_FALLBACKS, type AmbiguityFallback } from '../../../src/engine/config.ts';
import type { Book, Decision, EntryOrder, Position } from './book.ts';
import {
  fillPassed,
  pathOf,
  settleInside,
  type Conditions,
  type EntryInside,
  type LevelFill,
  type Outcome,
} from './inside.ts';
import { copyLevels, stopInForce, type PriceRange, type Side } from './levels.ts';
import { mirrored, policyOf, type Slice } from './slice.ts';

export function settlePassed(book: Book, position: Position, slice: Slice): void {
  if (position.quantity === 0) return;
  const method = slice.fineTime === null ? 'gap' : 'drill';
  const outcome = fillPassed(position, position.side * slice.open, conditionsOf(book, position));
  execute(book, position, outcome, slice, [slice.open], () => method);
}

/**
 * Settles the position's part of a slice. `orders` are the pending orders that the slice reaches: the first of them
 * that closes or reverses the position's side ends its part (semantics §3.7); `entry` is the one that opened it.
 */
export function settleByPolicy(
  book: Book,
  position: Position,
  slice: Slice,
  orders: readonly EntryOrder[],
  entry: EntryOrder | null = null,
): void {
  const { side } = position;
  const inside: EntryInside | null =
    entry === null ? null : { type: entry.type as EntryInside['type'], price: side * entry.price };
  const closingOrder = (policy: AmbiguityFallback): EntryOrder | undefined => {
    const sequence = inPathOrder(orders, slice, policy);
    const later = entry === null ? sequence : sequence.slice(sequence.indexOf(entry) + 1);
    return later.find((order) => closesSide(book, order, side));
  };
  const play = (policy: AmbiguityFallback): Outcome<Position> => {
    const closing = closingOrder(policy);
    const part = { entry: inside, until: closing === undefined ? null : side * closing.price };
    return settleInside(position, mirrored(slice, side), policy, conditionsOf(book, position), part);
  };
  const outcomes = AMBIGUITY_FALLBACKS.map((policy) => play(policy).fills.map((fill) => JSON.stringify(fill)));
  const agreed = slice.fineTime === null ? 'direct' : 'drill';
  const methodOf = (k: number): Decision['method'] =>
    new Set(outcomes.map((fills) => fills[k])).size > 1 ? 'fallback' : agreed;
  execute(book, position, play(policyOf(book)), slice, [entry === null ? slice.open : entry.price], methodOf);
}

/** Oldest first; where the prices reach the liquidation price the nearest stop first (semantics §3.9). */
export function inOrder(book: Book, prices: PriceRange): Position[] {
  const positions = [...book.positions];
  if (positions.length === 0) return [];
  const { side } = positions[0];
  if (mirrored(prices, side).low > book.liquidation(side)) return positions;
  return positions.toSorted((a, b) => stopInForce(b).price - stopInForce(a).price || a.id - b.id);
}

/**
 * Pending orders as the policy's path reaches them; without a path the nearest to the open first. Equal ones as listed.
 */
export function inPathOrder(orders: readonly EntryOrder[], slice: Slice, policy: AmbiguityFallback): EntryOrder[] {
  const path = pathOf(slice, policy, 1);
  const reachedAfter = ({ price }: EntryOrder): number => {
    if (path === null) return Math.abs(price - slice.open);
    let walked = 0;
    for (let leg = 1; leg < path.length; leg++) {
      const [from, to] = [path[leg - 1], path[leg]];
      if ((price - from) * (price - to) <= 0) return walked + Math.abs(price - from);
      walked += Math.abs(to - from);
    }
    return Infinity;
  };
  return orders.toSorted((a, b) => reachedAfter(a) - reachedAfter(b));
}

export const closesSide = (book: Book, order: EntryOrder, side: Side): boolean =>
  book.sideOf(order) !== side && book.input.strategy.entries[order.rule].conflict !== 'ignore';

export const conditionsOf = (book: Book, position: Position): Conditions => ({
  liquidationAfter: (fills) => book.liquidationAfter(position, fills),
  qtyStep: book.input.instrument.qtyStep,
});

/** The fills of levels become rows, then the levels stand as the outcome says. */
export function execute(
  book: Book,
  position: Position,
  { fills, after }: Outcome<Position>,
  slice: Slice,
  held: readonly number[],
  methodOf: (fill: number) => Decision['method'],
): void {
  for (const [k, fill] of fills.entries()) {
    const method = methodOf(k);
    const policy = method === 'fallback' ? policyOf(book) : null;
    const decision: Decision = { method, resolution: slice.timeframe, policy, fineTime: slice.fineTime };
    // Liquidation closes everything, oldest first.
    const closing = fill.reason === 'liquidation' ? [...book.positions] : [position];
    for (const each of closing) exitAtLevel(book, each, fill, slice, each === position ? held : null, decision);
  }
  adopt(position, after);
}

function exitAtLevel(
  book: Book,
  position: Position,
  fill: LevelFill,
  slice: Slice,
  held: readonly number[] | null,
  decision: Decision,
): void {
  book.exit(position, {
    quantity: fill.reason === 'liquidation' ? position.quantity : fill.quantity,
    price: position.side * fill.price,
    isSlipped: fill.reason !== 'take_profit',
    role: 'risk',
    reason: fill.reason,
    rule: fill.step,
    decision,
    instant: { row: slice.row, isAtClose: false },
    held,
  });
}

/** Everything of the levels but the quantity, which fills change. */
export function adopt(position: Position, after: Position): void {
  const { targets, ladderPercent, breakevenStop, isLadderMoveDue, best, highest, lowest } = copyLevels(after);
  position.targets.splice(0, targets.length, ...targets);
  Object.assign(position, { ladderPercent, breakevenStop, isLadderMoveDue, best, highest, lowest });
}

export const hasFilled = (position: Position, before: Position): boolean =>
  position.quantity !== before.quantity ||
  position.targets.some(({ isDone }, at) => isDone !== before.targets[at].isDone);
