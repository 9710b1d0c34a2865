// A detail as bytes. Its lists, which would be two thirds of its text, are stored as numbers next to the text, and so
// are the numbers within the text and the hashes. The text that is left is the same for most results of a strategy.
import { finiteOrNull } from '../report/conditionStatistics.ts';
import { monthRows } from '../report/months.ts';
import { numbersApart, numbersTogether } from '../report/splitText.ts';
import type { ResultSeries } from '../report/summary.ts';
import type { Reproducibility } from '../task.ts';
import { CompressedTexts } from './compressedTexts.ts';

/** "DETAIL" and the version of the layout; no compressed text begins with it. */
const MAGIC = Buffer.from('DETAIL03');
/** The earlier layout, which has the numbers and hashes in the text. */
const MAGIC_WITH_NUMBERS = Buffer.from('DETAIL02');
/** u32 after MAGIC: the bytes of the text, numbers, hashes, times and months, then the counts of times and months. */
const HEAD_WORDS = 7;
const HEAD_WORDS_WITH_NUMBERS = 5;

/** The hashes of a result, in the order in which they are stored. */
const HASHES = ['strategyHash', 'dataHash', 'configHash', 'runKey', 'resultHash'] as const;
const HASH_BYTES = 32;
/** What follows the version, the first member of `reproducibility`, when the hashes are stored as bytes. */
const NO_HASHES_JSON = `${HASHES.map((name) => `,"${name}":""`).join('')}}`;

type Compress = (value: Uint8Array) => Uint8Array;
type Decompress = (bytes: Uint8Array) => Buffer;

/** The members of a detail that are read or filled in once its text is parsed. */
interface WithLists {
  readonly summary: Record<string, unknown>;
  readonly resolvedConfig: { readonly initialBalance: number };
  readonly reproducibility: Record<string, unknown>;
}

/** What `detailParts` writes. */
interface WrittenDetail {
  /** The summary as JSON in pieces, in which the lists of `series` are empty. */
  readonly summaryJson: readonly (string | Uint8Array)[];
  readonly series: ResultSeries;
  readonly warnings: readonly object[];
  readonly configJson: string;
  readonly reproducibility: Reproducibility;
}

const WORD = 8;
/** More values than this are rare; their memory is not kept. */
const MOST_KEPT = 4_096;

/**
 * Numbers that often repeat, as bytes: one bit per value that says whether it differs from the one before, then the
 * values that do. The equity of an account repeats while it holds no position. Lists are written into the same buffers:
 * what is returned is valid until the next list is written.
 */
class Changes {
  #values = new Float64Array(512);
  #bytes = new Uint8Array(this.#values.buffer);
  #bits = new Uint8Array(512 / 8);

  write(values: Float64Array): readonly [bits: Uint8Array, changed: Uint8Array] {
    const { length } = values;
    const size = length <= this.#values.length && this.#values.length <= MOST_KEPT ? this.#values.length : length;
    if (size !== this.#values.length) {
      this.#values = new Float64Array(size);
      this.#bytes = new Uint8Array(this.#values.buffer);
      this.#bits = new Uint8Array(Math.ceil(size / 8));
    }
    this.#values.set(values);
    const count = moveChanges(this.#values, length, this.#bits);
    return [this.#bits.subarray(0, Math.ceil(length / 8)), this.#bytes.subarray(0, count * WORD)];
  }
}

const texts = new CompressedTexts();
/** Reused for each detail: most of the cost of a small array is allocating and collecting it. */
const head = new Uint32Array(MAGIC.length / 4 + HEAD_WORDS);
const headBytes = new Uint8Array(head.buffer);
headBytes.set(MAGIC);
const hashBytes = Buffer.alloc(HASHES.length * HASH_BYTES);
const markChanges = new Changes();
const monthChanges = new Changes();

/** The bytes of a detail in pieces, some of which are valid only until the next detail is written. */
export function detailParts(detail: WrittenDetail, owner: string, compress: Compress): readonly Uint8Array[] {
  const { summaryJson, series, warnings, configJson, reproducibility } = detail;
  const hashes = writeHashes(reproducibility);
  const { text, hash, numbers } = numbersApart([
    '{"summary":',
    ...summaryJson,
    `,"warnings":${JSON.stringify(warnings)},"resolvedConfig":${configJson},"reproducibility":`,
    hashes === undefined
      ? JSON.stringify(reproducibility)
      : `{"engineVersion":${JSON.stringify(reproducibility.engineVersion)}${NO_HASHES_JSON}`,
    '}',
  ]);
  const compressed = texts.compressed(text, `${hash} ${owner}`, compress);
  const times = axisBytes(series.times, compress);
  const months = axisBytes(series.months, compress);
  let at = MAGIC.length / 4;
  head[at++] = compressed.length;
  head[at++] = numbers.length;
  head[at++] = hashes === undefined ? 0 : hashes.length;
  head[at++] = times.length;
  head[at++] = months.length;
  head[at++] = series.times.length;
  head[at++] = series.months.length;
  const [markBits, marks] = markChanges.write(series.marks);
  const [monthBits, monthEquity] = monthChanges.write(series.monthEquity);
  return [
    headBytes,
    compressed,
    numbers,
    ...(hashes === undefined ? [] : [hashes]),
    times,
    months,
    markBits,
    marks,
    monthBits,
    monthEquity,
  ];
}

/** The hashes that `hashBytes` holds. Those of the strategy and the data are often the same from run to run. */
const hashesWritten: string[] = HASHES.map(() => '');

/** The hashes as bytes; undefined when one of them is not a SHA-256: then all of them stay in the text. */
function writeHashes(reproducibility: Reproducibility): Uint8Array | undefined {
  for (let index = 0; index < HASHES.length; index++) {
    const hash = reproducibility[HASHES[index]];
    if (hash === hashesWritten[index]) continue;
    hashesWritten[index] = '';
    if (!writeHash(hash, index * HASH_BYTES)) return undefined;
    hashesWritten[index] = hash;
  }
  return hashBytes;
}

/** The values of lower-case hexadecimal digits, by character code. Any other character makes its byte negative. */
const DIGITS = new Int16Array(128).fill(-256);
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit;

/** Writes a hash to `hashBytes` at `at`; false when it is not one. */
function writeHash(hash: string, at: number): boolean {
  if (hash.length !== 2 * HASH_BYTES) return false;
  for (let digit = 0; digit < hash.length; digit += 2) {
    const byte = DIGITS[hash.charCodeAt(digit)] * 16 + DIGITS[hash.charCodeAt(digit + 1)];
    // A character code without an entry gives NaN.
    if (!(byte >= 0)) return false;
    hashBytes[at++] = byte;
  }
  return true;
}

export const isDetailBytes = (stored: Uint8Array): boolean =>
  begins(stored, MAGIC) || begins(stored, MAGIC_WITH_NUMBERS);

const begins = (stored: Uint8Array, magic: Buffer): boolean => magic.equals(stored.subarray(0, magic.length));

/**
 * The detail with its lists in their places.
 * @throws Error when the bytes are damaged
 */
export function detailOf(stored: Uint8Array, decompress: Decompress): object {
  try {
    return begins(stored, MAGIC) ? readDetail(stored, decompress) : readWithNumbers(stored, decompress);
  } catch (error) {
    throw new Error('The stored bytes of a detail are damaged.', { cause: error });
  }
}

function readDetail(stored: Uint8Array, decompress: Decompress): object {
  const parts = new Parts(stored, HEAD_WORDS);
  const [textLength, numbersLength, hashesLength, timesLength, monthsLength, points, months] = parts.head;
  const text = decompress(parts.take(textLength));
  const detail = JSON.parse(numbersTogether(text, parts.take(numbersLength)).toString()) as WithLists;
  const hashes = Buffer.from(parts.take(hashesLength));
  if (hashesLength > 0) {
    HASHES.forEach((name, index) => {
      const at = index * HASH_BYTES;
      detail.reproducibility[name] = hashes.toString('hex', at, at + HASH_BYTES);
    });
  }
  return withLists(detail, parts, [timesLength, monthsLength, points, months], decompress);
}

function readWithNumbers(stored: Uint8Array, decompress: Decompress): object {
  const parts = new Parts(stored, HEAD_WORDS_WITH_NUMBERS);
  const [jsonLength, ...lengths] = parts.head;
  const detail = JSON.parse(decompress(parts.take(jsonLength)).toString()) as WithLists;
  return withLists(detail, parts, lengths, decompress);
}

/** Reads the parts that follow the head, one after the other. */
class Parts {
  readonly head: Uint32Array;
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(stored: Uint8Array, headWords: number) {
    // A copy is aligned to whole words, as the head must be.
    this.#bytes = Uint8Array.from(stored);
    this.head = new Uint32Array(this.#bytes.buffer, MAGIC.length, headWords);
    this.#at = MAGIC.length + this.head.byteLength;
  }

  take(length: number): Uint8Array {
    const part = this.#bytes.subarray(this.#at, this.#at + length);
    if (part.length < length) throw new RangeError('A part ends behind the end of the bytes.');
    this.#at += length;
    return part;
  }

  /** `count` values, as `Changes` writes them. */
  takeChanges(count: number): Float64Array {
    const { values, length } = changesOf(this.#bytes.subarray(this.#at), count);
    this.#at += length;
    return values;
  }
}

function withLists(
  detail: WithLists,
  parts: Parts,
  [timesLength, monthsLength, points, months]: Iterable<number>,
  decompress: Decompress,
): object {
  const times = axisOf(decompress(parts.take(timesLength)));
  const monthNumbers = axisOf(decompress(parts.take(monthsLength)));
  const marks = parts.takeChanges(points);
  const equity = parts.takeChanges(months);
  const { summary, resolvedConfig } = detail;
  const rows = monthRows(monthNumbers, equity, resolvedConfig.initialBalance);
  summary.byMonth = rows.map(({ month, returnPct, equity }) => ({
    month,
    returnPct: finiteOrNull(returnPct),
    equity: finiteOrNull(equity),
  }));
  summary.equityPreview = Array.from(times, (time, point) => [time, finiteOrNull(marks[point])]);
  return detail;
}

/** The bytes of lists that were written before: the results of a batch share their times and months. */
const axes = new WeakMap<Float64Array, Uint8Array>();

function axisBytes(values: Float64Array, compress: Compress): Uint8Array {
  const known = axes.get(values);
  if (known !== undefined) return known;
  const steps = values.slice();
  for (let index = values.length - 1; index > 0; index--) steps[index] -= values[index - 1];
  const bytes = compress(new Uint8Array(steps.buffer));
  axes.set(values, bytes);
  return bytes;
}

function axisOf(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(Uint8Array.from(bytes).buffer);
  for (let index = 1; index < values.length; index++) values[index] += values[index - 1];
  return values;
}

/** Moves the values that differ from the one before to the front; returns how many there are. */
function moveChanges(values: Float64Array, length: number, bits: Uint8Array): number {
  let count = 0;
  // NaN differs from every number, itself included, so the first value always counts.
  let before = NaN;
  for (let index = 0, byte = 0; index < length; byte++) {
    const end = Math.min(length, index + 8);
    let changed = 0;
    for (let bit = 1; index < end; index++, bit <<= 1) {
      const value = values[index];
      values[count] = value;
      if (value !== before) {
        changed |= bit;
        count++;
      }
      before = value;
    }
    bits[byte] = changed;
  }
  return count;
}

/** @returns the values, and how many bytes they took */
function changesOf(bytes: Uint8Array, length: number): { readonly values: Float64Array; readonly length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = Math.ceil(length / 8);
  if (at > bytes.length) throw new RangeError('The bits of a list end behind the end of the bytes.');
  const values = new Float64Array(length);
  for (let index = 0; index < length; index++) {
    if ((bytes[index >>> 3] >>> (index & 7)) & 1) {
      values[index] = view.getFloat64(at, true);
      at += WORD;
    } else values[index] = values[index - 1];
  }
  return { values, length: at };
}
