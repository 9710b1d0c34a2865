// CSV: text tables with or without a header, of any common delimiter, into a Table.
import Papa from 'papaparse';
import { CellsBuilder, MAX_CELLS, MAX_COLUMNS } from './table.ts';
import type { Table } from './table.ts';
import { RefusalList, refuse } from './refusal.ts';

/** A bar has at least a time and four prices. */
const MIN_COLUMNS = 5;

/** @throws MarketDataError when the text is no table, or its rows are of different lengths */
export function readCsv(text: string): Table {
  let names: string[] | null = null;
  let columns: CellsBuilder[] = [];
  let line = 0;
  /** Known as long as no blank line stands between the rows. */
  let firstLine: number | null = 1;
  let rowCount = 0;
  let refusals = new RefusalList(null);
  let isYfinanceHead = false;
  let hasBlanks = false;
  const step = (cells: string[]): void => {
    line++;
    const isBlank = cells.every((cell) => cell.trim() === '') && cells.length !== columns.length;
    if (columns.length === 0) {
      if (isBlank) return;
      checkWidth(cells);
      isYfinanceHead = cells[0].trim() === 'Price';
      columns = cells.map(() => new CellsBuilder());
      firstLine = line;
      refusals = new RefusalList(line);
      if (isHeader(cells)) {
        names = cells.map((cell) => cell.trim());
        firstLine = line + 1;
        refusals = new RefusalList(firstLine);
        return;
      }
    } else if (isYfinanceHead && rowCount === 0 && /^(Ticker|Date|Datetime)$/.test(cells[0].trim())) {
      // yfinance writes three lines of header: Price,Close,…; Ticker,AAPL,…; Date,,,
      names![0] = 'Date';
      firstLine = line + 1;
      refusals = new RefusalList(firstLine);
      return;
    }
    if (isBlank) {
      hasBlanks = true;
      return;
    }
    if (hasBlanks) firstLine = null;
    if (cells.length !== columns.length) {
      refusals.add('ROW_LENGTH', rowCount, `${cells.length} cells, expected ${columns.length}`);
    }
    for (let at = 0; at < columns.length; at++) columns[at].push(cells[at]);
    rowCount++;
    if (rowCount * columns.length > MAX_CELLS)
      refuse('FILE_TOO_LARGE', `More than ${MAX_CELLS} cells: import fewer columns or a shorter range.`);
  };
  Papa.parse<string[]>(text, {
    skipEmptyLines: false,
    delimitersToGuess: [',', '\t', ';', '|'],
    step: (result) => step(result.data),
  });
  refusals.throwIfAny();
  return { format: 'csv', names, rowCount, columns: columns.map((column) => column.finish()), firstLine };
}

function checkWidth(cells: readonly string[]): void {
  if (cells.length > MAX_COLUMNS) refuse('FILE_TOO_LARGE', `${cells.length} columns; at most ${MAX_COLUMNS} are read.`);
  if (cells.length >= MIN_COLUMNS) return;
  const start = cells.join(',').slice(0, 80);
  refuse(
    'FORMAT_UNKNOWN',
    `The file is no table of bars: its first line has ${cells.length} cells ("${start}"), and a bar needs time, open, high, low and close.`,
  );
}

/** A line is a header when what should be prices are no numbers. */
function isHeader(cells: readonly string[]): boolean {
  return !cells.slice(1, MIN_COLUMNS).every((cell) => cell.trim() !== '' && Number.isFinite(Number(cell)));
}
