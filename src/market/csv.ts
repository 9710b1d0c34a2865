// CSV: text tables with or without a header, of any common delimiter, into a Table.
import Papa from 'papaparse';
import { CellsBuilder, MAX_CELLS, MAX_COLUMNS, MIN_COLUMNS } from './table.ts';
import type { Table } from './table.ts';
import { RefusalList, refuse } from './importError.ts';
import { hasFormattedNumbers, isFormattedNumber } from './numberFormat.ts';

/** Lines above the table: a link (CryptoDataDownload writes one), a title, a remark. */
const MAX_PREAMBLE_LINES = 5;

/** @throws MarketDataError when the text is not a table, or its rows differ in length */
export function readCsv(text: string): Table {
  const table = parsed(text, new CsvReader()).finish();
  // Without `raw`, nothing refers to the text, and its memory is free while the bars are checked.
  return hasFormattedNumbers(table) ? { ...table, raw: (columns) => rawCells(text, columns) } : table;
}

function parsed(text: string, reader: CsvReader): CsvReader {
  Papa.parse<string[]>(text, {
    skipEmptyLines: false,
    delimiter: clearDelimiterOf(text),
    delimitersToGuess: [',', '\t', ';', '|'],
    step: (result) => reader.readLine(result.data),
  });
  return reader;
}

/** Enough for ten lines of most files. */
const HEAD_CHARACTERS = 10_000;

/**
 * The tab, semicolon or pipe that most of the first lines have between their cells; '' if there is none, and the
 * delimiter must be guessed. Decimal commas may be just as frequent and do not count against it.
 */
function clearDelimiterOf(text: string): string {
  const lines = text
    .slice(0, HEAD_CHARACTERS)
    .split(/[\r\n]+/, 10)
    .map((line) => line.replace(/"[^"]*"/g, ''));
  const isMostly = (delimiter: string): boolean =>
    2 * lines.filter((line) => line.split(delimiter).length >= MIN_COLUMNS).length > lines.length;
  return ['\t', ';', '|'].find(isMostly) ?? '';
}

function rawCells(text: string, columns: readonly number[]): string[][] {
  const cells = columns.map((): string[] => []);
  parsed(text, new CsvReader((row) => columns.forEach((at, index) => cells[index].push(row[at]))));
  return cells;
}

class CsvReader {
  #names: string[] | null = null;
  #columns: CellsBuilder[] = [];
  readonly #preamble: string[] = [];
  #line = 0;
  /** Line of the first data row; null once a blank line between rows makes line numbers unknown. */
  #firstLine: number | null = 1;
  #rowCount = 0;
  #refusals = new RefusalList(null);
  #isYfinanceHead = false;
  #hasBlanks = false;
  readonly #onRow: ((cells: readonly string[]) => void) | undefined;

  constructor(onRow?: (cells: readonly string[]) => void) {
    this.#onRow = onRow;
  }

  readLine(cells: string[]): void {
    this.#line++;
    const isBlank = cells.every((cell) => cell.trim() === '') && cells.length !== this.#columns.length;
    if (this.#columns.length === 0) {
      if (!isBlank) this.#readFirstLine(cells);
    } else if (this.#isYfinanceHead && this.#rowCount === 0 && /^(Ticker|Date|Datetime)$/.test(cells[0].trim())) {
      // yfinance writes three header lines: Price,Close,…; Ticker,AAPL,…; Date,,,
      this.#names![0] = 'Date';
      this.#startRowsAt(this.#line + 1);
    } else if (isBlank) {
      this.#hasBlanks = true;
    } else {
      this.#readRow(cells);
    }
  }

  /** @throws MarketDataError */
  finish(): Table {
    if (this.#columns.length === 0 && this.#preamble.length > 0) refuseText(this.#preamble);
    this.#refusals.throwIfAny(this.#rowCount);
    return {
      format: 'csv',
      names: this.#names,
      rowCount: this.#rowCount,
      columns: this.#columns.map((column) => column.finish()),
      firstLine: this.#firstLine,
      notes: this.#preamble.map((line) => `Skipped "${line}" above the table.`),
    };
  }

  #readFirstLine(cells: string[]): void {
    if (cells.length > MAX_COLUMNS)
      refuse(
        'FILE_TOO_LARGE',
        `The file has ${cells.length} columns; at most ${MAX_COLUMNS} are read. Import fewer columns.`,
      );
    if (cells.length < MIN_COLUMNS) {
      this.#preamble.push(cells.join(',').slice(0, 80));
      if (this.#preamble.length > MAX_PREAMBLE_LINES) refuseText(this.#preamble);
      return;
    }
    this.#isYfinanceHead = cells[0].trim() === 'Price';
    this.#columns = cells.map(() => new CellsBuilder());
    if (isHeader(cells)) {
      this.#names = cells.map((cell) => cell.trim());
      this.#startRowsAt(this.#line + 1);
    } else {
      this.#startRowsAt(this.#line);
      this.#readRow(cells);
    }
  }

  #startRowsAt(line: number): void {
    this.#firstLine = line;
    this.#refusals = new RefusalList(line);
  }

  #readRow(cells: string[]): void {
    if (this.#hasBlanks) this.#firstLine = null;
    const width = this.#columns.length;
    if (cells.length !== width)
      this.#refusals.add('ROW_LENGTH', this.#rowCount, `${cells.length} cells, expected ${width}`);
    for (let at = 0; at < width; at++) this.#columns[at].push(cells[at]);
    this.#onRow?.(cells);
    this.#rowCount++;
    if (this.#rowCount * width > MAX_CELLS)
      refuse('FILE_TOO_LARGE', `The file has more than ${MAX_CELLS} cells. Import fewer columns or a shorter range.`);
  }
}

/**
 * A line is a header if most of the cells that should be prices are not numbers; one of them may be a time or missing.
 */
function isHeader(cells: readonly string[]): boolean {
  const isNumber = (cell: string): boolean => isFormattedNumber(cell) || Number.isFinite(Number(cell));
  const numbers = cells.slice(1, MIN_COLUMNS).filter((cell) => cell.trim() !== '' && isNumber(cell.trim()));
  return numbers.length < MIN_COLUMNS - 2;
}

function refuseText([line]: readonly string[]): never {
  refuse(
    'FORMAT_UNKNOWN',
    `The file is not a table of bars: it begins "${line}". Each row needs at least a time, open, high, low and close.`,
  );
}
