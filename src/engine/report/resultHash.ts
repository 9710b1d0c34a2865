// The hash of a result: covers its trades and its summary, independent of how they are stored later.
import { createHash, hash, type Hash } from 'node:crypto';
import type { WrittenSummary } from './summary.ts';
import type { TradeTable, TradeWords } from './tradeTable.ts';

/** What the hash reads of a summary. The blocks are the rest of it as JSON, without the lists of `series`. */
export type HashedSummary = Pick<WrittenSummary, 'flatNumbers' | 'series' | 'thinBlocksJson'>;

/**
 * sha256 in hex over, one after the other:
 * 1. as IEEE doubles: how many trades, times of children, marks and months there are; the numbers of all trades, row by
 *    row; the times of the children that decided, one per trade or none at all; the flat summary; the marks of the
 *    preview; the equity of the months, from which their returns follow;
 * 2. as u32: the kind of each trade, which is the index of its words, counted by first appearance;
 * 3. as 32 bytes each: the sha256 of the times of the preview, and that of the months, both as doubles;
 * 4. in UTF-8: the words of each kind as a JSON list on a line; then the blocks of the summary as JSON.
 *
 * Doubles, because writing numbers as text and hashing the text takes longer than simulating. Of the summary, 0 stands
 * for -0 and NaN for null, as in JSON. The numbers of bytes are little-endian.
 */
export function resultHash(summary: HashedSummary, trades: TradeTable): string {
  const { flatNumbers, series, thinBlocksJson } = summary;
  const { length, numbers, fineTimes, kinds, words } = trades;
  const digest = new Digest();
  const fineCount = hasTime(fineTimes) ? length : 0;
  digest.addNumbers([length, fineCount, series.marks.length, series.monthEquity.length]);
  digest.add(bytesOf(numbers));
  if (fineCount > 0) digest.addNumbers(fineTimes);
  digest.addNumbers(flatNumbers);
  digest.addNumbers(series.marks);
  digest.addNumbers(series.monthEquity);
  digest.add(bytesOf(kinds));
  digest.add(hashOfAxis(series.times));
  digest.add(hashOfAxis(series.months));
  for (const kind of words) digest.add(lineOf(kind));
  for (const piece of thinBlocksJson) {
    if (typeof piece === 'string') digest.addText(piece);
    else digest.add(piece);
  }
  return digest.hex();
}

function hasTime(fineTimes: Float64Array): boolean {
  for (let trade = 0; trade < fineTimes.length; trade++) if (fineTimes[trade] === fineTimes[trade]) return true;
  return false;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Gathers what is hashed: fresh memory costs more than copying, and each call of a hash takes a microsecond. */
const GATHERED = Buffer.alloc(128 * 1024);
/** Bytes that a UTF-16 unit takes at most in UTF-8. */
const MOST_UNIT_BYTES = 3;
/** Where numbers are normalized before they are added, as numbers and as bytes. */
const NUMBERS = new Float64Array(512);
const NUMBER_BYTES = bytesOf(NUMBERS);

/** A hash of bytes that are gathered first. Only one may exist at a time, since all of them use GATHERED. */
class Digest {
  #filled = 0;
  /** null: everything so far is in GATHERED. */
  #hash: Hash | null = null;

  add(bytes: Uint8Array): void {
    if (bytes.length > GATHERED.length - this.#filled) {
      this.#hash ??= createHash('sha256');
      this.#hash.update(GATHERED.subarray(0, this.#filled));
      this.#filled = 0;
      if (bytes.length > GATHERED.length) {
        this.#hash.update(bytes);
        return;
      }
    }
    GATHERED.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  /** Adds doubles. Those that JSON does not tell apart become the same bytes. */
  addNumbers(values: ArrayLike<number>): void {
    for (let from = 0; from < values.length; from += NUMBERS.length) {
      const count = Math.min(NUMBERS.length, values.length - from);
      copyAsShown(values, from, count);
      this.add(NUMBER_BYTES.subarray(0, 8 * count));
    }
  }

  /** Adds a text in UTF-8. */
  addText(text: string): void {
    if (text.length * MOST_UNIT_BYTES > GATHERED.length - this.#filled) this.add(Buffer.from(text));
    else this.#filled += GATHERED.write(text, this.#filled);
  }

  hex(): string {
    const rest = GATHERED.subarray(0, this.#filled);
    return this.#hash === null ? hash('sha256', rest, 'hex') : this.#hash.update(rest).digest('hex');
  }
}

/** Copies to NUMBERS, with 0 for -0 and one NaN for all that is not finite. */
function copyAsShown(values: ArrayLike<number>, from: number, count: number): void {
  for (let at = 0; at < count; at++) {
    const value = values[from + at];
    NUMBERS[at] = Number.isFinite(value) ? value + 0 : NaN;
  }
}

/** Keyed by the list, because runs over the same range share their times and months. */
const axisHashes = new WeakMap<Float64Array, Uint8Array>();

function hashOfAxis(values: Float64Array): Uint8Array {
  let known = axisHashes.get(values);
  if (known === undefined) axisHashes.set(values, (known = createHash('sha256').update(values).digest()));
  return known;
}

/** Keyed by the words, which the runs of a strategy share. */
const lines = new WeakMap<TradeWords, Uint8Array>();

function lineOf(words: TradeWords): Uint8Array {
  let line = lines.get(words);
  if (line === undefined) {
    const { side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule, symbol } = words;
    const named = symbol === undefined ? [] : [symbol];
    const values = [side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule, ...named];
    lines.set(words, (line = Buffer.from(`${JSON.stringify(values)}\n`)));
  }
  return line;
}
