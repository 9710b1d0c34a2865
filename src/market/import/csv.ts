// CSV: text tables with or without a header, of any common delimiter, into a Table.
import Papa from 'papaparse';
import { HEAD_LINES, isComment, readHead } from './csvHead.ts';
import type { CsvHead } from './csvHead.ts';
import { IsoShapeChanged, readPlainRows } from './csvRows.ts';
import { counted } from '../formatting.ts';
import { CellsBuilder, MAX_CELLS, MAX_COLUMNS, MIN_COLUMNS } from './table.ts';
import type { Table } from './table.ts';
import { RefusalList, refuse } from './importError.ts';
import { hasFormattedNumbers } from './numberFormat.ts';
import { parseDateTime } from './dates.ts';

/** Lines below the table, such as a total or the name of the vendor. */
const MAX_FOOTER_LINES = 5;
/** Enough for ten lines of most files. */
const HEAD_CHARACTERS = 10_000;
const QUOTE = 0x22;

/**
 * Reads text in UTF-8 (or ASCII).
 * @throws MarketDataError when the text is not a table, or its rows differ in length
 */
export function readCsv(bytes: Uint8Array): Table {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_CHARACTERS)).toString('utf8');
  const delimiter = clearDelimiterOf(head) || (bytes.includes(QUOTE) ? '' : plainDelimiterOf(head));
  if (delimiter === '' && isSpaced(head)) return readCsv(Buffer.from(textOf(bytes).replaceAll(/ +/g, '\t')));
  const table =
    bytes.includes(QUOTE) || delimiter === '' ? readQuoted(textOf(bytes), delimiter) : readPlain(bytes, delimiter);
  // Without `raw`, nothing refers to the text, and its memory is free while the bars are checked.
  return hasFormattedNumbers(table)
    ? { ...table, raw: (columns) => rawCells(textOf(bytes), delimiter, columns) }
    : table;
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

function readQuoted(text: string, delimiter: string): Table {
  return parsed(text, delimiter, new CsvReader()).finish();
}

/** Without quotes, a line ends where it ends, and most cells are numbers, which need no text. */
function readPlain(bytes: Uint8Array, delimiter: string): Table {
  try {
    return readPlainRows(bytes, delimiter, new CsvReader(true)).finish();
  } catch (error) {
    if (!(error instanceof IsoShapeChanged)) throw error;
    return readPlainRows(bytes, delimiter, new CsvReader()).finish();
  }
}

function parsed(text: string, delimiter: string, reader: CsvReader): CsvReader {
  Papa.parse<string[]>(text, {
    skipEmptyLines: false,
    delimiter,
    delimitersToGuess: [',', '\t', ';', '|'],
    step: (result) => reader.readLine(result.data),
  });
  return reader;
}

/**
 * The tab, semicolon or pipe that most of the first lines have between their cells; '' if there is none, and the
 * delimiter must be guessed. Decimal commas may be just as frequent and do not count against it.
 */
function clearDelimiterOf(head: string): string {
  const lines = head.split(/[\r\n]+/, 10).map((line) => line.replace(/"[^"]*"/g, ''));
  const isMostly = (delimiter: string): boolean =>
    2 * lines.filter((line) => line.split(delimiter).length >= MIN_COLUMNS).length > lines.length;
  return ['\t', ';', '|'].find(isMostly) ?? '';
}

/** A comma, or what else stands in most lines of a narrow table; '' if nothing does. */
function plainDelimiterOf(head: string): string {
  const lines = head.split(/[\r\n]+/, 10).filter((line) => line.trim() !== '');
  const has = (delimiter: string, cells: number): boolean =>
    2 * lines.filter((line) => line.split(delimiter).length >= cells).length > lines.length;
  return has(',', MIN_COLUMNS) ? ',' : ([';', '\t', '|', ','].find((delimiter) => has(delimiter, 2)) ?? '');
}

/** Whether most lines are cells with spaces between them, and nothing else. */
function isSpaced(head: string): boolean {
  const lines = head.split(/[\r\n]+/, 10).filter((line) => line.trim() !== '');
  const spaced = lines.filter((line) => !/["\t]/.test(line) && line.trim().split(/ +/).length >= MIN_COLUMNS);
  const widths = new Set(spaced.map((line) => line.trim().split(/ +/).length));
  return 2 * spaced.length > lines.length && widths.size === 1 && spaced.some((line) => /\d +[\d.]/.test(line));
}

function rawCells(text: string, delimiter: string, columns: readonly number[]): string[][] {
  const cells = columns.map((): string[] => []);
  parsed(
    text,
    delimiter,
    new CsvReader(false, (row) => columns.forEach((at, index) => cells[index].push(row[at]))),
  ).finish();
  return cells;
}

/** A line that may stand below the table. */
interface OddLine {
  readonly cells: readonly string[];
}

class CsvReader {
  /** Whether columns of ISO 8601 times may be read as numbers. */
  readonly readsIso: boolean;
  readonly #onRow: ((cells: readonly string[]) => void) | undefined;
  /** The lines before the head is known. */
  #first: { readonly cells: readonly string[]; readonly line: number }[] = [];
  #head: CsvHead | null = null;
  #columns: CellsBuilder[] = [];
  #line = 0;
  /** Line of the first data row; null once a skipped line between rows makes line numbers unknown. */
  #firstLine: number | null = 1;
  #rowCount = 0;
  #refusals = new RefusalList(null);
  #hasSkipped = false;
  #repeatedHeaders = 0;
  #comments = 0;
  #odd: OddLine[] = [];

  constructor(readsIso = false, onRow?: (cells: readonly string[]) => void) {
    this.readsIso = readsIso;
    this.#onRow = onRow;
  }

  /** The columns that rows are pushed to; none before the head is known. */
  get columns(): readonly CellsBuilder[] {
    return this.#columns;
  }

  readLine(cells: readonly string[]): void {
    this.#line++;
    if (this.#head !== null) return this.#readBody(cells);
    if (cells.every((cell) => cell.trim() === '')) return;
    this.#first.push({ cells, line: this.#line });
    if (this.#first.length === HEAD_LINES) this.#readHead();
  }

  /** A row of numbers, NaN for a missing one, and of texts in the columns that have them. */
  readRow(numbers: Float64Array, texts: readonly (string | null)[]): void {
    this.#line++;
    this.#beginRow();
    for (let at = 0; at < this.#columns.length; at++) {
      const text = texts[at];
      if (text === null) this.#columns[at].pushNumber(numbers[at]);
      else this.#columns[at].push(text);
    }
    this.#endRow();
  }

  /** Reads what was held back; called when all lines of the head are there. */
  #readHead(): void {
    const lines = this.#first;
    this.#first = [];
    this.#head = readHead(lines.map(({ cells }) => cells));
    if (this.#head === null) refuseText(lines[0]?.cells ?? []);
    const { width, firstRow } = this.#head;
    if (width > MAX_COLUMNS)
      refuse('FILE_TOO_LARGE', `The file has ${width} columns; at most ${MAX_COLUMNS} are read. Import fewer columns.`);
    this.#columns = Array.from({ length: width }, () => new CellsBuilder());
    this.#firstLine = lines[firstRow]?.line ?? 1;
    this.#refusals = new RefusalList(this.#firstLine);
    const last = this.#line;
    for (const { cells, line } of lines.slice(firstRow)) {
      // Blank lines between them were left out.
      if (this.#firstLine !== null && line !== this.#firstLine + this.#rowCount + this.#odd.length)
        this.#hasSkipped = true;
      this.#line = line;
      this.#readBody(cells);
    }
    this.#line = last;
  }

  #readBody(cells: readonly string[]): void {
    const { width, names } = this.#head!;
    const isBlank = cells.every((cell) => cell.trim() === '');
    if (isBlank) this.#hasSkipped = true;
    else if (isComment(cells)) {
      this.#comments++;
      this.#hasSkipped = true;
    } else if (
      names !== null &&
      cells[0].trim() === names[0] &&
      cells.every((cell, at) => cell.trim() === (names[at] ?? ''))
    ) {
      this.#repeatedHeaders++;
      this.#hasSkipped = true;
    } else if (this.#isOdd(cells)) this.#odd.push({ cells });
    else {
      this.#beginRow();
      for (let at = 0; at < width; at++) this.#columns[at].push(cells[at]);
      this.#onRow?.(cells);
      this.#endRow();
    }
  }

  /** Whether a line is too short or too long for a row, or has nothing but a word. */
  #isOdd(cells: readonly string[]): boolean {
    const { width } = this.#head!;
    if (cells.length > width) return cells.slice(width).some((cell) => cell.trim() !== '');
    return cells.length < width || (isWord(cells[0]) && cells.slice(1).every((cell) => cell.trim() === ''));
  }

  /** Before each row: odd lines above it are not below the table. */
  #beginRow(): void {
    if (this.#odd.length > 0) this.#pushOdd();
    if (this.#hasSkipped) this.#firstLine = null;
  }

  #endRow(): void {
    this.#rowCount++;
    if (this.#rowCount * this.#columns.length > MAX_CELLS)
      refuse('FILE_TOO_LARGE', `The file has more than ${MAX_CELLS} cells. Import fewer columns or a shorter range.`);
  }

  /** Odd lines as rows, which are refused. */
  #pushOdd(): void {
    const odd = this.#odd;
    this.#odd = [];
    const { width } = this.#head!;
    for (const { cells } of odd) {
      if (cells.length !== width)
        this.#refusals.add('ROW_LENGTH', this.#rowCount, `${cells.length} cells, expected ${width}`);
      for (let at = 0; at < width; at++) this.#columns[at].push(cells[at]);
      this.#onRow?.(cells);
      this.#endRow();
    }
  }

  /** @throws MarketDataError */
  finish(): Table {
    if (this.#head === null) {
      if (this.#first.length === 0) refuse('NO_ROWS', 'The file is empty.');
      this.#readHead();
    }
    const { names, symbol, owners, notes } = this.#head!;
    const isFooter = this.#odd.length <= MAX_FOOTER_LINES && this.#odd.every(({ cells }) => isWord(cells[0]));
    const footer = isFooter ? this.#odd : [];
    if (!isFooter) this.#pushOdd();
    this.#refusals.throwIfAny(this.#rowCount);
    return {
      format: 'csv',
      names,
      rowCount: this.#rowCount,
      columns: this.#columns.map((column) => column.finish()),
      firstLine: this.#firstLine,
      symbol,
      owners,
      notes: [
        ...notes,
        ...footer.map(({ cells }) => `Skipped "${cells.join(',').slice(0, 80)}" below the table.`),
        ...(this.#comments > 0 ? [`Skipped ${counted(this.#comments, 'line')} that begin with # or //.`] : []),
        ...(this.#repeatedHeaders > 0
          ? [`Skipped ${counted(this.#repeatedHeaders, 'repetition')} of the header.`]
          : []),
      ],
    };
  }
}

/** Whether a cell is neither a number nor a time. */
const isWord = (cell = ''): boolean => /\p{L}/u.test(cell) && parseDateTime(cell) === null && !/^\s*\d/.test(cell);

function refuseText(cells: readonly string[]): never {
  refuse(
    'FORMAT_UNKNOWN',
    `The file is not a table of bars: it begins "${cells.join(',').slice(0, 80)}". Each row needs at least a time, ` +
      'open, high, low and close, or a time and a close, with commas, semicolons, tabs or pipes between them.',
  );
}
