// Tables as text: CSV and JSON, written piece by piece, so that no file is ever one string.
import type { Table, TableColumn } from './table.ts';

/** Characters of a piece: few enough to wait in memory, many enough that passing one on costs nothing per row. */
const PIECE_LENGTH = 1 << 18;

const encoder = new TextEncoder();

/** A file that is written table by table; every table has the same columns. */
export interface TableFile {
  add(table: Table): Iterable<Uint8Array>;
  finish(): Iterable<Uint8Array>;
}

/** RFC 4180 with times in ms; a missing value is an empty cell. */
export function csvFile(lineEnd: '\r\n' | '\n'): TableFile {
  let isBegun = false;
  return {
    *add({ length, columns }) {
      const head = isBegun ? '' : columns.map(({ name }) => csvCell(name)).join(',') + lineEnd;
      isBegun = true;
      yield* piecesOf(head, length, (row) => {
        let line = csvCell(columns[0].read(row));
        for (let at = 1; at < columns.length; at++) line += `,${csvCell(columns[at].read(row))}`;
        return line + lineEnd;
      });
    },
    finish: () => [],
  };
}

/**
 * A list of one object per row, each on a line, so that a large file can be read line by line too.
 * @param frame.open what stands between the bracket and the first row, and `close` between the last row and the bracket
 */
export function jsonFile({ open, close }: { readonly open: string; readonly close: string }): TableFile {
  let isBegun = false;
  return {
    *add({ length, columns }) {
      const cells = jsonCells(columns);
      yield* piecesOf('', length, (row) => {
        let line = isBegun ? ',\n{' : `[${open}{`;
        isBegun = true;
        for (let at = 0; at < cells.length; at++) line += cells[at](row);
        return `${line}}`;
      });
    },
    finish: () => [encoder.encode(isBegun ? `${close}]\n` : '[]\n')],
  };
}

/** The members of a row in the order and with the values that an object built of them has. */
function jsonCells(columns: readonly TableColumn[]): ((row: number) => string)[] {
  const members = Object.entries(Object.fromEntries(columns.map((column) => [column.name, column])));
  return members.map(([name, { read }], at) => {
    const key = `${at === 0 ? '' : ','}${JSON.stringify(name)}:`;
    return (row) => key + jsonValue(read(row));
  });
}

function jsonValue(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  return value === undefined ? 'null' : JSON.stringify(value);
}

function* piecesOf(head: string, rows: number, lineOf: (row: number) => string): Generator<Uint8Array> {
  let text = head;
  for (let row = 0; row < rows; row++) {
    text += lineOf(row);
    if (text.length < PIECE_LENGTH) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A missing value is an empty cell. A number is written as it is; any other text that a spreadsheet would run as a
 * formula gets an apostrophe in front, because the one who opens the file did not name its params and rules.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isNaN(value) ? '' : String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
