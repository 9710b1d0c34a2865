// A result as it is stored, in three parts: the flat summary, by which backtests are searched and sorted; the detail,
// which is read with a single backtest; and the trades, which can be a thousand times as large and are read on their
// own.
import { constants } from 'node:zlib';
import type { ResolvedConfig } from '../config.ts';
import type { CompletedOutcome } from '../report/simulatedRun.ts';
import { tradeRows, type TradeTable } from '../report/tradeTable.ts';
import type { Reproducibility } from '../task.ts';
import { detailOf, detailParts, isDetailBytes } from './detailBytes.ts';
import { compressed, decompressed } from './nativeCalls.ts';
import { isTradeBytes, tradeBytes, tradesOf } from './tradeBytes.ts';

/** A result as a thread encodes it; nothing on its way into the database takes it apart again. */
export interface EncodedResult {
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
 * Encodes an outcome for storage and gives its memory back, so the outcome must not be read afterwards.
 * @param owner as in `BacktestTask`
 */
export function encodeResult(
  outcome: Pick<CompletedOutcome, 'written' | 'warnings' | 'reproducibility'>,
  owner = '',
): EncodedResult {
  const { warnings, reproducibility } = outcome;
  const codes = warnings.map((warning) => String((warning as { readonly code?: unknown }).code));
  const {
    flatNumbers,
    thinBlocksJson: summaryJson,
    series,
    tradeTable,
    diagnosis,
    configJson,
    memory,
  } = outcome.written;
  const detail = detailParts({ summaryJson, series, warnings, configJson, reproducibility }, owner, compress);
  const bytes = inOneBuffer([bytesOf(flatNumbers)], detail, tradeTableParts(tradeTable));
  memory.giveBack();
  return { ...bytes, warnings: codes, diagnosis };
}

type Parts = readonly Uint8Array[];

/** Joins the parts in one buffer of their own: moving one to another thread is faster than moving three. */
function inOneBuffer(
  summaryParts: Parts,
  detailParts: Parts,
  tradesParts: Parts,
): Pick<EncodedResult, 'summary' | 'detail' | 'trades'> {
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
