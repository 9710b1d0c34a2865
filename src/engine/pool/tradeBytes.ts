// Trade rows as bytes: the packed numbers of a trade table column by column, and each set of words once.
import { ROW_NUMBERS, type TradeTable, type TradeWords } from '../report/tradeTable.ts';

/** "TRADES" and the version of the layout; no list of trades as JSON begins with it. */
const MAGIC = Buffer.from('TRADES01');
const WORD = 8;

const padded = (length: number): number => Math.ceil(length / WORD) * WORD;

/** The same memory as bytes, as words and as numbers. */
class Memory {
  readonly numbers: Float64Array;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;

  constructor(length: number) {
    this.numbers = new Float64Array(length);
    this.bytes = new Uint8Array(this.numbers.buffer);
    this.words = new Uint32Array(this.numbers.buffer);
  }
}

/** Reused for tables of up to about two hundred rows. */
const small = new Memory(4_096);

/**
 * Rows first … end-1, valid until other rows are written. Layout, little-endian: MAGIC, the number of rows and the
 * length of the words as u32, the words as JSON, padded to a multiple of 8 bytes; then the columns: each number of the
 * rows and the time of the child as f64, and the index of the words as u32. Compressed, columns take two thirds of the
 * space of rows.
 */
export function tradeBytes({ numbers, fineTimes, kinds, words }: TradeTable, first: number, end: number): Uint8Array {
  const rows = end - first;
  const text = `[${words.map(jsonOf).join(',')}]`;
  const textAt = MAGIC.length + WORD;
  const most = textAt + padded(3 * text.length) + rows * (WORD * (ROW_NUMBERS + 1) + 4);
  const memory = most <= small.bytes.length ? small : new Memory(Math.ceil(most / WORD));
  const { bytes } = memory;
  bytes.set(MAGIC);
  const textLength = encoder.encodeInto(text, bytes.subarray(textAt)).written;
  memory.words[MAGIC.length / 4] = rows;
  memory.words[MAGIC.length / 4 + 1] = textLength;
  const columnsAt = textAt + padded(textLength);
  bytes.fill(0, textAt + textLength, columnsAt);
  let at = columnsAt / WORD;
  for (let column = 0; column < ROW_NUMBERS; column++) {
    for (let row = first; row < end; row++) memory.numbers[at++] = numbers[row * ROW_NUMBERS + column];
  }
  for (let row = first; row < end; row++) memory.numbers[at++] = fineTimes[row];
  const kindsAt = 2 * at;
  for (let row = 0; row < rows; row++) memory.words[kindsAt + row] = kinds[first + row];
  return bytes.subarray(0, 4 * (kindsAt + rows));
}

const encoder = new TextEncoder();

/** The JSON of words, which the runs of a strategy share. */
const keptJson = new WeakMap<TradeWords, string>();

function jsonOf(words: TradeWords): string {
  let json = keptJson.get(words);
  if (json === undefined) keptJson.set(words, (json = JSON.stringify(words)));
  return json;
}

export const isTradeBytes = (stored: Uint8Array): boolean => MAGIC.equals(stored.subarray(0, MAGIC.length));

/** @throws Error when the bytes were not written by `tradeBytes`. */
export function tradesOf(stored: Uint8Array): TradeTable {
  if (!isTradeBytes(stored)) throw new Error('These bytes are not trades.');
  // A copy is aligned to whole words, as the columns must be.
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
