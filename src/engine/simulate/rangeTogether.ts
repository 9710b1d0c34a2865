// The inside of a price range that is not walked any further, for several positions and pending orders: levels and
// orders in time order (semantics §3.7).
import { openOf } from './drill.ts';
import type { Instant } from './instant.ts';
import { agreedFills, isDecided, isTouched, RunPlay, type RunPlayer } from './inside.ts';
import { playRange, type Swings } from './intrabar.ts';
import { cutAt, heldExtremes, type InsideEntry } from './rangePart.ts';
import { fillAdverse, fillPassed } from './levelFills.ts';
import { adverseLevel } from './margin.ts';
import type { EntryOrder } from './orders.ts';
import { closesSide, fillPending, type Freed } from './pendingOrders.ts';
import { hasMovingStop, leaveRange, recordExtremes, type Position } from './position.ts';
import { pricesOf, type PriceRange, type Prices } from './priceRange.ts';
import { countBar, type Run } from './run.ts';

/** The positions of a walked bar that fill at the levels of the bar, in a child. */
interface FixedInChild {
  readonly base: PriceRange;
  readonly fixed: readonly Position[];
}

/** The inside of a price range that is not walked any further, for these positions (oldest first) and orders. */
export function playRangeTogether(
  run: Run,
  range: PriceRange,
  positions: readonly Position[],
  orders: readonly EntryOrder[],
  freed: Freed,
  inChild: FixedInChild | null = null,
): void {
  const market = pricesOf(range, 1);
  const play = new PlayTogether(run, range, orders, freed);
  if (isContested(run, positions, orders, range)) countBar(run.ambiguous.fallback, range.row);
  const swings = swingsOf(run, range, orders);
  for (const position of positions)
    play.addHeld(position, inChild !== null && inChild.fixed.includes(position) ? inChild.base : range);
  playRange(play, market, run.policy, swings, market.open);
  play.record();
}

/** What fills in a price range of several positions and pending orders, for the run. */
class PlayTogether extends RunPlay {
  readonly #freed: Freed;

  constructor(run: Run, range: PriceRange, orders: readonly EntryOrder[], freed: Freed) {
    super(run, range);
    this.#freed = freed;
    for (const order of orders) this.orders.push(order);
  }

  /** @param told the range; a bar that decides the position, in a child of it: it fills at the levels of the bar */
  addHeld(position: Position, told: PriceRange): void {
    const { run, range } = this;
    const { side } = position;
    const prices = pricesOf(range, side);
    if (told !== range) {
      this.add(position, null, prices, Infinity, told);
      return;
    }
    const closing = this.#closing(side);
    const isFixed =
      !isTouched(run, position, prices.best, prices.worst) ||
      (closing.length === 0 && isDecided(run, position, prices));
    this.#add(position, prices, null, closing, isFixed);
  }

  #add(
    position: Position,
    prices: Prices,
    entry: InsideEntry | null,
    closing: readonly EntryOrder[],
    isFixed: boolean,
  ): void {
    const { run, range } = this;
    const { side } = position;
    const part = { market: pricesOf(range, 1), prices, entry, closing };
    const agreed = isFixed ? Infinity : agreedFills(run, position, part, range.row);
    const signed = closing.map(({ price }) => side * price);
    this.add(position, entry, cutAt(prices, entry === null ? prices.open : entry.price, signed), agreed);
  }

  override fillAdverse(player: RunPlayer, signedPrice: number): void {
    const { run, range } = this;
    const { position } = player;
    this.#countFreed(() => {
      if (player.told !== range && run.ledger.liquidation > position.stop)
        liquidateInChild(run, position, signedPrice, openOf(range));
      else super.fillAdverse(player, signedPrice);
    });
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
    const prices = pricesOf(range, side);
    const isFixed = !isTouched(run, position, prices.best, prices.worst) && !hasMovingStop(position, prices.best);
    const type = orderRule.type as InsideEntry['type'];
    this.#add(position, prices, { price, type }, this.#closing(side), isFixed);
    return true;
  }

  /** Records what the range leaves open, except of positions that the bar around it decides. */
  record(): void {
    const { run, range } = this;
    for (const { position, entry, told } of this.players) {
      if (position.quantity === 0 || told !== range) continue;
      const [best, worst] = heldExtremes(position.side, pricesOf(range, position.side), entry, run.policy);
      recordExtremes(position, best, worst);
    }
  }

  #closing(side: 1 | -1): EntryOrder[] {
    return this.orders.filter((order) => closesSide(this.run, order, side));
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

/** A liquidation in a child, found at a position that the bar decides: it was held through the children before. */
export function liquidateInChild(run: Run, position: Position, signedPrice: number, at: Instant): void {
  leaveRange(position);
  fillAdverse(run, position, signedPrice, { ...at, from: NaN });
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
  let turn: number | null = null;
  for (const order of orders) {
    const { price } = order;
    if (price > open !== isUp || !closesSide(run, order, side)) continue;
    turn = turn === null ? price : isUp ? Math.min(turn, price) : Math.max(turn, price);
  }
  return { isUp, turn };
}

/**
 * Whether the order of fills depends on the policy: levels of two positions, two orders, or a level and an order that
 * does not close its position, lie on both sides of the open.
 */
export function isContested(
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
