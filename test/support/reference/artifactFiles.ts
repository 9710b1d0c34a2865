// Files of a table written whole, the obvious way: every row an object, every column a list.
import {
  Bool,
  Float64,
  Int32,
  Table,
  TimestampMillisecond,
  Utf8,
  makeData,
  makeVector,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow';
import { csvCell } from '../../../src/engine/bars/tableText.ts';
import type { Table as ResultTable, TableColumn } from '../../../src/engine/bars/table.ts';

const cellsOf = ({ length }: ResultTable, { read }: TableColumn): unknown[] =>
  Array.from({ length }, (_, row) => read(row));
const isMissing = (value: unknown): boolean => value === null || value === undefined || Number.isNaN(value);

export function wholeCsv(table: ResultTable): string {
  const lists = table.columns.map((column) => cellsOf(table, column));
  const rows = Array.from({ length: table.length }, (_, row) => lists.map((cells) => csvCell(cells[row])));
  return [table.columns.map(({ name }) => csvCell(name)), ...rows].map((cells) => `${cells.join(',')}\r\n`).join('');
}

export function wholeJson(table: ResultTable): string {
  const lists = table.columns.map((column) => [column.name, cellsOf(table, column)] as const);
  const rows = Array.from({ length: table.length }, (_, row) =>
    JSON.stringify(Object.fromEntries(lists.map(([name, cells]) => [name, isMissing(cells[row]) ? null : cells[row]]))),
  );
  return `[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]\n`;
}

export function wholeArrow(table: ResultTable): Uint8Array {
  const vectors = table.columns.map((column) => [column.name, vectorOf(table, column)] as const);
  return tableToIPC(new Table(Object.fromEntries(vectors)), 'file');
}

function vectorOf(table: ResultTable, column: TableColumn) {
  const cells = cellsOf(table, column).map((cell) => (Number.isNaN(cell) ? null : cell));
  switch (column.type) {
    case 'text':
      return vectorFromArray(cells, new Utf8());
    case 'boolean':
      return vectorFromArray(cells, new Bool());
    case 'time':
      return vectorFromArray(cells, new TimestampMillisecond('UTC'));
    case 'count':
      return vectorFromArray(cells, new Int32());
    case 'number':
      return column.values === undefined ? vectorFromArray(cells, new Float64()) : floatVector(column.values);
  }
}

/** Missing numbers stay in the values; a bitmap says which they are. */
function floatVector(data: Float64Array) {
  const nullBitmap = new Uint8Array((data.length + 63) >>> 3);
  for (const [row, value] of data.entries()) if (!Number.isNaN(value)) nullBitmap[row >>> 3] |= 1 << (row & 7);
  const nullCount = data.filter((value) => Number.isNaN(value)).length;
  return makeVector(
    makeData({ type: new Float64(), length: data.length, data, nullCount, ...(nullCount > 0 && { nullBitmap }) }),
  );
}
