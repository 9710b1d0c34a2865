// Tables: what every file format is read into, before the meaning of its columns is known.
import { parseDateTime } from './dates.ts';

export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

/** How the times of a column are written in text, if all are alike: 2024-01-31T15:00:00Z. */
export interface IsoShape {
  /** The character between date and time. */
  readonly separator: number;
  /** Characters without the suffix. */
  readonly length: number;
  readonly suffix: string;
}

/**
 * The cells of one column: a number where the cell is one, NaN elsewhere; `texts` holds what was written there instead.
 */
export interface Cells {
  readonly numbers: Float64Array;
  /** Sparse; null when every cell is a number or missing. */
  readonly texts: readonly (string | undefined)[] | null;
  /** Set if the format itself marks the column as instants. */
  readonly unit?: TimeUnit;
  /** Set if the numbers are ms of what a text in ISO 8601 shows, whatever the zone. */
  readonly iso?: IsoShape;
}

/** A cell as it is written: a number only where the format has numbers of its own, such as JSON. */
export type RawCell = string | number;

export interface Table {
  readonly format: 'csv' | 'json' | 'parquet' | 'arrow';
  /** One per column, as written in the file; null: the file has no header. */
  readonly names: readonly string[] | null;
  readonly rowCount: number;
  readonly columns: readonly Cells[];
  /** Whose bars they are, if the file says so. */
  readonly symbol?: string | null;
  /** Whose each column is, in a file with columns of several symbols; null for a column of all. */
  readonly owners?: readonly (string | null)[] | null;
  /** The row of the file of each row, if the table has only some of them. */
  readonly rows?: Int32Array;
  /** 1-based line of the first row in a text file, else null. */
  readonly firstLine: number | null;
  /** The cells of some columns as they are written, if the file is text and has formatted numbers, such as 1.234,5. */
  readonly raw?: ((columns: readonly number[]) => readonly (readonly RawCell[])[]) | undefined;
  /** What the reader did that the owner of the file should know about. */
  readonly notes: readonly string[];
}

/** What a column of symbols says in a row; null if nothing. */
export function symbolOfRow({ numbers, texts }: Cells, row: number): string | null {
  return texts?.[row] ?? (Number.isNaN(numbers[row]) ? null : String(numbers[row]));
}

/** A bar has at least a time and four prices. */
export const MIN_COLUMNS = 5;
/** Wide files are read (the features of a model); absurdly wide ones are refused before they exhaust memory. */
export const MAX_COLUMNS = 10_000;
/** 200 million float64 cells take 1.6 GB. */
export const MAX_CELLS = 200_000_000;
/** Of a number. */
export const CELL_BYTES = 8;

const MISSING_WORDS = new Set(['', 'nan', 'na', 'n/a', '#n/a', '#n/a n/a', 'null', 'none', '-', '.', 'nat', '<na>']);

/** A column that grows cell by cell. */
export class CellsBuilder {
  #numbers: Float64Array;
  #texts: (string | undefined)[] | null = null;
  #length = 0;
  #iso: IsoShape | null = null;

  constructor(capacity = 1024) {
    this.#numbers = new Float64Array(capacity);
  }

  push(cell: unknown): void {
    if (this.#length === this.#numbers.length) this.reserve(this.#length * 2);
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
    if (this.#iso !== null && hasShape(text, this.#iso)) {
      this.#numbers[row] = parseDateTime(text)!.ms;
      return;
    }
    // "Infinity" and "0x1F" are numbers in JavaScript, but not in exported bars.
    const value = /^[-+.\d]/.test(text) && !/^[-+]?0[xob]/i.test(text) ? Number(text) : NaN;
    if (Number.isFinite(value)) this.#numbers[row] = value;
    else (this.#texts ??= [])[row] = text;
  }

  /** A cell that is known to be a number, or missing. */
  pushNumber(value: number): void {
    if (this.#length === this.#numbers.length) this.reserve(this.#length * 2);
    this.#numbers[this.#length++] = value;
  }

  /** Makes room for cells, so that a long column is not copied while it grows. */
  reserve(capacity: number): void {
    if (capacity <= this.#numbers.length) return;
    const grown = new Float64Array(capacity);
    grown.set(this.#numbers);
    this.#numbers = grown;
  }

  get length(): number {
    return this.#length;
  }

  get hasTexts(): boolean {
    return this.#texts !== null;
  }

  /** Turns texts that are all times of one shape into numbers; null, and nothing changed, if they are not. */
  asIso(shape: IsoShape | null): IsoShape | null {
    const texts = this.#texts;
    if (shape === null || texts === null) return null;
    for (let row = 0; row < this.#length; row++) if (!hasShape(texts[row], shape)) return null;
    for (let row = 0; row < this.#length; row++) this.#numbers[row] = parseDateTime(texts[row]!)!.ms;
    this.#texts = null;
    this.#iso = shape;
    return shape;
  }

  finish(unit?: TimeUnit): Cells {
    const numbers = this.#numbers.subarray(0, this.#length);
    return this.#iso === null
      ? { numbers, texts: this.#texts, unit }
      : { numbers, texts: this.#texts, unit: 'ms', iso: this.#iso };
  }
}

/** Whether a text is a time in this shape of ISO 8601. */
function hasShape(text: string | undefined, shape: IsoShape): boolean {
  const read = text === undefined ? null : parseDateTime(text);
  return read !== null && isoText(read.ms, shape) === text;
}

/** The text that a column had in this row. */
export function isoText(ms: number, { separator, length, suffix }: IsoShape): string {
  const text = new Date(ms).toISOString().slice(0, -1).padEnd(length, '0').slice(0, length);
  return text.replace('T', String.fromCharCode(separator)) + suffix;
}

/** The text of a cell that is not a number; '' of a missing one. */
export function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? '' : cell.toISOString();
  return typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
}
