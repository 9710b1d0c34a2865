// Tables: what every file format is read into, before the meaning of its columns is known.

export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

/**
 * The cells of one column: a number where the cell is one, NaN elsewhere; `texts` holds what was written there instead.
 */
export interface Cells {
  readonly numbers: Float64Array;
  /** Sparse; null when every cell is a number or missing. */
  readonly texts: readonly (string | undefined)[] | null;
  /** Set if the format itself marks the column as instants. */
  readonly unit?: TimeUnit;
}

/** A cell as it is written: a number only where the format has numbers of its own, such as JSON. */
export type RawCell = string | number;

export interface Table {
  readonly format: 'csv' | 'json' | 'parquet' | 'arrow';
  /** One per column, as written in the file; null: the file has no header. */
  readonly names: readonly string[] | null;
  readonly rowCount: number;
  readonly columns: readonly Cells[];
  /** 1-based line of the first row in a text file, else null. */
  readonly firstLine: number | null;
  /** The cells of some columns as they are written, if the file is text and has formatted numbers, such as 1.234,5. */
  readonly raw?: ((columns: readonly number[]) => readonly (readonly RawCell[])[]) | undefined;
  /** What the reader did that the owner of the file should know about. */
  readonly notes: readonly string[];
}

/** A bar has at least a time and four prices. */
export const MIN_COLUMNS = 5;
/** Wide files are read (the features of a model); absurdly wide ones are refused before they exhaust memory. */
export const MAX_COLUMNS = 10_000;
/** 200 million float64 cells take 1.6 GB. */
export const MAX_CELLS = 200_000_000;

const MISSING_WORDS = new Set(['', 'nan', 'na', 'n/a', 'null', 'none', '-', 'nat']);

/** A column that grows cell by cell. */
export class CellsBuilder {
  #numbers: Float64Array;
  #texts: (string | undefined)[] | null = null;
  #length = 0;

  constructor(capacity = 1024) {
    this.#numbers = new Float64Array(capacity);
  }

  push(cell: unknown): void {
    if (this.#length === this.#numbers.length) {
      const grown = new Float64Array(this.#length * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const row = this.#length++;
    if (typeof cell === 'number') {
      this.#numbers[row] = cell;
      return;
    }
    if (typeof cell === 'bigint') {
      this.#numbers[row] = Number(cell);
      return;
    }
    this.#numbers[row] = NaN;
    const text = textOf(cell).trim();
    if (MISSING_WORDS.has(text.toLowerCase())) return;
    // "Infinity" and "0x1F" are numbers in JavaScript, but not in exported bars.
    const value = /^[-+.\d]/.test(text) && !/^[-+]?0[xob]/i.test(text) ? Number(text) : NaN;
    if (Number.isFinite(value)) this.#numbers[row] = value;
    else (this.#texts ??= [])[row] = text;
  }

  finish(unit?: TimeUnit): Cells {
    return { numbers: this.#numbers.subarray(0, this.#length), texts: this.#texts, unit };
  }
}

/** The text of a cell that is not a number; '' of a missing one. */
export function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? '' : cell.toISOString();
  return typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
}
