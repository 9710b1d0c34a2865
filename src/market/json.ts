// JSON: lists of bars, bare or inside the answer of an exchange, into a Table.
import { CellsBuilder, MAX_CELLS, MAX_COLUMNS, MIN_COLUMNS, textOf } from './table.ts';
import type { RawCell, Table } from './table.ts';
import { hasFormattedNumbers } from './numberFormat.ts';
import { MarketDataError, refuse } from './importError.ts';

const EXPECTED = 'Expected a list of bars: [[time, open, high, low, close, volume], …] or [{"time": …, …}, …].';
/** Kraken: {"result": {"XXBTZUSD": [[…], …]}}; Polygon: {"results": [{…}, …]}. */
const MAX_WRAPPERS = 2;

/** A list of bars, with the names of their cells where they are written beside it. */
interface BarList {
  readonly rows: readonly unknown[];
  readonly names: readonly string[] | null;
}

/**
 * Reads ccxt's `[[ms, o, h, l, c, v], …]`, a list of objects `{time, open, …}`, an object that holds one such list, or
 * JSON Lines: one bar per line.
 * @throws MarketDataError
 */
export function readJson(text: string): Table {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    value =
      parseLines(text) ??
      refuse('FILE_UNREADABLE', `The JSON cannot be read: ${(error as Error).message}. Check that the file is whole.`);
  }
  const lists = Array.isArray(value) ? [{ rows: value, names: null }] : listsIn(value, MAX_WRAPPERS);
  if (lists.length === 0) refuse('FORMAT_UNKNOWN', `The JSON is not a list. ${EXPECTED}`);
  if (lists.length > 1)
    refuse('FORMAT_UNKNOWN', `The JSON holds ${lists.length} lists. Import one series per file. ${EXPECTED}`);
  return tableOf(lists[0]);
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

/** The lists of bars inside an object, by the shape of their first element. */
function listsIn(value: unknown, depth: number): BarList[] {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  const { columns } = value as { columns?: unknown };
  return Object.values(value).flatMap((member: unknown) => {
    if (!Array.isArray(member)) return listsIn(member, depth - 1);
    const [first] = member as unknown[];
    if (typeof first !== 'object' || first === null) return [];
    // pandas, orient="split": {"columns": ["time", "open", …], "data": [[…], …]}.
    const isNamed = Array.isArray(first) && isNames(columns) && columns.length === first.length;
    return [{ rows: member as unknown[], names: isNamed ? columns : null }];
  });
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

function tableOf({ rows, names: namesBeside }: BarList): Table {
  if (rows.length === 0) refuse('NO_ROWS', 'The file holds no bars.');
  const [first] = rows;
  const isObjects = typeof first === 'object' && first !== null && !Array.isArray(first);
  const names = isObjects ? Object.keys(first) : namesBeside;
  const width = names?.length ?? (Array.isArray(first) ? first.length : 0);
  if (width < MIN_COLUMNS || width > MAX_COLUMNS || width * rows.length > MAX_CELLS)
    refuse('FORMAT_UNKNOWN', `The first element of the JSON is not a bar. ${EXPECTED}`);
  const cell = (row: unknown, at: number): unknown =>
    isObjects ? (row as Record<string, unknown>)[names![at]] : (row as unknown[])[at];
  const builders = Array.from({ length: width }, () => new CellsBuilder(rows.length));
  rows.forEach((row, index) => {
    if (typeof row !== 'object' || row === null || Array.isArray(row) === isObjects) {
      const message = `Row ${index + 1} is not a bar like the first. ${EXPECTED}`;
      throw new MarketDataError([{ code: 'ROW_LENGTH', row: index + 1, line: null, message }]);
    }
    builders.forEach((builder, at) => builder.push(cell(row, at)));
  });
  const columns = builders.map((builder) => builder.finish());
  const table: Table = { format: 'json', names, rowCount: rows.length, columns, firstLine: null, notes: [] };
  const raw = (indexes: readonly number[]): RawCell[][] =>
    indexes.map((at) => rows.map((row) => rawCell(cell(row, at))));
  // Without `raw`, nothing refers to the rows, and their memory is free while the bars are checked.
  return hasFormattedNumbers(table) ? { ...table, raw } : table;
}

const rawCell = (cell: unknown): RawCell => (typeof cell === 'number' ? cell : textOf(cell));
