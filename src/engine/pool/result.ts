// A result as it is stored, in three parts: the flat summary, by which backtests are searched and sorted; the detail,
// which is read with a single backtest; and the trades, which can be a thousand times as large and are read on their
// own.
import { constants } from 'node:zlib';
import type { ResolvedConfig } from '../config.ts';
import type { CompletedRun } from '../report/simulatedRun.ts';
import { ROW_NUMBERS, tradeRows, type TradeTable, type TradeWords } from '../report/tradeTable.ts';
import type { Reproducibility } from '../task.ts';
import { detailOf, detailParts, isDetailBytes } from './detailBytes.ts';
import { compressed, decompressed } from './nativeCalls.ts';

/** A result as the thread that made it encodes it; nothing on its way into the database takes it apart again. */
export interface Result {
  /** The members of summaryJson that are numbers or null, as doubles in the order of FLAT_KEYS. */
  readonly summary: Uint8Array;
  /** `decodeDetail` */
  readonly detail: Uint8Array;
  /** `decodeTrades` */
  readonly trades: Uint8Array;
  /** The codes of the warnings. */
  readonly warnings: readonly string[];
  /** The code of the first entry of the diagnosis. */
  readonly diagnosis: string | null;
}

export interface ResultDetail {
  /** The other members of summaryJson: trace, rule statistics, breakdowns, equity preview. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly warnings: readonly object[];
  readonly resolvedConfig: ResolvedConfig;
  readonly reproducibility: Reproducibility;
}

/** Level 1 takes about 30 µs for 20 KB and shrinks it to a fifth; level 3 takes twice as long for 5 % less. */
const COMPRESSION_LEVEL = 1;
/** Less is not compressed: compressing takes 30 to 50 µs, and storing the third that it would save takes 2 to 11 µs. */
const COMPRESSED_BYTES = 8_192;
/** A detail is a few KB, and 5,000 trades are 3 MB. Stored bytes that unpack to more than this are damaged. */
const MAX_PART_BYTES = 1 << 28;
/** The first byte of a list of trades that is stored as JSON. Lists stored as numbers never begin with it. */
const LIST = '['.charCodeAt(0);
/** Trades per part: reading one takes about ten milliseconds. */
const TRADES_PER_PART = 5_000;

/**
 * Encodes a completed run for storage and gives its memory back, so the run must not be read afterwards.
 * @param owner as in `BacktestTask`
 */
export function encodeResult(
  run: Pick<CompletedRun, 'written' | 'tradeTable' | 'configJson' | 'warnings' | 'reproducibility' | 'memory'>,
  owner = '',
): Result {
  const { tradeTable, configJson, warnings, reproducibility, memory } = run;
  const { flatNumbers, thinBlocksJson: summaryJson, series, diagnosis } = run.written;
  const detail = detailParts({ summaryJson, series, warnings, configJson, reproducibility }, owner, compress);
  const bytes = inOneBuffer([bytesOf(flatNumbers)], detail, tradeTableParts(tradeTable));
  memory.giveBack();
  return { ...bytes, warnings: warnings.map(({ code }) => code), diagnosis };
}

type Parts = readonly Uint8Array[];

/** Joins the parts in one buffer of their own: moving one to another thread is faster than moving three. */
function inOneBuffer(
  summaryParts: Parts,
  detailParts: Parts,
  tradesParts: Parts,
): Pick<Result, 'summary' | 'detail' | 'trades'> {
  const detailAt = lengthOf(summaryParts);
  const tradesAt = detailAt + lengthOf(detailParts);
  const bytes = new Uint8Array(tradesAt + lengthOf(tradesParts));
  copyTo(bytes, 0, summaryParts);
  copyTo(bytes, detailAt, detailParts);
  copyTo(bytes, tradesAt, tradesParts);
  return {
    summary: bytes.subarray(0, detailAt),
    detail: bytes.subarray(detailAt, tradesAt),
    trades: bytes.subarray(tradesAt),
  };
}

function lengthOf(parts: Parts): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

function copyTo(bytes: Uint8Array, at: number, parts: Parts): void {
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Reads a detail; also one of an earlier version, which stored all of it as compressed JSON. */
export const decodeDetail = (bytes: Uint8Array): ResultDetail =>
  (isDetailBytes(bytes) ? detailOf(bytes, decompress) : JSON.parse(decompress(bytes).toString())) as ResultDetail;

/** Trade rows as numbers, in pieces: writing and reading them as text takes longer than simulating them. */
export const tradeTableParts = (table: TradeTable): Parts =>
  partsOf(table.length, (first, end) => {
    const bytes = tradeBytes(table, first, end);
    return bytes.length < COMPRESSED_BYTES ? bytes : compress(bytes);
  });

/** Layout: the number of parts and the length of each as u32, then the parts as `encode` gives them. */
function partsOf(rows: number, encode: (first: number, end: number) => Uint8Array): Parts {
  const parts: Uint8Array[] = [];
  for (let first = 0; first < rows; first += TRADES_PER_PART)
    parts.push(encode(first, Math.min(rows, first + TRADES_PER_PART)));
  const head = new Uint32Array(parts.length + 1);
  head[0] = parts.length;
  for (let index = 0; index < parts.length; index++) head[index + 1] = parts[index].length;
  return [new Uint8Array(head.buffer), ...parts];
}

/** Yields part by part, so that a reader of many trades can let other work run in between. */
export function* decodeTrades(bytes: Uint8Array): Generator<readonly object[], void, undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint32(0, true);
  let at = 4 * (count + 1);
  for (let index = 1; index <= count; index++) {
    const length = view.getUint32(4 * index, true);
    const part = bytes.subarray(at, at + length);
    yield isTradeBytes(part) ? tradeRows(tradesOf(part)) : readTrades(decompress(part));
    at += length;
  }
}

const readTrades = (bytes: Buffer): readonly object[] =>
  bytes[0] === LIST ? (JSON.parse(bytes.toString()) as readonly object[]) : tradeRows(tradesOf(bytes));

const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL } };
const compress = (value: string | Uint8Array): Uint8Array => compressed(value, COMPRESSION);

const decompress = (bytes: Uint8Array): Buffer => decompressed(bytes, { maxOutputLength: MAX_PART_BYTES });

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
function tradeBytes({ numbers, fineTimes, kinds, words }: TradeTable, first: number, end: number): Uint8Array {
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

const isTradeBytes = (stored: Uint8Array): boolean => MAGIC.equals(stored.subarray(0, MAGIC.length));

/** @throws Error when the bytes were not written by `tradeBytes`. */
function tradesOf(stored: Uint8Array): TradeTable {
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
