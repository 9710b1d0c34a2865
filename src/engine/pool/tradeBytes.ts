// Trade rows as bytes: the packed numbers of a trade table column by column, and each set of words once.
import { ROW_NUMBERS, type TradeTable, type TradeWords } from '../report/tradeTable.ts';

/** "TRADES" and the version of the layout; no list of trades as JSON begins so. */
const MAGIC = Buffer.from('TRADES01');
const WORD = 8;

const padded = (length: number): number => Math.ceil(length / WORD) * WORD;

/**
 * Rows first … end-1. Layout, little-endian: MAGIC, the number of rows and the length of the words as u32, the words as
 * JSON, filled up to whole words of 8 bytes; then the columns: each number of the rows and the time of the child as
 * f64, and the index of the words as u32. Columns shrink to two thirds of what rows do.
 */
export function tradeBytes({ numbers, fineTimes, kinds, words }: TradeTable, first: number, end: number): Uint8Array {
  const rows = end - first;
  const text = Buffer.from(JSON.stringify(words));
  const head = MAGIC.length + WORD;
  const columnsAt = head + padded(text.length);
  const bytes = new Uint8Array(columnsAt + rows * (8 * (ROW_NUMBERS + 1) + 4));
  bytes.set(MAGIC);
  new Uint32Array(bytes.buffer, MAGIC.length, 2).set([rows, text.length]);
  bytes.set(text, head);
  const columns = new Float64Array(bytes.buffer, columnsAt, rows * (ROW_NUMBERS + 1));
  for (let column = 0; column < ROW_NUMBERS; column++) {
    for (let row = 0; row < rows; row++) columns[column * rows + row] = numbers[(first + row) * ROW_NUMBERS + column];
  }
  columns.set(fineTimes.subarray(first, end), ROW_NUMBERS * rows);
  new Uint32Array(bytes.buffer, columnsAt + columns.byteLength, rows).set(kinds.subarray(first, end));
  return bytes;
}

export const isTradeBytes = (stored: Uint8Array): boolean => MAGIC.equals(stored.subarray(0, MAGIC.length));

/** @throws Error when the bytes are none of `tradeBytes`. */
export function tradesOf(stored: Uint8Array): TradeTable {
  if (!isTradeBytes(stored)) throw new Error('These bytes are not trades.');
  // A copy stands on a whole word, as the columns must.
  const { buffer } = Uint8Array.from(stored);
  const [rows, textLength] = new Uint32Array(buffer, MAGIC.length, 2);
  const head = MAGIC.length + WORD;
  const words = JSON.parse(Buffer.from(buffer, head, textLength).toString()) as TradeWords[];
  const columnsAt = head + padded(textLength);
  const columns = new Float64Array(buffer, columnsAt, rows * (ROW_NUMBERS + 1));
  const numbers = new Float64Array(rows * ROW_NUMBERS);
  for (let column = 0; column < ROW_NUMBERS; column++) {
    for (let row = 0; row < rows; row++) numbers[row * ROW_NUMBERS + column] = columns[column * rows + row];
  }
  return {
    length: rows,
    numbers,
    fineTimes: columns.subarray(ROW_NUMBERS * rows),
    kinds: new Uint32Array(buffer, columnsAt + columns.byteLength, rows),
    words,
  };
}
