// The hash of a result: covers its trades and its summary, independent of how they are stored later.
import { createHash, hash, type Hash } from 'node:crypto';
import { NumbersJson, type JsonPiece } from './jsonWriter.ts';
import { ROW_NUMBERS, type TradeTable, type TradeWords } from './tradeTable.ts';

/**
 * sha256 over the numbers of the trades as IEEE doubles, then their words as lines, then the summary. Every member of a
 * row enters, in the row's order: a number goes to the numbers, a word to the words, and null leaves an empty line, so
 * that equal results give equal bytes. Doubles, because writing hundreds of trades out as text costs more than
 * simulating them.
 * @param summaryJson the summary as JSON.stringify writes it, in any number of pieces
 */
export function resultHash(summaryJson: readonly JsonPiece[], trades: TradeTable): string {
  const digest = new Digest();
  const numbers = numbersOf(trades);
  digest.add(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  addLines(digest, trades, numbers !== trades.numbers);
  for (const piece of summaryJson) {
    if (typeof piece === 'string') digest.addText(piece);
    else digest.add(piece instanceof NumbersJson ? piece.bytes() : piece);
  }
  return digest.hex();
}

/** Gathers what is hashed: fresh memory costs more than copying, and each call of a hash takes a microsecond. */
const GATHERED = Buffer.alloc(128 * 1024);
/** Bytes that a UTF-16 unit takes at most in UTF-8. */
const MOST_UNIT_BYTES = 3;

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

  /** Adds the same bytes `count` times (fewer than GATHERED holds): most trades have the same words. */
  addRepeated(bytes: Uint8Array, count: number): void {
    for (let left = count; left > 0;) {
      this.add(bytes);
      const from = this.#filled - bytes.length;
      const times = Math.min(left, Math.floor((GATHERED.length - from) / bytes.length));
      const end = from + times * bytes.length;
      // Each copy doubles what the next one can take.
      while (this.#filled < end) {
        const size = Math.min(this.#filled - from, end - this.#filled);
        GATHERED.copyWithin(this.#filled, from, from + size);
        this.#filled += size;
      }
      left -= times;
    }
  }

  /** Adds a text in UTF-8. */
  addText(text: string): void {
    if (text.length * MOST_UNIT_BYTES > GATHERED.length - this.#filled) this.add(Buffer.from(text));
    else this.#filled += GATHERED.write(text, this.#filled);
  }

  /** Takes back the last byte, which was added just before. */
  dropLast(): void {
    this.#filled--;
  }

  hex(): string {
    const rest = GATHERED.subarray(0, this.#filled);
    return this.#hash === null ? hash('sha256', rest, 'hex') : this.#hash.update(rest).digest('hex');
  }
}

/** The numbers row after row; the time of the child that decided, where one did, is the last of its row. */
function numbersOf({ length, numbers, fineTimes }: TradeTable): Float64Array {
  let fine = 0;
  for (let row = 0; row < length; row++) fine += fineTimes[row] === fineTimes[row] ? 1 : 0;
  if (fine === 0) return numbers;
  const all = new Float64Array(numbers.length + fine);
  let to = 0;
  for (let row = 0; row < length; row++) {
    for (let at = row * ROW_NUMBERS; at < (row + 1) * ROW_NUMBERS; at++) all[to++] = numbers[at];
    if (fineTimes[row] === fineTimes[row]) all[to++] = fineTimes[row];
  }
  return all;
}

/** Where many rows have so few words, the lines of four are copied at once: each copy is a call. */
const MOST_WORDS_OF_FOURS = 4;
/** With fewer rows, most groups of four lines would be made for a single copy. */
const MANY_ROWS = 256;

/** Adds the words of each row as lines in UTF-8: with breaks between rows, and none after the last. */
function addLines(digest: Digest, { length, fineTimes, kinds, words }: TradeTable, hasTimes: boolean): void {
  /** The index of the words of a row; after those come the same with a time. */
  const kindOf = (row: number): number => kinds[row] + (fineTimes[row] === fineTimes[row] ? words.length : 0);
  const pieces: (Uint8Array | undefined)[] = [];
  const pieceOf = (kind: number): Uint8Array =>
    (pieces[kind] ??= kind < words.length ? linesOf(words[kind]) : linesWith(words[kind - words.length], true));
  const fours: (Uint8Array | undefined)[] = [];
  const hasFours = length >= MANY_ROWS && !hasTimes && words.length <= MOST_WORDS_OF_FOURS;
  for (let row = 0; row < length;) {
    const kind = kindOf(row);
    let end = row + 1;
    while (end < length && kindOf(end) === kind) end++;
    if (!hasFours || end - row >= 4 || row + 4 > length) {
      digest.addRepeated(pieceOf(kind), end - row);
      row = end;
      continue;
    }
    let four = 0;
    for (let at = row; at < row + 4; at++) four = four * MOST_WORDS_OF_FOURS + kinds[at];
    digest.add((fours[four] ??= Buffer.concat([0, 1, 2, 3].map((at) => pieceOf(kinds[row + at])))));
    row += 4;
  }
  if (length > 0) digest.dropLast();
}

/** The lines of words without a time, which the runs of a strategy share. */
const keptLines = new WeakMap<TradeWords, Uint8Array>();

function linesOf(words: TradeWords): Uint8Array {
  let lines = keptLines.get(words);
  if (lines === undefined) keptLines.set(words, (lines = linesWith(words, false)));
  return lines;
}

/** A missing time of a child is an empty line in its place. */
function linesWith(words: TradeWords, hasTime: boolean): Uint8Array {
  const { side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule } = words;
  const method = `${side}\n${exitReason}\n${exitMethod}\n${exitResolution}\n${exitPolicy ?? ''}\n`;
  return Buffer.from(`${method}${hasTime ? '' : '\n'}${entryRule}\n${exitRule ?? ''}\n`);
}
