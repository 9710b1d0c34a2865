// Settles the inside of a price range for one position: nothing is touched, a decided level fills, or the policy
// decides.
import { fillAdverse, fillTarget } from './levelFills.ts';
import type { Decision, Instant } from './instant.ts';
import { playerOf, playRange, type Play, type Player } from './intrabar.ts';
import type { InsideEntry } from './rangePart.ts';
import { reachedSteps } from './ladder.ts';
import { adverseLevel } from './margin.ts';
import type { EntryOrder } from './orders.ts';
import { hasMovingStop, recordExtremes, stopAfter, type Position } from './position.ts';
import { agreementOn, type Part } from './rehearsal.ts';
import { countBar, type Run } from './run.ts';
import { goesWorstFirst, pricesOf, type Prices, type PriceRange } from './priceRange.ts';

/** A position in a price range, for the run. */
export interface RunPlayer extends Player {
  /** What its fills are told of: the range, or the bar around it if that decides the position. */
  readonly told: PriceRange;
  /** The price at which its part of that begins. */
  readonly start: number;
  /** How many of the next fills every policy makes alike. */
  agreed: number;
}

/** What fills in a price range, for the run. */
export class RunPlay implements Play {
  readonly run: Run;
  readonly range: PriceRange;
  readonly players: RunPlayer[] = [];
  readonly orders: EntryOrder[] = [];

  constructor(run: Run, range: PriceRange) {
    this.run = run;
    this.range = range;
  }

  /**
   * Adds a position.
   * @param agreed how many of its fills are certain; Infinity: all, whatever moves its stops
   */
  add(position: Position, entry: InsideEntry | null, prices: Prices, agreed: number, told = this.range): void {
    const start = entry === null ? told.bars.open[told.index] : position.side * entry.price;
    this.players.push({ ...playerOf(position, entry, prices, agreed === Infinity), told, start, agreed });
  }

  adverseLevel(position: Position): number {
    return adverseLevel(this.run, position);
  }

  fillAdverse(player: RunPlayer, signedPrice: number): void {
    fillAdverse(this.run, player.position, signedPrice, this.#next(player));
  }

  fillTarget(player: RunPlayer, signedPrice: number): void {
    const before = this.run.trades.length;
    const at = this.#next(player);
    fillTarget(this.run, player.position, signedPrice, at);
    // A step too small to close anything is not a fill.
    if (this.run.trades.length === before) player.agreed++;
  }

  reach(_order: EntryOrder): boolean {
    return true;
  }

  #next(player: RunPlayer): Instant {
    const { certain, contested } = player.told;
    const decision: Decision = player.agreed-- > 0 ? certain : contested;
    return { row: this.range.row, isAtClose: false, isAtOpen: false, from: player.start, decision };
  }
}

/** Whether these extremes touch a level. The stop counts where it would stand after the best of them, too. */
export function isTouched(run: Run, position: Position, best: number, worst: number): boolean {
  return worst <= Math.max(adverseLevel(run, position), stopAfter(position, best)) || best >= position.nextTarget;
}

/**
 * Whether every path through a price range that touches a level gives the same outcome (semantics §3.1). It does when
 * no stop moves in the range, a stop and a target are not both touched, and no touched target moves the stop of what is
 * left to a price that is in the range.
 */
export function isDecided(run: Run, position: Position, prices: Prices): boolean {
  if (hasMovingStop(position, prices.best)) return !isTouched(run, position, prices.best, prices.worst);
  if (prices.best < position.nextTarget) return true;
  const isStopTouched = prices.worst <= adverseLevel(run, position);
  if (!isStopTouched && prices.worst > position.side * position.entryPrice) return true;
  const { risk, instrument } = run.input;
  const { closesSome, movesStop } = reachedSteps(position, prices.best, risk.takeProfits, instrument.qtyStep);
  return isStopTouched ? !closesSome && !movesStop : !movesStop;
}

/** A decided range: its levels fill where they stand, and no policy is asked. */
export function settleDecided(run: Run, position: Position, range: PriceRange, prices: Prices): void {
  const { bars, index, row, certain } = range;
  const instant: Instant = { row, isAtClose: false, isAtOpen: false, from: bars.open[index], decision: certain };
  const adverse = adverseLevel(run, position);
  if (prices.worst <= adverse) fillAdverse(run, position, adverse, instant);
  else
    while (position.quantity > 0 && prices.best >= position.nextTarget)
      fillTarget(run, position, position.nextTarget, instant);
  if (position.quantity > 0) recordExtremes(position, prices.best, prices.worst);
}

/**
 * Settles the most common undecided ranges without a rehearsal, which would double the time of a run with a trailing
 * stop. No target is touched, and one of two things holds. Either the stop in force does not move in the range, so that
 * every policy hits the same stop. Or only the moved stop is touched and the policy follows no path, so that nothing
 * fills. Returns false, with nothing done, for every other range.
 */
export function settleMoving(run: Run, position: Position, range: PriceRange, prices: Prices): boolean {
  if (prices.best >= position.nextTarget) return false;
  const afterBest = stopAfter(position, prices.best);
  if (afterBest <= position.stop) {
    settleDecided(run, position, range, prices);
    return true;
  }
  const { side } = position;
  if (prices.worst <= adverseLevel(run, position) || goesWorstFirst(side, prices, run.policy) !== null) return false;
  const isHitOn = (path: 'bar_direction' | 'distance'): boolean => {
    const isWorstFirst = goesWorstFirst(side, prices, path);
    if (isWorstFirst === null) return false;
    // Best price first: the way down to the worst price hits the moved stop, which the range is known to touch.
    if (!isWorstFirst) return true;
    // Worst price first: hit there if the open has moved the stop, or else on the way from the best price to the close.
    return prices.worst <= stopAfter(position, prices.open) || prices.close <= afterBest;
  };
  if (isHitOn('bar_direction') || isHitOn('distance')) countBar(run.ambiguous.fallback, range.row);
  recordExtremes(position, prices.best, prices.worst);
  return true;
}

/** Settles a price range by the policy for one position that is held from its open on. */
export function settleByPolicy(run: Run, position: Position, range: PriceRange, prices: Prices): void {
  const { policy } = run;
  const market = position.side > 0 ? prices : pricesOf(range, 1);
  const part: Part = { market, prices, entry: null, closing: [] };
  const play = new RunPlay(run, range);
  play.add(position, null, prices, agreedFills(run, position, part, range.row));
  playRange(play, market, policy, { isUp: (policy === 'optimistic') === position.side > 0, turn: null }, market.open);
  if (position.quantity > 0) recordExtremes(position, prices.best, prices.worst);
}

/** How many fills of the part are certain; counts the bar as left to the policy where the policies disagree. */
export function agreedFills(run: Run, position: Position, part: Part, row: number): number {
  const { fills, isComplete } = agreementOn(run, position, part, row);
  if (!isComplete) countBar(run.ambiguous.fallback, row);
  return fills;
}
