// The state fields: what a strategy may read of its position and account at a close, before that close's orders.
import { DAY_MS, type Bars } from '../bars/bars.ts';
import { STATE_FIELDS } from '../language/grammar/ast.ts';
import { equityAt, freeCash, type Ledger } from './ledger.ts';
import type { Position } from './position.ts';
import type { PositionStateField, StateField, StateView } from '../evaluate/tradingRules.ts';
import type { MarkedRows } from './marks.ts';
import type { SimulationInput } from './simulation.ts';

/** The parts of a run that the state fields read. */
interface StateSource {
  readonly input: SimulationInput;
  readonly bars: Bars;
  readonly positions: readonly Position[];
  readonly ledger: Ledger;
  /** At the closes of `marked`, from its start on. */
  readonly equity: Float64Array;
  readonly marked: MarkedRows;
  /** The row of the last full exit of any position; -Infinity before the first. */
  readonly lastFullExitRow: number;
}

/**
 * A field of one position; percents in points, unrealized values at the close and before exit costs (semantics §1.10).
 */
type PositionField = (position: Position, close: number, row: number) => number;
type AccountField = (reader: StateReader) => number;

const signedMove = (position: Position, signedPrice: number): number =>
  ((signedPrice - position.side * position.entryPrice) / position.entryPrice) * 100;

const POSITION_FIELDS: Record<PositionStateField, PositionField> = {
  position_exists: () => 1,
  position_side: (position) => position.side,
  position_size: (position) => position.quantity,
  position_entry_price: (position) => position.entryPrice,
  position_unrealized_pnl: (position, close) => position.side * position.quantity * (close - position.entryPrice),
  position_unrealized_pnl_pct: (position, close) => signedMove(position, position.side * close),
  position_realized_pnl: (position) => position.realizedPnl,
  position_bars_since_entry: (position, _close, row) => row - position.entryRow,
  position_highest_since_entry: (position) => (position.side > 0 ? position.peak : -position.trough),
  position_lowest_since_entry: (position) => (position.side > 0 ? position.trough : -position.peak),
  position_mfe_pct: (position) => signedMove(position, position.peak),
  position_mae_pct: (position) => signedMove(position, position.trough),
  position_stop_price: (position) => (position.stop === -Infinity ? NaN : position.side * position.stop),
};
/** The position fields that have a value when there is no position; all others are missing. */
const WITHOUT_POSITION: Partial<Record<PositionStateField, number>> = {
  position_exists: 0,
  position_side: 0,
  position_size: 0,
};

const ACCOUNT_FIELDS: Record<Exclude<StateField, PositionStateField>, AccountField> = {
  position_bars_since_exit: (reader) =>
    reader.run.lastFullExitRow === -Infinity ? NaN : reader.row - reader.run.lastFullExitRow,
  position_average_price: (reader) => averagePrice(reader.run.positions),
  open_positions_count: (reader) => reader.run.positions.length + reader.run.ledger.othersOpen,
  instrument_positions_count: (reader) => reader.run.positions.length,
  account_balance: (reader) => reader.run.ledger.balance,
  account_equity: (reader) => reader.equity(),
  account_gross_exposure: ({ run, row }) =>
    Math.abs(run.ledger.netQuantity) * run.bars.close[row] + run.ledger.othersGross,
  account_used_margin: (reader) => reader.run.ledger.usedMargin,
  account_available_collateral: (reader) => freeCash(reader.run.ledger),
  account_margin_utilization: (reader) => (reader.run.ledger.usedMargin / reader.equity()) * 100,
  account_drawdown: (reader) => reader.drawdown(),
  account_max_drawdown: (reader) => reader.maxDrawdown(),
  account_day_pnl_pct: (reader) => (reader.equity() / reader.equityBeforeToday() - 1) * 100,
  trades_count_total: (reader) => reader.exitRows.length,
  trades_count_today: (reader) => reader.closedToday(),
  wins_streak: (reader) => reader.winsStreak,
  losses_streak: (reader) => reader.lossesStreak,
  last_trade_pnl: (reader) => reader.lastTradePnl,
  last_trade_pnl_pct: (reader) => reader.lastTradePnlPct,
  last_entry_price: (reader) => reader.lastEntryPrice,
  last_exit_price: (reader) => reader.lastExitPrice,
};

/** Of the entry fills, weighted by what is left of each; of one position exactly its own. */
function averagePrice(positions: readonly Position[]): number {
  if (positions.length === 1) return positions[0].entryPrice;
  let quantity = 0;
  let notional = 0;
  for (const position of positions) {
    quantity += position.quantity;
    notional += position.quantity * position.entryPrice;
  }
  return notional / quantity;
}

/** The tables by index into STATE_FIELDS; null where the field is of the other kind. */
const at = <T>(table: Partial<Record<StateField, T>>): (T | null)[] =>
  STATE_FIELDS.map((field) => table[field] ?? null);
const POSITION_FIELD_AT = at(POSITION_FIELDS);
const WITHOUT_POSITION_AT = at(WITHOUT_POSITION);
const ACCOUNT_FIELD_AT = at(ACCOUNT_FIELDS);

/** One reader per run, pointed at a row and a position before it is handed to a rule. */
export class StateReader implements StateView {
  run!: StateSource;
  row = 0;
  position: Position | null = null;
  /** The rows on which positions were wholly closed, in order. */
  readonly exitRows: number[] = [];
  winsStreak = 0;
  lossesStreak = 0;
  lastTradePnl = NaN;
  lastTradePnlPct = NaN;
  lastEntryPrice = NaN;
  lastExitPrice = NaN;
  #peak = NaN;
  #maxDrawdown = 0;
  /** Marks before this one are in #peak and #maxDrawdown. */
  #markedTo = 0;

  attach(run: StateSource): void {
    this.run = run;
    this.#peak = run.input.config.initialBalance;
    this.#markedTo = run.marked.start;
  }

  /** The view of an entry: the latest opened position that is still open. */
  forEntries(row: number): StateView {
    const { positions } = this.run;
    return this.forPosition(row, positions.length === 0 ? null : positions[positions.length - 1]);
  }

  /** The view of an exit: the position being tested. */
  forPosition(row: number, position: Position | null): StateView {
    this.row = row;
    this.position = position;
    return this;
  }

  read(field: number): number {
    const ofAccount = ACCOUNT_FIELD_AT[field];
    if (ofAccount !== null) {
      const value = ofAccount(this);
      return Number.isFinite(value) ? value : NaN;
    }
    if (this.position === null) return WITHOUT_POSITION_AT[field] ?? NaN;
    return POSITION_FIELD_AT[field]!(this.position, this.run.bars.close[this.row], this.row);
  }

  noteEntry(price: number): void {
    this.lastEntryPrice = price;
  }

  /**
   * Notes a closing fill on `row`. Streaks count whole positions: a pnl of zero is neither a win nor a loss and breaks
   * no streak.
   */
  noteExit(position: Position, price: number, row: number): void {
    this.lastExitPrice = price;
    if (position.quantity > 0) return;
    const pnl = position.realizedPnl;
    this.exitRows.push(row);
    if (pnl > 0) {
      this.winsStreak++;
      this.lossesStreak = 0;
    } else if (pnl < 0) {
      this.lossesStreak++;
      this.winsStreak = 0;
    }
    this.lastTradePnl = pnl;
    this.lastTradePnlPct = (pnl / (position.initialQuantity * position.entryPrice)) * 100;
  }

  /** Equity at this close, before its orders. */
  equity(): number {
    return equityAt(this.run.ledger, this.run.bars.close[this.row]);
  }

  #dayOf(row: number): number {
    return Math.floor(this.run.bars.time[row] / DAY_MS);
  }

  /** Positions closed on bars of this UTC day. */
  closedToday(): number {
    const today = this.#dayOf(this.row);
    let index = this.exitRows.length;
    while (index > 0 && this.#dayOf(this.exitRows[index - 1]) === today) index--;
    return this.exitRows.length - index;
  }

  /** Percent below the highest equity so far, the initial balance and this close included. */
  drawdown(): number {
    this.#markPast();
    const equity = this.equity();
    return ((Math.max(this.#peak, equity) - equity) / Math.max(this.#peak, equity)) * 100;
  }

  maxDrawdown(): number {
    return Math.max(this.drawdown(), this.#maxDrawdown);
  }

  /** Takes in the closes since the last reading. Done only when a field is read, so that other bars cost nothing. */
  #markPast(): void {
    const { equity, marked: rows } = this.run;
    for (const now = this.#instant(); this.#markedTo < now; this.#markedTo++) {
      const marked = equity[this.#markedTo - rows.start];
      if (marked > this.#peak) this.#peak = marked;
      const drawdown = ((this.#peak - marked) / this.#peak) * 100;
      if (drawdown > this.#maxDrawdown) this.#maxDrawdown = drawdown;
    }
  }

  /** The last mark of an earlier UTC day, the initial balance before the first. */
  equityBeforeToday(): number {
    const { equity, input, marked } = this.run;
    const today = this.#dayOf(this.row);
    let at = this.#instant() - 1;
    while (at >= marked.start && Math.floor(marked.time[at] / DAY_MS) === today) at--;
    return at < marked.start ? input.config.initialBalance : equity[at - marked.start];
  }

  /** The place of this row among the marks. */
  #instant(): number {
    const { instants } = this.run.marked;
    return instants === null ? this.row : instants[this.row];
  }
}
