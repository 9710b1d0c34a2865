// Import errors: why market data was refused, with the invalid rows.

export const REFUSAL_CODES = [
  'FILE_UNREADABLE',
  'FORMAT_UNKNOWN',
  'FILE_TOO_LARGE',
  'NO_ROWS',
  'COLUMN_MISSING',
  'COLUMN_DUPLICATE',
  'SEVERAL_INSTRUMENTS',
  'ROW_LENGTH',
  'TIME_UNREADABLE',
  'TIME_UNIT_MIXED',
  'TIME_DUPLICATE',
  'TIME_UNSORTED',
  'STEP_NOT_MULTIPLE',
  'TIMEFRAME_UNKNOWN',
  'VALUE_MISSING',
  'VALUE_NOT_A_NUMBER',
  'VALUE_NEGATIVE',
  'VALUE_ZERO',
  'HIGH_BELOW_LOW',
  'HIGH_BELOW_BODY',
  'LOW_ABOVE_BODY',
  'SERIES_EXISTS',
  'SERIES_CHANGED',
  'OVERLAP_DISAGREES',
  'SYMBOL_INVALID',
  'SYMBOL_MISMATCH',
  'INSTRUMENT_INVALID',
  'OPTION_INVALID',
  'PACKAGE_MISSING',
] as const;
type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface Refusal {
  readonly code: RefusalCode;
  /** 1-based number of the data row, not counting the header; null for the file as a whole. */
  readonly row: number | null;
  /** 1-based line of a text file, counting the header; null if unknown or not a text file. */
  readonly line: number | null;
  readonly message: string;
}

/** A longer list of invalid rows tells the author nothing new; the rest are counted. */
export const MAX_REFUSALS = 20;

/** Means that nothing was imported. `message` is the full text for people, `refusals` the same for programs. */
export class MarketDataError extends Error {
  override readonly name = 'MarketDataError';
  readonly refusals: readonly Refusal[];
  /** The number of refusals; `refusals` holds at most MAX_REFUSALS of them. */
  readonly total: number;
  /** The code of the first refusal. */
  readonly code: RefusalCode;

  /** @param message default: the refusals, line by line, and the number of those that are not listed */
  constructor(refusals: readonly Refusal[], total = refusals.length, message = listed(refusals, total)) {
    super(message);
    this.refusals = refusals;
    this.code = refusals[0].code;
    this.total = total;
  }
}

/** A refusal of the file as a whole. */
export function refuse(code: RefusalCode, message: string): never {
  throw new MarketDataError([{ code, row: null, line: null, message }]);
}

/** The refusals line by line, and the number of the rest. */
function listed(refusals: readonly Refusal[], total: number): string {
  const rest = total > refusals.length ? `\n… and ${total - refusals.length} more` : '';
  return refusals.map((refusal) => refusal.message).join('\n') + rest;
}

/** The refusals of one code in one column. */
interface ColumnFault {
  readonly code: RefusalCode;
  /** Empty for faults of a row as a whole. */
  readonly column: string;
  /** The first MAX_REFUSALS of them. */
  readonly refusals: Refusal[];
  total: number;
}

/** Fewer faults than this are listed even if every row has one: each line shows a value to correct. */
const MIN_WIDE_FAULTS = 5;

/** Collects the refusals of rows; `throwIfAny` ends the import with all of them. */
export class RefusalList {
  readonly #refusals: Refusal[] = [];
  readonly #faults = new Map<string, ColumnFault>();
  #total = 0;
  /** Line of the first data row; null when the file has no lines. */
  readonly #firstLine: number | null;

  /** The row of the file of each row that is checked; null: the same. */
  readonly #rows: Int32Array | null;

  constructor(firstLine: number | null, rows: Int32Array | null = null) {
    this.#firstLine = firstLine;
    this.#rows = rows;
  }

  /** The 1-based number of a row in the file. */
  rowNumber(index: number): number {
    return (this.#rows === null ? index : this.#rows[index]) + 1;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * @param index 0-based data row
   * @param column the column that is at fault, so that a fault in all of its rows is reported once
   */
  add(code: RefusalCode, index: number, message: string, column = ''): void {
    this.#total++;
    const key = `${code} ${column}`;
    const fault = this.#faults.get(key) ?? { code, column, refusals: [], total: 0 };
    this.#faults.set(key, fault);
    fault.total++;
    if (fault.refusals.length >= MAX_REFUSALS) return;
    const row = this.rowNumber(index);
    const line = this.#firstLine === null ? null : this.#firstLine + row - 1;
    const place = line === null || line === row ? `Row ${row}` : `Row ${row} (line ${line})`;
    const refusal = { code, row, line, message: `${place}: ${message}` };
    fault.refusals.push(refusal);
    if (this.#refusals.length < MAX_REFUSALS) this.#refusals.push(refusal);
  }

  throwIfAny(rowCount: number): void {
    if (this.#total > 0) throw new MarketDataError(this.#refusals, this.#total, this.#describe(rowCount));
  }

  /** One line for each code that more than half the rows of a column have, then the other rows as a list. */
  #describe(rowCount: number): string {
    const isWide = ({ total }: ColumnFault): boolean => total >= MIN_WIDE_FAULTS && total * 2 > rowCount;
    const faults = [...this.#faults.values()];
    const wide = Map.groupBy(faults.filter(isWide), ({ code }) => code);
    const lines = [...wide.values()].map((columns) => describeWide(columns, rowCount));
    const rest = faults.filter((fault) => !isWide(fault));
    const total = rest.reduce((sum, fault) => sum + fault.total, 0);
    const rows = rest.flatMap(({ refusals }) => refusals).toSorted((a, b) => a.row! - b.row!);
    if (total > 0) lines.push(listed(rows.slice(0, MAX_REFUSALS), total));
    return lines.join('\n');
  }
}

/** 'Row 1: open "1,5" is not a number. The same fault is in all 400 rows, in open, high, low and close.' */
function describeWide(faults: readonly ColumnFault[], rowCount: number): string {
  const [{ code, refusals }] = faults;
  const names = faults.map(({ column }) => column);
  const columns = names.length === 1 ? '' : `, in ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const [fewest, most] = [Math.min, Math.max].map((end) => end(...faults.map(({ total }) => total)));
  const rows =
    fewest === rowCount ? `all ${rowCount} rows` : `${fewest === most ? '' : 'up to '}${most} of ${rowCount} rows`;
  const swapped =
    code === 'HIGH_BELOW_LOW'
      ? ' Are the names of the columns high and low swapped? Name the right ones with --columns high=…,low=….'
      : '';
  return `${refusals[0].message}. The same fault is in ${rows}${columns}.${swapped}`;
}
