// The rows of text without quotes, read from its bytes: numbers and ISO 8601 times without a text for each cell. A line
// that is not like the first row is split as text.
import { DAY_MS } from '../../engine/bars/bars.ts';
import type { CellsBuilder, IsoShape } from './table.ts';

const [LF, CR, SPACE, PLUS, MINUS, POINT, ZERO, NINE, COLON] = [10, 13, 32, 43, 45, 46, 48, 57, 58];
const [HASH, SLASH, LETTER_E, LETTER_T, SMALL_E] = [35, 47, 69, 84, 101];
/** The product of an integer below 2^53 and a power of ten up to here is rounded once. */
const POWERS = Float64Array.from({ length: 23 }, (_, at) => Number(`1e${at}`));
const MAX_DIGITS = 15;
/** 2024-01-31T15:00 */
const ISO_MINUTE = 16;

/** A time column that began in one form of ISO 8601 goes on in another: it must be read as text. */
export class IsoShapeChanged extends Error {}

/** What the lines of a text are given to. */
interface LineReader {
  /** Whether columns of ISO 8601 times may be read as numbers. */
  readonly readsIso: boolean;
  /** The columns that rows are pushed to; none before the head is known. */
  readonly columns: readonly CellsBuilder[];
  readonly readLine: (cells: readonly string[]) => void;
  /** A row of numbers, NaN for a missing one, and of texts in the columns that have them. */
  readonly readRow: (numbers: Float64Array, texts: readonly (string | null)[]) => void;
}

/** Reads every line. @throws MarketDataError, IsoShapeChanged */
export function readPlainRows<Reader extends LineReader>(bytes: Uint8Array, delimiter: string, reader: Reader): Reader {
  new PlainRows(bytes, delimiter.charCodeAt(0), reader).read();
  return reader;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

class PlainRows {
  readonly #bytes: Uint8Array;
  readonly #text: Buffer;
  readonly #delimiter: number;
  readonly #reader: LineReader;
  #at = 0;
  /** The cells of the current row. */
  #numbers = new Float64Array(0);
  /** Per column, how its times are written; null: it has none. */
  #shapes: (IsoShape | null)[] = [];
  /** Per column, the text of the last row that had one; null: a column of numbers. */
  #texts: (string | null)[] = [];
  #days = new Map<number, number>();

  constructor(bytes: Uint8Array, delimiter: number, reader: LineReader) {
    this.#bytes = bytes;
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#delimiter = delimiter;
    this.#reader = reader;
  }

  read(): void {
    const bytes = this.#bytes;
    const reader = this.#reader;
    while (this.#at < bytes.length) {
      const start = this.#at;
      if (reader.columns.length > 0 && this.#readRow()) reader.readRow(this.#numbers, this.#texts);
      else {
        this.#at = start;
        this.#readLine();
      }
    }
  }

  /** A line as text. The first row decides which columns hold texts and ISO 8601 times. */
  #readLine(): void {
    const bytes = this.#bytes;
    let end = this.#at;
    while (end < bytes.length && bytes[end] !== LF && bytes[end] !== CR) end++;
    const cells = this.#text.toString('utf8', this.#at, end).split(String.fromCharCode(this.#delimiter));
    this.#at = end + (bytes[end] === CR && bytes[end + 1] === LF ? 2 : 1);
    const before = this.#reader.columns.length;
    this.#reader.readLine(cells);
    if (before === 0 && this.#reader.columns.length > 0) this.#begin(cells, end);
    else if (before > 0) this.#refuseShapes();
  }

  /** Rows that were pushed as text cannot be followed by times that are numbers, unless the reader is told so. */
  #begin(cells: readonly string[], lineEnd: number): void {
    const { columns, readsIso } = this.#reader;
    this.#numbers = new Float64Array(columns.length);
    // The average length of the lines so far, with room for longer ones.
    const expected = Math.ceil((1.1 * this.#bytes.length * (columns[0].length + 1)) / (lineEnd + 1)) + 16;
    for (const column of columns) column.reserve(expected);
    this.#shapes = columns.map((column, at) => (readsIso ? column.asIso(shapeOf(cells[at] ?? '')) : null));
    this.#texts = columns.map((column, at) => (column.hasTexts ? (cells[at] ?? '') : null));
  }

  #refuseShapes(): void {
    for (const [at, shape] of this.#shapes.entries())
      if (shape !== null && this.#reader.columns[at].hasTexts) throw new IsoShapeChanged();
  }

  /** Whether the line is like the first row; then `#numbers` and `#texts` hold it and the next line is next. */
  #readRow(): boolean {
    const bytes = this.#bytes;
    const last = this.#numbers.length - 1;
    let at = this.#at;
    let numbers = 0;
    for (let column = 0; column <= last; column++) {
      const shape = this.#shapes[column];
      const text = this.#texts[column];
      const value =
        text !== null ? this.#readText(at, column, text) : shape === null ? this.#number(at) : this.#iso(at, shape);
      if (value === undefined) return false;
      if (!Number.isNaN(value)) numbers++;
      this.#numbers[column] = value;
      at = this.#at;
      const byte = at < bytes.length ? bytes[at] : LF;
      if (column < last ? byte !== this.#delimiter : byte !== LF && byte !== CR) return false;
      at += byte === CR && bytes[at + 1] === LF ? 2 : 1;
      // A missing value in the first cell may be a blank line.
      if (column === 0 && text === null && Number.isNaN(value)) return false;
    }
    this.#at = at;
    // A line of words may stand below the table.
    return numbers > 0;
  }

  /** NaN for a cell of text, which is most often that of the row above; undefined for what may be a remark. */
  #readText(start: number, column: number, before: string): number | undefined {
    const bytes = this.#bytes;
    let at = start;
    let isSame = true;
    for (; at < bytes.length && bytes[at] !== this.#delimiter && bytes[at] !== LF && bytes[at] !== CR; at++)
      if (isSame && bytes[at] !== before.charCodeAt(at - start)) isSame = false;
    this.#at = at;
    if (column === 0 && (bytes[start] === HASH || bytes[start] === SLASH || at === start)) return undefined;
    if (!isSame || at - start !== before.length) this.#texts[column] = this.#text.toString('utf8', start, at);
    return NaN;
  }

  /** The number that begins at a byte, NaN for an empty cell; undefined for what is neither. */
  #number(start: number): number | undefined {
    const bytes = this.#bytes;
    let at = start;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    let value = 0;
    let digits = 0;
    let decimals = 0;
    let byte = bytes[at];
    while (byte >= ZERO && byte <= NINE) {
      value = value * 10 + byte - ZERO;
      digits++;
      byte = bytes[++at];
    }
    if (byte === POINT && digits > 0) {
      byte = bytes[++at];
      while (byte >= ZERO && byte <= NINE) {
        value = value * 10 + byte - ZERO;
        digits++;
        decimals++;
        byte = bytes[++at];
      }
    }
    const isScientific = digits > 0 && (byte === LETTER_E || byte === SMALL_E);
    if (isScientific)
      do at++;
      while (isDigit(bytes[at]) || bytes[at] === MINUS || bytes[at] === PLUS);
    this.#at = at;
    if (digits === 0) return isNegative ? undefined : NaN;
    if (digits > MAX_DIGITS || isScientific) {
      const long = Number(this.#text.toString('latin1', start, at));
      // NaN is a missing value here, and 1e is none.
      return Number.isFinite(long) ? long : undefined;
    }
    if (decimals > 0) value /= POWERS[decimals];
    return isNegative ? -value : value;
  }

  /** The time that begins at a byte, if it has the shape of its column. */
  #iso(start: number, shape: IsoShape): number | undefined {
    const bytes = this.#bytes;
    const pair = (at: number): number => (bytes[at] - ZERO) * 10 + bytes[at + 1] - ZERO;
    const end = start + shape.length;
    this.#at = end + shape.suffix.length;
    if (bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS || bytes[start + 10] !== shape.separator)
      return undefined;
    if (bytes[start + 13] !== COLON) return undefined;
    const key = (pair(start) * 100 + pair(start + 2)) * 10_000 + pair(start + 5) * 100 + pair(start + 8);
    const day = this.#days.get(key) ?? this.#newDay(key);
    const [hour, minute] = [pair(start + 11), pair(start + 14)];
    let ms = hour * 3_600_000 + minute * 60_000;
    if (!(hour < 24 && minute < 60)) return undefined;
    if (shape.length > ISO_MINUTE) {
      const second = pair(start + 17);
      if (bytes[start + 16] !== COLON || !(second < 60)) return undefined;
      ms += second * 1000;
    }
    if (shape.length > ISO_MINUTE + 3) {
      if (bytes[start + 19] !== POINT) return undefined;
      const fraction = Number(this.#text.toString('latin1', start + 19, end));
      if (Number.isNaN(fraction)) return undefined;
      ms += Math.round(fraction * 1000);
    }
    for (let at = 0; at < shape.suffix.length; at++)
      if (bytes[end + at] !== shape.suffix.charCodeAt(at)) return undefined;
    const time = day + ms;
    return Number.isNaN(time) ? undefined : time;
  }

  /** NaN for what is not a day. */
  #newDay(key: number): number {
    const [year, month, day] = [Math.floor(key / 10_000), Math.floor(key / 100) % 100, key % 100];
    const time = Date.UTC(year, month - 1, day);
    const isDay =
      year >= 1000 && month >= 1 && month <= 12 && new Date(time).getUTCDate() === day && time % DAY_MS === 0;
    this.#days.set(key, isDay ? time : NaN);
    return isDay ? time : NaN;
  }
}

/** How a time is written, if it is ISO 8601 in UTC or without a zone, with a time of day. */
function shapeOf(text: string): IsoShape | null {
  const match = /^(\d{4}-\d\d-\d\d([ T])\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|\+00:00|)$/.exec(text);
  if (match === null) return null;
  return { separator: match[2] === 'T' ? LETTER_T : SPACE, length: match[1].length, suffix: match[3] };
}
