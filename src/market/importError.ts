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
  'INSTRUMENT_INVALID',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

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

  constructor(refusals: readonly Refusal[], total = refusals.length) {
    const rest = total > refusals.length ? `\n… and ${total - refusals.length} more` : '';
    super(refusals.map((refusal) => refusal.message).join('\n') + rest);
    this.refusals = refusals;
    this.code = refusals[0].code;
    this.total = total;
  }
}

/** A refusal of the file as a whole. */
export function refuse(code: RefusalCode, message: string): never {
  throw new MarketDataError([{ code, row: null, line: null, message }]);
}

/** Collects the refusals of rows; `throwIfAny` ends the import with all of them. */
export class RefusalList {
  readonly #refusals: Refusal[] = [];
  #total = 0;
  /** Line of the first data row; null when the file has no lines. */
  readonly #firstLine: number | null;

  constructor(firstLine: number | null) {
    this.#firstLine = firstLine;
  }

  get total(): number {
    return this.#total;
  }

  /** @param index 0-based data row */
  add(code: RefusalCode, index: number, message: string): void {
    this.#total++;
    if (this.#refusals.length >= MAX_REFUSALS) return;
    const row = index + 1;
    const line = this.#firstLine === null ? null : this.#firstLine + index;
    const place = line === null || line === row ? `Row ${row}` : `Row ${row} (line ${line})`;
    this.#refusals.push({ code, row, line, message: `${place}: ${message}` });
  }

  throwIfAny(): void {
    if (this.#total > 0) throw new MarketDataError(this.#refusals, this.#total);
  }
}
