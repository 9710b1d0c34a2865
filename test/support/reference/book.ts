// The book: open positions, pending orders, and what a fill does to them and to the account (semantics §2.6, §4).
import type { Bars, Instrument, Timeframe } from '../../../src/engine/bars/bars.ts';
import type { AmbiguityFallback, ResolvedConfig } from '../../../src/engine/config.ts';
import type { RunnableStrategy } from '../../../src/engine/language/grammar/ast.ts';
import type { RejectionReason } from '../../../src/engine/simulate/simulation.ts';
import type { ExitReason as EngineReason } from '../../../src/engine/definitions/exitReasons/exitReasons.ts';
import type { ExitMethod } from '../../../src/engine/simulate/instant.ts';
import { Account, type Instant, type Purse, type Role } from './account.ts';
import type { LevelFill } from './inside.ts';
import type { Levels, Side } from './levels.ts';
import { targetsOf, type SignalLevels } from './signalLevels.ts';
import { orderQuantity } from './sizing.ts';

/** The reasons of portfolios included. */
export type ExitReason = EngineReason | 'linked' | 'rebalance' | 'dropped';

export interface Position extends Levels {
  readonly id: number;
  /** Index of its entry rule. */
  readonly rule: number;
  readonly entryRow: number;
  /** The first close at which its exits are read. */
  readonly firstRead: number;
  readonly entryPrice: number;
  readonly entryFee: number;
  readonly entrySlippage: number;
  readonly initialRisk: number | null;
  /**
   * Prices held through up to the open of the bar or child being played, or up to the entry in it (mirrored): all that
   * counts of it for a position that the fill of something else closes there.
   */
  heldBefore: readonly number[];
  /** Funding not yet given to a row; negative when paid. */
  funding: number;
  /** Sum of the pnl of its rows so far. */
  realized: number;
  /** Exit rules whose partial exit has fired. */
  readonly doneExits: Set<number>;
}

/** An entry order: due at the next open, or pending at a price. */
export interface EntryOrder {
  readonly rule: number;
  readonly signalRow: number;
  readonly type: 'market' | 'limit' | 'stop';
  /** NaN for a market order. */
  readonly price: number;
  /** The last row on which a pending order is live. */
  readonly lastRow: number;
  readonly levels: SignalLevels;
}

export interface DueExit {
  readonly position: Position;
  readonly quantity: number;
  readonly reason: ExitReason;
  readonly rule: number | null;
  /** A close that something on another instrument ordered: it fills at the first open after that instant. */
  readonly after?: number;
}

/** What decided a fill (semantics §3.6). */
export interface Decision {
  readonly method: ExitMethod;
  readonly resolution: Timeframe;
  readonly policy: AmbiguityFallback | null;
  readonly fineTime: number | null;
}

export interface ReferenceTrade {
  readonly positionId: number;
  readonly side: Side;
  readonly entryRow: number;
  readonly exitRow: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly quantity: number;
  readonly entryFee: number;
  readonly exitFee: number;
  readonly slippage: number;
  readonly pnl: number;
  readonly returnPct: number;
  readonly maePct: number;
  readonly mfePct: number;
  readonly exitReason: ExitReason;
  readonly exitMethod: ExitMethod;
  readonly exitResolution: Timeframe;
  readonly exitPolicy: AmbiguityFallback | null;
  readonly exitFineTime: number | null;
  readonly entryRule: number;
  readonly exitRule: number | null;
  readonly initialRisk: number | null;
}

/** What became of an entry order. */
export interface OrderOutcome {
  readonly rule: number;
  readonly row: number;
  readonly status: 'filled' | 'rejected' | 'expired' | 'cancelled' | 'replaced';
  readonly reason: RejectionReason | null;
  readonly filledRow: number | null;
  readonly fillPrice: number | null;
  readonly quantity: number | null;
}

export interface BookInput {
  readonly strategy: RunnableStrategy;
  readonly bars: Bars;
  /** What undecided bars are walked through; null: nothing. */
  readonly children: Bars | null;
  readonly instrument: Instrument;
  readonly config: ResolvedConfig;
  readonly start: number;
  readonly end: number;
  /** Wilder's ATR of the base bars. */
  readonly atr: (period: number, row: number) => number;
}

export interface ExitFill {
  readonly quantity: number;
  /** Before slippage. */
  readonly price: number;
  readonly isSlipped: boolean;
  readonly role: Role;
  readonly reason: ExitReason;
  readonly rule: number | null;
  readonly decision: Decision;
  readonly instant: Instant;
  /**
   * Prices of the exit's bar that the position held through: its open, or the price of an entry inside it; null: as far
   * as `heldBefore` says.
   */
  readonly held: readonly number[] | null;
}

/** What a fill of an entry would be. */
export interface Quote {
  readonly price: number;
  readonly quantity: number;
  /** Margin and fee. */
  readonly cost: number;
  readonly stop: number;
  /** Why it is rejected, funds apart; null: it is not. */
  readonly reason: RejectionReason | null;
}

export interface Funds {
  /** Marked at the price of the fill before slippage. */
  readonly equity: number;
  readonly freeCash: number;
}

export class Book {
  readonly input: BookInput;
  readonly account: Account;
  positions: Position[] = [];
  /** One per entry rule. */
  readonly pending = new Map<number, EntryOrder>();
  dueExits: DueExit[] = [];
  dueEntry: EntryOrder | null = null;
  readonly trades: ReferenceTrade[] = [];
  readonly orders: OrderOutcome[] = [];
  readonly counts = { entrySignals: 0, blockedInPosition: 0, blockedCooldown: 0, blockedMaxPositions: 0 };
  /** Nothing was left of the balance: trading has ended. */
  isOver = false;
  lastFullExit = -Infinity;
  lastEntryPrice = NaN;
  lastExitPrice = NaN;
  /** Wholly closed positions, in order. */
  readonly closed: { readonly row: number; readonly pnl: number; readonly pnlPct: number }[] = [];
  /** The bar being played. */
  row = 0;
  #nextId = 1;

  constructor(input: BookInput, purse?: Purse) {
    this.input = input;
    this.account = new Account(input, purse);
  }

  /** Positions are numbered in the order of their entry fills. */
  nextId(): number {
    return this.#nextId++;
  }

  /** What an entry at the market's price `raw` has to spend. */
  funds(raw: number, _instant: Instant): Funds {
    const { account, positions } = this;
    return { equity: account.equity(positions, raw), freeCash: account.freeCash(positions) };
  }

  /** Of a portfolio, quantity by equal slots; NaN: the account has none. */
  slots(): number {
    return this.input.config.portfolio?.slots ?? NaN;
  }

  /** Whether the account has a slot for one more position, besides the slots of this instrument. */
  hasAccountSlot(_taken: ReadonlySet<Position>): boolean {
    return true;
  }

  /** An order finds no slot of the account when its price is reached. */
  loseSlot(order: EntryOrder): void {
    this.note(order, 'cancelled');
  }

  /** Something about to fill may end the orders that were made with it. */
  isCancelledByLink(_order: EntryOrder): boolean {
    return false;
  }

  /** The liquidation price as a position of that side sees it. */
  liquidation(side: Side): number {
    const price = this.account.liquidationPrice(this.positions);
    return price === null ? -Infinity : side * price;
  }

  /** The same once these fills of a position are made: it is computed again after every fill (semantics §4.5). */
  liquidationAfter(position: Position, fills: readonly LevelFill[]): number {
    if (fills.length === 0) return this.liquidation(position.side);
    let { balance } = this.account;
    let left = position.quantity;
    for (const { price, quantity } of fills) {
      // Only targets leave something to be liquidated, and they are not slipped.
      const at = position.side * price;
      const fee = this.account.feeAt(this.account.rate('risk', { row: this.row, isAtClose: false }), quantity, at);
      balance += position.side * quantity * (at - position.entryPrice) - fee;
      left -= quantity;
    }
    const holdings = this.positions.map((each) => (each === position ? { ...each, quantity: left } : each));
    const price = this.account.liquidationPrice(
      holdings.filter(({ quantity }) => quantity > 0),
      balance,
    );
    return price === null ? -Infinity : position.side * price;
  }

  sideOf({ rule }: EntryOrder): Side {
    return this.input.strategy.entries[rule].action.side === 'long' ? 1 : -1;
  }

  note(order: EntryOrder, status: OrderOutcome['status'], more: Partial<OrderOutcome> = {}): void {
    const { rule, signalRow: row } = order;
    this.orders.push({ rule, row, status, reason: null, filledRow: null, fillPrice: null, quantity: null, ...more });
  }

  /** What an entry at the market's price `raw` would fill. */
  quote(order: EntryOrder, raw: number, instant: Instant, { equity, freeCash }: Funds): Quote {
    const { strategy, config, instrument, bars, atr } = this.input;
    const { account } = this;
    const { sizing } = strategy.entries[order.rule].action;
    const side = this.sideOf(order);
    const price = order.type === 'limit' ? raw : account.slipped(raw, side, instant);
    const stop = order.levels.stopFrom(price);
    const volatility =
      sizing.mode === 'volatility_target'
        ? atr(sizing.atrPeriod ?? 14, order.signalRow) / bars.close[order.signalRow]
        : NaN;
    const entryRate = account.rate('entry', instant);
    const quantity = orderQuantity({
      sizing,
      price,
      stopPrice: account.slipped(stop, side === 1 ? -1 : 1, instant),
      entryRate,
      riskRate: account.rate('risk', instant),
      equity,
      freeCash,
      leverage: config.leverage,
      volatility,
      slots: this.slots(),
      bars,
      instrument,
      feeAt: (rate, units, at) => account.feeAt(rate, units, at),
    });
    const notional = quantity * price;
    const cost = notional / config.leverage + account.feeAt(entryRate, quantity, price);
    let reason: RejectionReason | null = null;
    if (Number.isNaN(quantity)) reason = 'LEVEL_MISSING';
    else if (quantity <= 0) reason = 'ZERO_QTY';
    else if (notional < instrument.minNotional) reason = 'MIN_NOTIONAL';
    return { price, quantity, cost, stop, reason };
  }

  /** Fills an entry at the market's price `raw`; null when it is rejected. */
  enter(order: EntryOrder, raw: number, instant: Instant): Position | null {
    const funds = this.funds(raw, instant);
    const quote = this.quote(order, raw, instant, funds);
    const reason = quote.reason ?? (affords(funds.freeCash, quote.cost) ? null : 'INSUFFICIENT_BALANCE');
    if (reason === null) return this.open(order, quote, raw, instant);
    this.reject(order, reason);
    return null;
  }

  reject(order: EntryOrder, reason: RejectionReason): void {
    this.note(order, 'rejected', { reason });
  }

  /** Opens the position of an accepted entry. */
  open(order: EntryOrder, { price, quantity, stop }: Quote, raw: number, instant: Instant): Position {
    const { strategy } = this.input;
    const { account, positions } = this;
    const side = this.sideOf(order);
    const entryFee = account.pay('entry', quantity, price, instant);
    const initialRisk = Number.isNaN(stop) ? null : Math.abs(price - stop);
    const position: Position = {
      id: this.nextId(),
      rule: order.rule,
      side,
      entryRow: instant.row,
      firstRead: instant.isAtClose ? instant.row + 1 : instant.row,
      entryPrice: price,
      entry: side * price,
      entryFee,
      entrySlippage: Math.abs(price - raw) * quantity,
      initialRisk,
      initialQuantity: quantity,
      quantity,
      stopLoss: Number.isNaN(stop) ? -Infinity : side * stop,
      targets: targetsOf(strategy.risk, order.levels, side, price, initialRisk),
      ladderPercent: 0,
      ...trailingOf(strategy.risk.trailingStop, order.levels.trailDistance, side, price),
      ...breakevenOf(strategy.risk.breakeven, side, price),
      breakevenStop: -Infinity,
      isLadderMoveDue: false,
      best: side * price,
      highest: side * price,
      lowest: side * price,
      heldBefore: [side * price, side * raw],
      funding: 0,
      realized: 0,
      doneExits: new Set(),
    };
    positions.push(position);
    this.lastEntryPrice = price;
    this.note(order, 'filled', { filledRow: instant.row, fillPrice: price, quantity });
    return position;
  }

  /** Closes a part of a position, or all of it, and writes the row (semantics §4.7). */
  exit(position: Position, fill: ExitFill): void {
    const { side, entryPrice, initialQuantity } = position;
    const isAll = fill.quantity >= position.quantity;
    const quantity = isAll ? position.quantity : fill.quantity;
    const exitSide: Side = side === 1 ? -1 : 1;
    const exitPrice = fill.isSlipped ? this.account.slipped(fill.price, exitSide, fill.instant) : fill.price;
    const exitFee = this.account.pay(fill.role, quantity, exitPrice, fill.instant);
    const share = quantity / initialQuantity;
    const entryFee = position.entryFee * share;
    const funding = position.funding * (quantity / position.quantity);
    const gross = side * quantity * (exitPrice - entryPrice);
    const pnl = gross - entryFee - exitFee + funding;
    const before = fill.held?.map((price) => side * price).concat(position.highest, position.lowest);
    const held = [...(before ?? position.heldBefore), side * exitPrice];
    const move = (extreme: number): number => (extreme - side * entryPrice) / entryPrice;
    this.account.balance += gross;
    this.trades.push({
      positionId: position.id,
      side,
      entryRow: position.entryRow,
      exitRow: fill.instant.row,
      entryPrice,
      exitPrice,
      quantity,
      entryFee,
      exitFee,
      slippage: position.entrySlippage * share + Math.abs(exitPrice - fill.price) * quantity,
      pnl,
      returnPct: pnl / (quantity * entryPrice),
      maePct: move(Math.min(...held)),
      mfePct: move(Math.max(...held)),
      exitReason: fill.reason,
      exitMethod: fill.decision.method,
      exitResolution: fill.decision.resolution,
      exitPolicy: fill.decision.policy,
      exitFineTime: fill.decision.fineTime,
      entryRule: position.rule,
      exitRule: fill.rule,
      initialRisk: position.initialRisk,
    });
    position.funding -= funding;
    position.realized += pnl;
    position.quantity = isAll ? 0 : position.quantity - quantity;
    this.lastExitPrice = exitPrice;
    if (!isAll) return;
    this.positions = this.positions.filter((other) => other !== position);
    this.lastFullExit = fill.instant.row;
    const pnlPct = (100 * position.realized) / (initialQuantity * entryPrice);
    this.closed.push({ row: fill.instant.row, pnl: position.realized, pnlPct });
    this.endIfRuined();
  }

  /** Nothing held and nothing left: trading ends (semantics §4.5). */
  endIfRuined(): void {
    if (this.positions.length === 0 && this.account.balance <= 0) this.isOver = true;
  }

  /** Funding, borrowing and dividends. */
  payFunding(row: number): void {
    for (const position of this.positions) {
      const { account } = this;
      const paid =
        account.fundingDue(position, row) + account.borrowDue(position, row) - account.dividendsDue(position, row);
      position.funding -= paid;
      this.account.balance -= paid;
    }
  }
}

/** Whether free cash covers a cost (semantics §4.1). */
export const affords = (freeCash: number, cost: number): boolean => cost <= freeCash + 1e-9 * Math.abs(freeCash);

type Risk = RunnableStrategy['risk'];

function trailingOf(
  rule: Risk['trailingStop'],
  distance: number,
  side: Side,
  price: number,
): Pick<Levels, 'trailFrom' | 'trailLevel'> {
  if (rule === undefined) return { trailFrom: Infinity, trailLevel: () => -Infinity };
  const { activateAfterPercent: after, distancePercent: percent } = rule;
  return {
    trailFrom: after === undefined ? -Infinity : side * price * (1 + (side * after) / 100),
    trailLevel: percent === undefined ? (best) => best - distance : (best) => best * (1 - (side * percent) / 100),
  };
}

function breakevenOf(
  rule: Risk['breakeven'],
  side: Side,
  price: number,
): Pick<Levels, 'breakevenFrom' | 'breakevenLevel'> {
  if (rule === undefined) return { breakevenFrom: Infinity, breakevenLevel: -Infinity };
  const { activateAfterPercent: after, offsetPercent: offset } = rule;
  return {
    breakevenFrom: side * price * (1 + (side * after) / 100),
    breakevenLevel: side * price * (1 + (side * offset) / 100),
  };
}
