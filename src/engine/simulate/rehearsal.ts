// Rehearsals: what each policy would do with a position, so that only what they disagree on is called a fallback
// (semantics §3.6).
import { AMBIGUITY_FALLBACKS, type AmbiguityFallback } from '../config.ts';
import { feeRate } from './costs.ts';
import { feeTime } from './fills.ts';
import { heldExtremes, settle, type Exits, type Part } from './intrabar.ts';
import { takeStep } from './ladder.ts';
import { liquidationLevel } from './margin.ts';
import { blankPosition, copyLevels, moveStops, type Position } from './position.ts';
import type { Run } from './run.ts';

/** Codes of fills at a stop; the code of a fill at a target is the number of its ladder step. */
const STOP_CODES = { stop_loss: -1, breakeven: -2, trailing_stop: -3, liquidation: -4 } as const;
const NUMBERS_PER_FILL = 3;

/** A copy of a position and of the account around it, on which a policy is tried out. */
class Rehearsal implements Exits {
  readonly position: Position = blankPosition();
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
    settle(this, part, policy);
    if (position.quantity > 0) moveStops(position, heldExtremes(position.side, part, policy)[0]);
    outcome.push(position.quantity > 0 ? position.stop : NaN);
  }

  adverseLevel(): number {
    return Math.max(this.position.stop, this.#liquidation);
  }

  fillAdverse(signedPrice: number): void {
    const { position } = this;
    const reason = this.#liquidation > position.stop ? 'liquidation' : position.stopReason;
    this.#fill(STOP_CODES[reason], signedPrice, position.quantity);
  }

  fillTarget(signedPrice: number): void {
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
