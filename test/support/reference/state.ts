// State fields (semantics §1.11), and the record of them at every evaluated close (semantics §1.10).
import { STATE_FIELDS, type RunnableNodes } from '../../../src/engine/language/grammar/ast.ts';
import type { Book, Position } from './book.ts';
import { readsState } from './evaluate.ts';
import { stopInForce } from './levels.ts';

type StateField = RunnableNodes['state']['field'];
const DAY_MS = 86_400_000;

/** Fields of the position that is tested; every other field is of the account. */
export const POSITION_FIELDS: ReadonlySet<StateField> = new Set([
  'position_exists', 'position_side', 'position_size', 'position_entry_price', 'position_unrealized_pnl',
  'position_unrealized_pnl_pct', 'position_realized_pnl', 'position_bars_since_entry',
  'position_highest_since_entry', 'position_lowest_since_entry', 'position_mfe_pct', 'position_mae_pct',
  'position_stop_price',
]); // prettier-ignore

type Fields = Partial<Record<StateField, number>>;

function positionFields(position: Position, close: number, row: number): Fields {
  const { side, entryPrice, quantity } = position;
  const move = (price: number): number => ((side * (price - entryPrice)) / entryPrice) * 100;
  const [favorable, adverse] = [side * position.highest, side * position.lowest];
  const stop = stopInForce(position).price;
  return {
    position_exists: 1,
    position_side: side,
    position_size: quantity,
    position_entry_price: entryPrice,
    position_unrealized_pnl: side * quantity * (close - entryPrice),
    position_unrealized_pnl_pct: move(close),
    position_realized_pnl: position.realized,
    position_bars_since_entry: row - position.entryRow,
    position_highest_since_entry: Math.max(favorable, adverse),
    position_lowest_since_entry: Math.min(favorable, adverse),
    position_mfe_pct: move(favorable),
    position_mae_pct: move(adverse),
    position_stop_price: stop === -Infinity ? NaN : side * stop,
  };
}

const NO_POSITION: Fields = { position_exists: 0, position_side: 0, position_size: 0 };

/** @param marks equity at the closes before this one, from the first evaluated on. */
function accountFields(book: Book, row: number, marks: readonly number[]): Fields {
  const { account, positions, closed, input } = book;
  const { bars, config, start } = input;
  const close = bars.close[row];
  const equity = account.equity(positions, close);
  const day = (at: number): number => Math.floor(bars.time[at] / DAY_MS);
  const seen = [config.initialBalance, ...marks, equity];
  let peak = 0;
  const drawdowns = seen.map((mark) => {
    peak = Math.max(peak, mark);
    return ((peak - mark) / peak) * 100;
  });
  const lastOfEarlierDay = marks.findLastIndex((_, at) => day(start + at) < day(row));
  const dayBegan = lastOfEarlierDay < 0 ? config.initialBalance : marks[lastOfEarlierDay];
  return {
    position_bars_since_exit: row - book.lastFullExit,
    position_average_price:
      positions.reduce((sum, { quantity, entryPrice }) => sum + quantity * entryPrice, 0) /
      positions.reduce((sum, { quantity }) => sum + quantity, 0),
    open_positions_count: positions.length,
    instrument_positions_count: positions.length,
    account_balance: account.balance,
    account_equity: equity,
    account_gross_exposure: positions.reduce((sum, { quantity }) => sum + quantity * close, 0),
    account_used_margin: account.usedMargin(positions),
    account_available_collateral: account.freeCash(positions),
    account_margin_utilization: (account.usedMargin(positions) / equity) * 100,
    account_drawdown: drawdowns.at(-1)!,
    account_max_drawdown: Math.max(...drawdowns),
    account_day_pnl_pct: (equity / dayBegan - 1) * 100,
    trades_count_total: closed.length,
    trades_count_today: closed.filter((one) => day(one.row) === day(row)).length,
    wins_streak: streak(
      closed,
      (pnl) => pnl > 0,
      (pnl) => pnl < 0,
    ),
    losses_streak: streak(
      closed,
      (pnl) => pnl < 0,
      (pnl) => pnl > 0,
    ),
    last_trade_pnl: closed.at(-1)?.pnl ?? NaN,
    last_trade_pnl_pct: closed.at(-1)?.pnlPct ?? NaN,
    last_entry_price: book.lastEntryPrice,
    last_exit_price: book.lastExitPrice,
  };
}

/** How many at the end are of the kind, passing over zeros. */
function streak(
  closed: readonly { readonly pnl: number }[],
  isOfKind: (pnl: number) => boolean,
  ends: (pnl: number) => boolean,
): number {
  const from = closed.findLastIndex(({ pnl }) => ends(pnl)) + 1;
  return closed.slice(from).filter(({ pnl }) => isOfKind(pnl)).length;
}

/** Columns of every field over the rows of the base: NaN where nothing is recorded or the value is missing. */
type Columns = Map<StateField, number[]>;

export class StateRecord {
  readonly #book: Book;
  readonly #account: Columns = new Map();
  readonly #latest: Columns = new Map();
  readonly #positions = new Map<number, Columns>();
  readonly #isRead: boolean;

  constructor(book: Book) {
    this.#book = book;
    this.#isRead = readsState(book.input.strategy);
  }

  /** Records the close of `row`, before its orders. What nobody reads is not recorded. */
  record(row: number, marks: readonly number[]): void {
    const book = this.#book;
    if (!this.#isRead) return;
    const close = book.input.bars.close[row];
    write(this.#account, row, accountFields(book, row, marks));
    const latest = book.positions.at(-1);
    write(this.#latest, row, latest === undefined ? NO_POSITION : positionFields(latest, close, row));
    for (const position of book.positions) {
      if (row < position.firstRead) continue;
      const columns: Columns = this.#positions.get(position.id) ?? new Map<StateField, number[]>();
      this.#positions.set(position.id, columns);
      write(columns, row, positionFields(position, close, row));
    }
  }

  /** What an entry sees (null), or an exit of a position. */
  columns(position: Position | null, rows: number): (field: StateField) => readonly number[] {
    const ofPosition =
      position === null ? this.#latest : (this.#positions.get(position.id) ?? new Map<StateField, number[]>());
    return (field) => {
      const column = (POSITION_FIELDS.has(field) ? ofPosition : this.#account).get(field) ?? [];
      return Array.from({ length: rows }, (_, row) => column[row] ?? NaN);
    };
  }
}

function write(columns: Columns, row: number, fields: Fields): void {
  for (const field of STATE_FIELDS) {
    const column = columns.get(field) ?? [];
    columns.set(field, column);
    const value = fields[field] ?? NaN;
    column[row] = Number.isFinite(value) ? value : NaN;
  }
}
