// Settling a slice: what its open has passed, what its inside does by the policy, and the rows that makes.
import { AMBIGUITY_FALLBACKS, type AmbiguityFallback } from '../../../src/engine/config.ts';
import type { Book, Decision, EntryOrder, Position } from './book.ts';
import { actorOf, pathOf, playInside, type Actor, type EntryInside, type LevelFill, type Waiting } from './inside.ts';
import {
  adverseLevel,
  applyLadderMove,
  copyLevels,
  hasMovingStop,
  isUndecided,
  moveStops,
  openTargets,
  stopInForce,
  takeTarget,
  type PriceRange,
  type Side,
  type Stop,
} from './levels.ts';
import { closesSide, fillOrder } from './pendingEntries.ts';
import { mirrored, policyOf, type Slice } from './slice.ts';

/** How the fills of a position on a slice are told: what decides them, and from which price it was held. */
interface Telling {
  readonly slice: Slice;
  /** null: as far as `heldBefore` says. */
  readonly held: readonly number[] | null;
  readonly method: Decision['method'];
}

function stopOut(book: Book, position: Position, price: number, reason: Stop['reason'], telling: Telling): void {
  // Liquidation closes everything, oldest first.
  const closing = reason === 'liquidation' ? [...book.positions] : [position];
  for (const each of closing)
    exitAtLevel(
      book,
      each,
      { reason, price, quantity: each.quantity, step: null },
      {
        ...telling,
        held: each === position ? telling.held : null,
      },
    );
}

/** What the nearest target closes; false when that is nothing. */
function takeProfit(book: Book, position: Position, price: number, step: number, telling: Telling): boolean {
  const quantity = takeTarget(position, step, book.input.instrument.qtyStep);
  if (quantity === 0) return false;
  exitAtLevel(book, position, { reason: 'take_profit', price, quantity, step }, telling);
  position.highest = Math.max(position.highest, price);
  position.heldBefore = [...position.heldBefore, price];
  return true;
}

/** What the market at a price (mirrored) has already passed fills at it (semantics §2.5). */
export function settlePassed(book: Book, position: Position, price: number, telling: Telling): void {
  const adverse = (): Stop => adverseLevel(position, book.liquidation(position.side));
  if (position.quantity > 0 && price <= adverse().price) stopOut(book, position, price, adverse().reason, telling);
  for (;;) {
    const target = openTargets(position)[0];
    if (position.quantity === 0 || target === undefined || target.price > price) break;
    takeProfit(book, position, price, target.step, telling);
  }
  if (position.quantity === 0) return;
  applyLadderMove(position);
  if (price <= adverse().price) stopOut(book, position, price, adverse().reason, telling);
}

/** The same for a position that its bar decides: at the open of a child, each level fills where it stands. */
function settlePassedAtLevels(book: Book, position: Position, bar: Slice, child: Slice): void {
  const price = position.side * child.open;
  const own: Telling = { slice: bar, held: [bar.open], method: 'direct' };
  const { price: level, reason } = adverseLevel(position, book.liquidation(position.side));
  if (price <= level) {
    if (reason === 'liquidation') stopOut(book, position, price, reason, { slice: child, held: null, method: 'drill' });
    else stopOut(book, position, level, reason, own);
    return;
  }
  for (;;) {
    const target = openTargets(position)[0];
    if (position.quantity === 0 || target === undefined || target.price > price) break;
    takeProfit(book, position, target.price, target.step, own);
  }
}

/** Levels that the open of a slice has passed: oldest first, at a liquidation nearest stop first (semantics §3.9). */
export function settleOpen(book: Book, slice: Slice, decidedBy: Decided | null = null): void {
  const { open } = slice;
  const positions = [...book.positions];
  for (const position of positions) {
    const price = position.side * open;
    const before = isDecidedHere(decidedBy, position) ? position.heldBefore : [position.highest, position.lowest];
    position.heldBefore = [...before, price];
  }
  const isLiquidated = positions.some(({ side }) => side * open <= book.liquidation(side));
  const ordered = isLiquidated
    ? positions.toSorted((a, b) => stopInForce(b).price - stopInForce(a).price || a.id - b.id)
    : positions;
  for (const position of ordered) {
    if (position.quantity === 0) continue;
    const method = slice.fineTime === null ? 'gap' : 'drill';
    if (isDecidedHere(decidedBy, position)) settlePassedAtLevels(book, position, decidedBy!.bar, slice);
    else settlePassed(book, position, position.side * open, { slice, held: [open], method });
  }
}

/** The positions of a walked bar that the bar decides. */
export interface Decided {
  readonly bar: Slice;
  readonly positions: ReadonlySet<Position>;
}

const isDecidedHere = (decided: Decided | null, position: Position): boolean =>
  decided !== null && decided.positions.has(position);

/** The inside of a slice for these positions and orders, in time order (semantics §3.7). */
export function settleTogether(
  book: Book,
  slice: Slice,
  positions: readonly Position[],
  orders: readonly EntryOrder[],
  taken: Set<Position>,
  decided: Decided | null = null,
): void {
  const policy = policyOf(book);
  const { qtyStep } = book.input.instrument;
  const tellings = new Map<
    Actor<Position>,
    { telling: Omit<Telling, 'method'>; methods: (fill: number) => Decision['method']; fills: number }
  >();
  const agreed = slice.fineTime === null ? 'direct' : 'drill';
  const closingOf = (side: Side): EntryOrder[] => stage.orders.filter((order) => closesSide(book, order, side));
  const take = (position: Position, entry: EntryInside | null): Actor<Position> => {
    const { side } = position;
    const at = mirrored(slice, side);
    const closing = closingOf(side).map(({ price }) => side * price);
    const byBar = entry === null && isDecidedHere(decided, position);
    const liquidation = book.liquidation(side);
    const isTouched = touches(position, at, liquidation);
    const isDecided =
      byBar ||
      (entry === null
        ? !isTouched || (closing.length === 0 && !isUndecided(position, at, liquidation, qtyStep))
        : !isTouched && !hasMovingStop(position, at.high));
    const actor = actorOf(position, byBar ? at : cutAt(at, entry?.price ?? at.open, closing), entry, isDecided);
    const telling = byBar
      ? { slice: decided!.bar, held: [decided!.bar.open] }
      : { slice, held: [entry === null ? slice.open : side * entry.price] };
    const methods = byBar
      ? () => 'direct' as const
      : isDecided
        ? () => agreed
        : methodsOf(book, position, slice, entry, closing, agreed);
    tellings.set(actor, { telling, methods, fills: 0 });
    return actor;
  };
  const tell = (actor: Actor<Position>): Telling => {
    const { telling, methods, fills } = tellings.get(actor)!;
    return { ...telling, method: methods(fills) };
  };
  const stage = {
    range: slice,
    policy,
    actors: [] as Actor<Position>[],
    orders: [...orders],
    swings: swingsOf(book, slice, orders),
    hands: {
      liquidation: (side: Side) => book.liquidation(side),
      stop: (actor: Actor<Position>, price: number, reason: Stop['reason']) => {
        // A liquidation is decided by the child, even at a position that its bar decides.
        const isByChild = reason === 'liquidation' && isDecidedHere(decided, actor.levels);
        stopOut(book, actor.levels, price, reason, isByChild ? { slice, held: null, method: agreed } : tell(actor));
        tellings.get(actor)!.fills++;
      },
      target: (actor: Actor<Position>, price: number, step: number) => {
        if (takeProfit(book, actor.levels, price, step, tell(actor))) tellings.get(actor)!.fills++;
      },
      order: (order: EntryOrder): Actor<Position> | null => {
        const position = fillOrder(book, order, order.price, slice, taken);
        if (position === null) return null;
        const price = position.side * order.price;
        position.heldBefore = [position.highest, position.lowest, price];
        settlePassed(book, position, price, { slice, held: [order.price], method: agreed });
        if (position.quantity === 0) return null;
        const actor = take(position, { type: order.type as EntryInside['type'], price });
        actor.seen.push(price);
        return actor;
      },
    },
  };
  stage.actors.push(...positions.map((position) => take(position, null)));
  playInside(stage);
  for (const { levels: position, entry, seen } of stage.actors) {
    if (position.quantity === 0 || (entry === null && isDecidedHere(decided, position))) continue;
    const at = mirrored(slice, position.side);
    const [high, low] = heldThrough(at, entry, pathOf(slice, policy) === null ? null : seen);
    hold(position, high, low);
  }
}

/** What a position was held through of a slice that it survives. */
function heldThrough(at: PriceRange, entry: EntryInside | null, seen: readonly number[] | null): [number, number] {
  if (entry === null) return [at.high, at.low];
  if (seen !== null) return [Math.max(...seen), Math.min(...seen)];
  // Only the extreme beyond the entry is the position's; for the other stands the close (semantics §3.8).
  return [
    entry.type === 'limit' ? Math.max(entry.price, at.close) : at.high,
    entry.type === 'stop' ? Math.min(entry.price, at.close) : at.low,
  ];
}

export function hold(position: Position, high: number, low: number): void {
  position.highest = Math.max(position.highest, high);
  position.lowest = Math.min(position.lowest, low);
  moveStops(position, high);
}

/** Whether a price range touches a level, the stop as it would stand after its best price included. */
export function touches(position: Position, { high, low }: PriceRange, liquidation: number): boolean {
  const after = copyLevels(position);
  const before = adverseLevel(position, liquidation).price;
  // A ladder step of a position that its bar decides moves the stop when the bar is over.
  after.isLadderMoveDue = false;
  moveStops(after, high);
  return (
    low <= Math.max(before, adverseLevel(after, liquidation).price) ||
    (openTargets(position)[0]?.price ?? Infinity) <= high
  );
}

/** Up to the nearest closing order on either side of where the position's part begins. */
function cutAt({ high, low, close }: PriceRange, from: number, closing: readonly number[]): Actor['reach'] {
  return {
    high: Math.min(high, ...closing.filter((price) => price > from)),
    low: Math.max(low, ...closing.filter((price) => price <= from)),
    close,
  };
}

/** Whether another policy would have made another k-th fill, for the position alone (semantics §3.6). */
function methodsOf(
  book: Book,
  position: Position,
  slice: Slice,
  entry: EntryInside | null,
  closing: readonly number[],
  agreed: Decision['method'],
): (fill: number) => Decision['method'] {
  const outcomes = AMBIGUITY_FALLBACKS.map((policy) =>
    rehearse(book, position, slice, policy, entry, closing).map((fill) => JSON.stringify(fill)),
  );
  return (k) => (new Set(outcomes.map((fills) => fills[k])).size > 1 ? 'fallback' : agreed);
}

function rehearse(
  book: Book,
  position: Position,
  slice: Slice,
  policy: AmbiguityFallback,
  entry: EntryInside | null,
  closing: readonly number[],
): LevelFill[] {
  const { side } = position;
  const at = mirrored(slice, side);
  const hasPath = pathOf(slice, policy) !== null;
  const copy = copyLevels(position);
  const fills: LevelFill[] = [];
  const actor = actorOf(copy, hasPath ? at : cutAt(at, entry?.price ?? at.open, closing), entry, false);
  actor.hasEntered = !hasPath || entry === null;
  const isUp = (policy === 'optimistic') === (side === 1);
  const ends: Waiting[] = hasPath ? closing.map((price) => ({ price: side * price })) : [];
  playInside({
    range: slice,
    policy,
    actors: [actor],
    orders: ends,
    swings: { from: entry === null ? slice.open : side * entry.price, isUp, turn: null },
    hands: {
      liquidation: () => book.liquidationAfter(position, fills),
      stop: (_, price, reason) => {
        fills.push({ reason, price, quantity: copy.quantity, step: null });
        copy.quantity = 0;
      },
      target: (_, price, step) => {
        const quantity = takeTarget(copy, step, book.input.instrument.qtyStep);
        copy.quantity -= quantity;
        if (quantity > 0) fills.push({ reason: 'take_profit', price, quantity, step });
      },
      order: () => 'end' as const,
    },
  });
  return fills;
}

/** Where the swings of a policy without a path begin. */
function swingsOf(
  book: Book,
  slice: Slice,
  orders: readonly EntryOrder[],
): { from: number; isUp: boolean; turn: number | null } {
  const from = slice.open;
  const distance = ({ price }: EntryOrder): number => Math.abs(price - from);
  const nearest = (some: readonly EntryOrder[]): EntryOrder | undefined =>
    some.toSorted((a, b) => distance(a) - distance(b))[0];
  const side = book.positions[0]?.side;
  if (side === undefined) return { from, isUp: (nearest(orders)?.price ?? from) > from, turn: null };
  const isUp = (policyOf(book) === 'optimistic') === (side === 1);
  const onTheWay = orders.filter((order) => closesSide(book, order, side) && order.price > from === isUp);
  return { from, isUp, turn: nearest(onTheWay)?.price ?? null };
}

function exitAtLevel(book: Book, position: Position, fill: LevelFill, { slice, held, method }: Telling): void {
  book.exit(position, {
    quantity: fill.quantity,
    price: position.side * fill.price,
    isSlipped: fill.reason !== 'take_profit',
    role: 'risk',
    reason: fill.reason,
    rule: fill.step,
    decision: {
      method,
      resolution: slice.timeframe,
      policy: method === 'fallback' ? policyOf(book) : null,
      fineTime: slice.fineTime,
    },
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
