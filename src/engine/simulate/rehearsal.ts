// Rehearsals: what each policy would do with a position, so that only what they disagree on is called a fallback
// (semantics §3.6).
import { AMBIGUITY_FALLBACKS, type AmbiguityFallback } from '../config.ts';
import { feeOf } from '../definitions/fees/orderFees.ts';
import { exitReasonOf, type ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import { liquidationExit } from '../definitions/exitReasons/liquidationExit.ts';
import { feeRate } from './costs.ts';
import { feeTime } from './fills.ts';
import { playRange, type Mark, type Play, type Player } from './intrabar.ts';
import { cutAt, heldExtremes, type InsideEntry } from './rangePart.ts';
import { takeStep } from './ladder.ts';
import { liquidationLevel } from './margin.ts';
import { blankPosition, copyLevels, moveStops, type Position } from './position.ts';
import { goesWorstFirst, type Prices } from './priceRange.ts';
import type { Run } from './run.ts';

/** Codes of fills at a stop; the code of a fill at a target is the number of its ladder step. */
const codeOf = (reason: ExitReason): number => -1 - exitReasonOf(reason).code;
const NUMBERS_PER_FILL = 3;

/** The part of a price range in which a position is held, played for it alone. */
export interface Part {
  /** As a long sees them. */
  readonly market: Prices;
  /** Signed for the position. */
  readonly prices: Prices;
  /** The limit or stop order that opened it inside the price range; null when it was held from the open on. */
  readonly entry: InsideEntry | null;
  /** The pending orders that close or reverse the position. */
  readonly closing: readonly Mark[];
}

/** A copy of a position and of the account around it, on which a policy is tried out. */
class Rehearsal implements Play {
  readonly position: Position = blankPosition();
  readonly players: readonly [Player] = [
    {
      position: this.position,
      entry: null,
      isFixed: false,
      isWaiting: false,
      best: NaN,
      worst: NaN,
      close: NaN,
      lastTarget: Infinity,
      stopBefore: NaN,
    },
  ];
  readonly orders: Mark[] = [];
  /** Code, price and quantity of each fill, then the stop left behind; NaN when nothing is left. */
  readonly outcome: number[] = [];
  #run!: Run;
  #riskRate = 0;
  #balance = 0;
  #accountQuantity = 0;
  #notional = 0;
  #liquidation = -Infinity;

  play(run: Run, from: Position, part: Part, policy: AmbiguityFallback, row: number): void {
    const { position, outcome } = this;
    this.#run = run;
    const now = feeTime(run, { row, isAtClose: false });
    this.#riskRate = feeRate(run.fees, run.input.config.execution.riskOrderRole, now);
    this.#balance = run.ledger.balance;
    this.#liquidation = run.ledger.liquidation;
    this.#accountQuantity = 0;
    this.#notional = 0;
    for (const { quantity, entryPrice } of run.positions) {
      this.#accountQuantity += quantity;
      this.#notional += quantity * entryPrice;
    }
    copyLevels(from, position);
    outcome.length = 0;
    this.#settle(part, policy);
    if (position.quantity > 0) moveStops(position, heldExtremes(position.side, part.prices, part.entry, policy)[0]);
    outcome.push(position.quantity > 0 ? position.stop : NaN);
  }

  #settle({ market, prices, entry, closing }: Part, policy: AmbiguityFallback): void {
    const { position, players, orders } = this;
    const { side } = position;
    const hasPath = goesWorstFirst(1, market, policy) !== null;
    const from = entry === null ? prices.open : entry.price;
    const cut =
      closing.length === 0 || hasPath
        ? prices
        : cutAt(
            prices,
            from,
            closing.map(({ price }) => side * price),
          );
    const [player] = players;
    player.entry = entry;
    player.isWaiting = hasPath && entry !== null;
    player.best = cut.best;
    player.worst = cut.worst;
    player.close = prices.close;
    player.lastTarget = Infinity;
    player.stopBefore = position.stop;
    orders.length = 0;
    if (hasPath) for (const order of closing) orders.push(order);
    playRange(this, market, policy, { isUp: (policy === 'optimistic') === side > 0, turn: null }, side * from);
  }

  /** An order ends the part of the position. */
  reach(): boolean {
    return false;
  }

  adverseLevel(): number {
    return Math.max(this.position.stop, this.#liquidation);
  }

  fillAdverse(_player: Player, signedPrice: number): void {
    const { position } = this;
    const reason = this.#liquidation > position.stop ? liquidationExit.reason : position.stopReason;
    this.#fill(codeOf(reason), signedPrice, position.quantity);
  }

  fillTarget(_player: Player, signedPrice: number): void {
    const { position } = this;
    const step = position.nextStep;
    const { risk, instrument } = this.#run.input;
    const quantity = takeStep(position, risk.takeProfits, instrument.qtyStep);
    if (quantity > 0) this.#fill(step, signedPrice, quantity);
  }

  #fill(code: number, signedPrice: number, quantity: number): void {
    const { position } = this;
    this.outcome.push(code, signedPrice, quantity);
    position.quantity = quantity >= position.quantity ? 0 : position.quantity - quantity;
    if (position.quantity === 0 || this.#liquidation === -Infinity) return;
    const price = position.side * signedPrice;
    this.#balance += quantity * (position.side * (price - position.entryPrice) - price * this.#riskRate);
    const { perOrder } = this.#run.fees;
    // What the order pays beside the rate.
    if (perOrder !== null)
      this.#balance -= feeOf(perOrder, this.#riskRate, quantity, price) - quantity * price * this.#riskRate;
    this.#accountQuantity -= quantity;
    this.#notional -= quantity * position.entryPrice;
    this.#liquidation = liquidationLevel(
      position.side,
      this.#balance,
      this.#accountQuantity,
      this.#notional,
      this.#run.input.config.maintenanceMarginRate,
    );
  }
}

const rehearsals = new Map(AMBIGUITY_FALLBACKS.map((policy) => [policy, new Rehearsal()]));

/** How far the policies agree on a position's part of a price range. */
interface Agreement {
  /** How many fills all policies make alike, from the first on. */
  readonly fills: number;
  /** Whether they also agree on everything after those. */
  readonly isComplete: boolean;
}

/** @param row the base bar that the part lies in. */
export function agreementOn(run: Run, position: Position, part: Part, row: number): Agreement {
  const first = outcomeOf(run, position, part, 'pessimistic', row);
  let agreed = first.length;
  let isComplete = true;
  for (const policy of AMBIGUITY_FALLBACKS) {
    if (policy === 'pessimistic') continue;
    const other = outcomeOf(run, position, part, policy, row);
    if (other.length !== first.length) isComplete = false;
    let at = 0;
    while (at < agreed && Object.is(other[at], first[at])) at++;
    if (at < agreed) isComplete = false;
    agreed = at;
  }
  return { fills: Math.floor(agreed / NUMBERS_PER_FILL), isComplete };
}

function outcomeOf(
  run: Run,
  position: Position,
  part: Part,
  policy: AmbiguityFallback,
  row: number,
): readonly number[] {
  const rehearsal = rehearsals.get(policy)!;
  rehearsal.play(run, position, part, policy, row);
  return rehearsal.outcome;
}
