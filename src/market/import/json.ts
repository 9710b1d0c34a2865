// JSON: lists of bars, bare or inside the answer of an exchange, into a Table.
import { hasFormattedNumbers } from './numberFormat.ts';
import { barListsIn } from './jsonShapes.ts';
import type { BarList } from './jsonShapes.ts';
import { MarketDataError, refuse } from './importError.ts';
import { CellsBuilder, MAX_CELLS, MAX_COLUMNS, textOf } from './table.ts';
import type { RawCell, Table } from './table.ts';

const EXPECTED = 'Expected a list of bars: [[time, open, high, low, close, volume], …] or [{"time": …, …}, …].';
/** A time and a price. */
const MIN_WIDTH = 2;

/**
 * Reads ccxt's `[[ms, o, h, l, c, v], …]`, a list of objects `{time, open, …}`, an object that holds such lists in one
 * of the known shapes, or JSON Lines: one bar per line.
 * @throws MarketDataError
 */
export function readJson(text: string): Table {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    value =
      parsePython(text) ??
      parseLines(text) ??
      refuse('FILE_UNREADABLE', `The JSON cannot be read: ${(error as Error).message}. Check that the file is whole.`);
  }
  if (Array.isArray(value) && value.length === 0) refuse('NO_ROWS', 'The file holds no bars.');
  const lists = barListsIn(value);
  if (lists.length === 0) {
    const what = Array.isArray(value) ? 'The first element of the JSON is not a bar.' : 'The JSON is not a list.';
    refuse('FORMAT_UNKNOWN', `${what} ${EXPECTED}`);
  }
  if (lists.length === 1) return tableOf(lists[0]);
  return tableOf(joinedLists(lists));
}

/** What Python writes where a number is absent, which JSON does not have: {"volume": NaN}. */
const PYTHON_NAN = /([:[,]\s*)(?:NaN|-?Infinity)(?=\s*[,\]}])/g;

/** null if the text is not JSON with such words either. */
function parsePython(text: string): unknown {
  try {
    return PYTHON_NAN.test(text) ? JSON.parse(text.replaceAll(PYTHON_NAN, '$1null')) : null;
  } catch {
    return null;
  }
}

/** The values of JSON Lines; null if a line is not JSON. */
function parseLines(text: string): unknown[] | null {
  try {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

/** The lists of several symbols as one, with a column of symbols in front. */
function joinedLists(lists: readonly BarList[]): BarList {
  const [{ names, width }] = lists;
  const symbolOf = (list: BarList): string | null => list.symbol ?? list.key ?? null;
  const isAlike = (list: BarList): boolean =>
    symbolOf(list) !== null && list.names?.join('\n') === names?.join('\n') && list.width === width;
  if (!lists.every(isAlike) || names === null)
    refuse('FORMAT_UNKNOWN', `The JSON holds ${lists.length} lists. Import one series per file. ${EXPECTED}`);
  const starts: number[] = [];
  let rowCount = 0;
  for (const list of lists) {
    starts.push(rowCount);
    rowCount += list.rowCount;
  }
  const rowAt = (row: number): readonly unknown[] | undefined => {
    const at = starts.findLastIndex((start) => start <= row);
    const cells = lists[at].rowAt(row - starts[at]);
    return cells && [symbolOf(lists[at]), ...cells];
  };
  const notes = [...new Set(lists.flatMap((list) => list.notes ?? []))];
  return { symbol: null, names: ['symbol', ...names], width: width + 1, rowCount, rowAt, notes };
}

function tableOf({ names, width, rowCount, rowAt, symbol, notes = [] }: BarList): Table {
  if (rowCount === 0) refuse('NO_ROWS', 'The file holds no bars.');
  if (width < MIN_WIDTH || width > MAX_COLUMNS || width * rowCount > MAX_CELLS)
    refuse('FORMAT_UNKNOWN', `The first element of the JSON is not a bar. ${EXPECTED}`);
  const builders = Array.from({ length: width }, () => new CellsBuilder(rowCount));
  for (let row = 0; row < rowCount; row++) {
    const cells = rowAt(row);
    if (cells === undefined) {
      const message = `Row ${row + 1} is not a bar like the first. ${EXPECTED}`;
      throw new MarketDataError([{ code: 'ROW_LENGTH', row: row + 1, line: null, message }]);
    }
    for (let at = 0; at < width; at++) builders[at].push(cells[at]);
  }
  const columns = builders.map((builder) => builder.finish());
  const table: Table = { format: 'json', names, rowCount, columns, firstLine: null, notes, symbol };
  const raw = (indexes: readonly number[]): RawCell[][] =>
    indexes.map((at) => Array.from({ length: rowCount }, (_, row) => rawCell(rowAt(row)?.[at])));
  // Without `raw`, nothing refers to the rows, and their memory is free while the bars are checked.
  return hasFormattedNumbers(table) ? { ...table, raw } : table;
}

const rawCell = (cell: unknown): RawCell => (typeof cell === 'number' ? cell : textOf(cell));
