// The head of a text table: lines above it, its header of one to three lines, and where its rows begin.
import { NAMES, normalizeName } from './columnNames.ts';
import { parseDateTime } from './dates.ts';
import { isFormattedNumber } from './numberFormat.ts';
import { MIN_COLUMNS } from './table.ts';

export interface CsvHead {
  /** null: the file has no header. */
  readonly names: readonly string[] | null;
  /** Cells of a row. */
  readonly width: number;
  /** Index of the first row among the lines. */
  readonly firstRow: number;
  readonly symbol: string | null;
  /** Whose each column is, if the header names several symbols. */
  readonly owners: readonly (string | null)[] | null;
  readonly notes: readonly string[];
}

/** Lines that are looked at. */
export const HEAD_LINES = 60;
/** Most lines above the table: titles, addresses, remarks. */
const MAX_PREAMBLE_LINES = 40;
const MAX_HEADER_LINES = 3;
/** A time and a price. */
const MIN_WIDTH = 2;
const PRICE_NAMES: readonly ReadonlySet<string>[] = [NAMES.open, NAMES.high, NAMES.low, NAMES.close].map(
  (aliases) => new Set<string>(aliases),
);
/** What may stand under the names of columns, and is not a ticker. */
const UNITS =
  /^\W*(?:usd|eur|gbp|jpy|chf|usdt|us ?dollars?|dollars?|euros?|cents?|shares|units|contracts|price|float|double)\W*$/i;
const FIELDS: ReadonlySet<string> = new Set([
  ...NAMES.open, ...NAMES.high, ...NAMES.low, ...NAMES.close, ...NAMES.volume, ...NAMES.adjustedClose,
]); // prettier-ignore

/** @param lines the first lines, blank ones left out; null: this is not a table of bars */
export function readHead(lines: readonly (readonly string[])[]): CsvHead | null {
  const width = commonestWidth(lines);
  if (width === null) return null;
  const start = lines.findIndex(
    (cells, at) =>
      !isComment(cells) &&
      (cells.length === width ||
        // A header without the name of the index, or without the comma that ends each row.
        (cells.length === width - 1 && lines[at + 1]?.length === width && isHeader(cells))),
  );
  if (start < 0 || start > MAX_PREAMBLE_LINES) return null;
  let firstRow = start;
  while (
    firstRow < lines.length &&
    firstRow - start < MAX_HEADER_LINES &&
    isHeaderLine(lines[firstRow], firstRow === start)
  )
    firstRow++;
  const commented = firstRow === start ? commentedHeader(lines, start, width) : null;
  const header = commented ? [commented] : lines.slice(start, firstRow);
  if (width < MIN_COLUMNS && !isNarrowTable(lines[firstRow], header)) return null;
  const above = lines.slice(0, commented ? start - 1 : start);
  const notes = above.map((cells) => `Skipped "${cells.join(',').slice(0, 80)}" above the table.`);
  return { ...readNames(header, lines.slice(firstRow), width), width, firstRow, notes };
}

/** Whether a line is a remark. */
export const isComment = ([first = '']: readonly string[]): boolean => /^\s*(?:#|\/\/)/.test(first);

/**
 * A line is a header if most of the cells that should be prices are not numbers; one of them may be a time or missing.
 */
function isHeader(cells: readonly string[]): boolean {
  const others = cells.slice(1, Math.max(MIN_WIDTH, Math.min(MIN_COLUMNS, cells.length)));
  const numbers = others.filter((cell) => cell.trim() !== '' && isNumber(cell.trim()));
  return cells.length < MIN_COLUMNS ? numbers.length === 0 : numbers.length < MIN_COLUMNS - 2;
}

const isNumber = (cell: string): boolean => isFormattedNumber(cell) || Number.isFinite(Number(cell));

/** A line below the first of a header has no number at all, and no time. */
function isHeaderLine(cells: readonly string[], isFirst: boolean): boolean {
  if (isComment(cells)) return false;
  if (isFirst) return isHeader(cells);
  const isWord = (cell: string): boolean => cell.trim() === '' || !/\d/.test(cell) || /\p{L}/u.test(cell);
  return parseDateTime(cells[0]) === null && !/^\s*\d/.test(cells[0]) && cells.slice(1).every(isWord) && hasText(cells);
}

const hasText = (cells: readonly string[]): boolean => cells.some((cell) => /\p{L}/u.test(cell));

/** The number of cells that most lines have; the larger one on a tie, since banners are short. */
function commonestWidth(lines: readonly (readonly string[])[]): number | null {
  const counts = new Map<number, number>();
  for (const cells of lines)
    if (cells.length >= MIN_WIDTH && !isComment(cells)) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  let best: number | null = null;
  for (const [width, count] of counts) {
    const most = best === null ? 0 : counts.get(best)!;
    if (best === null || count > most || (count === most && width > best)) best = width;
  }
  return best;
}

/** "# time,open,high,low,close", as numpy writes a header. */
function commentedHeader(
  lines: readonly (readonly string[])[],
  start: number,
  width: number,
): readonly string[] | null {
  const cells = lines[start - 1];
  if (cells?.length !== width || !isComment(cells) || !isHeader(cells)) return null;
  return [cells[0].replace(/^\s*(?:#|\/\/)\s*/, ''), ...cells.slice(1)];
}

/** Two to four columns are a table of bars if a time and a number stand in them. */
function isNarrowTable(row: readonly string[] | undefined, header: readonly (readonly string[])[]): boolean {
  if (row === undefined) return header.length > 0 && header[0].length > MIN_WIDTH;
  const isTime = (cell: string): boolean =>
    parseDateTime(cell) !== null || /^\d{4,}(?:\.\d+)?$/.test(cell.trim()) || /^\d\d?[-/.]/.test(cell);
  return row.some(isTime) && row.some((cell) => /^[-+$€£]?[\d.,]+$/.test(cell.trim()));
}

function readNames(
  header: readonly (readonly string[])[],
  rows: readonly (readonly string[])[],
  width: number,
): Pick<CsvHead, 'names' | 'symbol' | 'owners'> {
  if (header.length === 0) return { names: null, symbol: null, owners: null };
  const lines = header.map((cells) => fittedNames(cells, rows, width));
  const fieldLine = lines.findIndex(
    (cells) => cells.slice(1).filter((cell) => FIELDS.has(normalizeName(cell))).length >= 4,
  );
  if (lines.length === 1 || fieldLine < 0) return { names: lines[0], symbol: null, owners: null };
  // yfinance writes the fields, the tickers and the name of the index: Price,Close,…; Ticker,AAPL,…; Date,,,
  const tickers = lines.find(
    (cells, at) => at !== fieldLine && cells.slice(1).some((cell) => cell !== '' && !/^[([]/.test(cell)),
  );
  const indexName = lines.find((cells) => /^(?:date|datetime|time|timestamp)$/i.test(cells[0]))?.[0] ?? 'Date';
  const names = [indexName, ...lines[fieldLine].slice(1)];
  const symbols = [...new Set(tickers?.slice(1).filter((cell) => cell !== ''))];
  const isSymbol = (symbol: string): boolean =>
    !UNITS.test(symbol) &&
    PRICE_NAMES.every((aliases) =>
      names.some((name, at) => tickers![at] === symbol && aliases.has(normalizeName(name))),
    );
  // A line of units is not one of symbols.
  if (symbols.length === 0 || !symbols.every(isSymbol)) return { names, symbol: null, owners: null };
  if (symbols.length === 1) return { names, symbol: symbols[0], owners: null };
  return { names, symbol: null, owners: tickers!.map((cell, at) => (at === 0 || cell === '' ? null : cell)) };
}

/** The names for all cells of a row: R leaves out the name of the index, and some rows end in a comma. */
function fittedNames(cells: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const names = cells.map((cell) => cell.trim());
  if (names.length === width) return names;
  const isEmptyAtEnd = rows.every((row) => row.length !== width || row[width - 1].trim() === '');
  return isEmptyAtEnd ? [...names, ''] : ['', ...names];
}
