// One instrument of a portfolio: its own book of orders and positions, and the account of all.
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type { ValueSource } from '../../../src/engine/evaluate/tradingRules.ts';
import type { Instant } from './account.ts';
import { affords, Book, type EntryOrder, type ExitFill, type Funds, type Position, type Quote } from './book.ts';
import { boundRules, valueAt } from './boundRules.ts';
import type { Signals } from './close.ts';
import type { LevelFill } from './inside.ts';
import type { Side } from './levels.ts';
import type { House } from './portfolioHouse.ts';

/** What an instrument has taken of the account inside the bars of this instant, and what its own balance came to. */
export interface InsideOfBar {
  balance: number;
  margin: number;
  fees: number;
  /** Against the entry price: what free cash lost. */
  realizedLosses: number;
  /** Against the open: what equity lost. */
  lossesSinceOpen: number;
  opened: number;
  /** Positions after step 4, with the margin and the unrealized profit at the open that they had then. */
  readonly before: readonly Position[];
  readonly marginBefore: number;
  readonly unrealizedBefore: number;
}

export class Desk extends Book {
  readonly index: number;
  readonly house: House;
  readonly symbol: string;
  readonly start: number;
  /** One past its own last row of the range. */
  readonly end: number;
  readonly signals: Signals;
  readonly #ranks: readonly (ValueSource | undefined)[];
  inside: InsideOfBar | null = null;
  rankedOut = 0;

  constructor(input: SimulationInput, index: number, house: House) {
    const { book, signals } = boundRules(input);
    super(book, house.purse);
    this.index = index;
    this.house = house;
    this.symbol = input.bars.symbol;
    this.start = input.start;
    this.end = input.end;
    this.signals = signals;
    this.#ranks = input.entries.map(({ rank }) => rank);
  }

  /** Whether its rule says by what it ranks. */
  isRanked({ rule }: EntryOrder): boolean {
    return this.#ranks[rule] !== undefined;
  }

  /** The rank of an order, read at its signal; NaN: missing. */
  rankOf({ rule, signalRow }: EntryOrder): number {
    const rank = this.#ranks[rule];
    return rank === undefined ? NaN : valueAt(rank, signalRow);
  }

  get isAtLastRow(): boolean {
    return this.row === this.end - 1;
  }

  unrealized(price: number): number {
    let sum = 0;
    for (const { side, quantity, entryPrice } of this.positions) sum += side * quantity * (price - entryPrice);
    return sum;
  }

  get margin(): number {
    return this.account.usedMargin(this.positions);
  }

  /** What stays of a position after the exits that are ordered; under bar_close those of other instruments wait. */
  leftOf(position: Position): number {
    const isAtClose = this.input.config.execution.orderTiming === 'bar_close';
    let left = position.quantity;
    for (const exit of this.dueExits)
      if (exit.position === position && !(isAtClose && exit.after !== undefined))
        left = Math.max(0, left - exit.quantity);
    return left;
  }

  /** Slots that its positions and orders take of the account at a close. */
  get taken(): number {
    const staying = this.positions.filter((position) => this.leftOf(position) > 0).length;
    return staying + this.pending.size + (this.dueEntry === null ? 0 : 1);
  }

  /** Ends pending orders whose last live bar this was. */
  expirePending(row: number): void {
    for (const order of this.pending.values()) {
      if (order.lastRow > row) continue;
      this.pending.delete(order.rule);
      this.note(order, 'expired');
    }
  }

  /** Ends orders that can never fill. */
  endOrders(): void {
    if (this.dueEntry !== null) this.note(this.dueEntry, 'expired');
    this.dueEntry = null;
    this.dueExits = [];
    this.expirePending(Infinity);
  }

  override nextId(): number {
    return this.house.nextId();
  }

  override slots(): number {
    return this.house.slots ?? NaN;
  }

  override funds(raw: number): Funds {
    return this.house.funds(this, raw);
  }

  override liquidation(side: Side): number {
    return this.house.isOfOneInstrument ? super.liquidation(side) : -Infinity;
  }

  override liquidationAfter(position: Position, fills: readonly LevelFill[]): number {
    return this.house.isOfOneInstrument ? super.liquidationAfter(position, fills) : -Infinity;
  }

  override hasAccountSlot(taken: ReadonlySet<Position>): boolean {
    return this.house.hasSlot(this, taken.size);
  }

  override loseSlot(order: EntryOrder): void {
    this.rankedOut++;
    this.note(order, 'cancelled');
  }

  override isCancelledByLink(order: EntryOrder): boolean {
    return this.house.links.isLegMissing(order);
  }

  override enter(order: EntryOrder, raw: number, instant: Instant): Position | null {
    const funds = this.funds(raw);
    const quote = this.quote(order, raw, instant, funds);
    const isContested =
      this.inside !== null &&
      quote.reason === null &&
      !affords(funds.freeCash, quote.cost) &&
      affords(this.house.freeCash(), quote.cost);
    if (isContested) this.house.contestedFunds++;
    return super.enter(order, raw, instant);
  }

  override open(order: EntryOrder, quote: Quote, raw: number, instant: Instant): Position {
    const { balance } = this.account;
    const position = super.open(order, quote, raw, instant);
    this.house.links.noteFill(order, position);
    if (this.inside !== null) {
      const fee = balance - this.account.balance;
      this.inside.balance -= fee;
      this.inside.fees += Math.max(0, fee);
      this.inside.margin += (position.quantity * position.entryPrice) / this.input.config.leverage;
      this.inside.opened++;
    }
    return position;
  }

  override exit(position: Position, fill: ExitFill): void {
    const { balance } = this.account;
    super.exit(position, fill);
    const trade = this.trades.at(-1)!;
    this.house.trades.push({ ...trade, instrument: this.index });
    if (this.inside !== null) {
      const { side, quantity, exitPrice, entryPrice, exitFee } = trade;
      const from = this.inside.before.includes(position) ? this.input.bars.open[this.row] : entryPrice;
      this.inside.balance += this.account.balance - balance;
      this.inside.fees += Math.max(0, exitFee);
      this.inside.realizedLosses += Math.max(0, -side * quantity * (exitPrice - entryPrice));
      this.inside.lossesSinceOpen += Math.max(0, -side * quantity * (exitPrice - from));
    }
    if (position.quantity > 0) return;
    this.house.links.noteClose(position);
    if (fill.reason !== 'dropped') this.house.rotation?.drop(this);
  }

  /** The account's last position is closed and nothing is left: trading ends for all. */
  override endIfRuined(): void {
    if (this.house.desks.some(({ positions }) => positions.length > 0) || this.account.balance > 0) return;
    for (const desk of this.house.desks) desk.isOver = true;
  }
}
