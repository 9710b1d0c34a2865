// Doubles as text: the digits that JSON.stringify writes, as bytes between given texts, in a third of its time
// (decimals.wat).
import { compileModule } from './simdMemory.ts';
import { PAGE_BYTES } from './sharedMemory.ts';
import { DECIMALS_WASM } from './wasm.ts';

/** Where the memory has its tables, and what is free behind them. */
const POWERS = { first: -292, last: 324 } as const;
const PAIRS = 9872;
const ZEROS = 10_097;
const FREE = 10_240;
/** The longest number, and what is written behind it before it is overwritten. */
const NUMBER_BYTES = 32;

/** The texts of a list: each stands before a number, and one more may stand behind the last. */
export class NumberTexts {
  readonly bytes: Uint8Array;
  /** Of each, in `bytes`. */
  readonly ends: Uint32Array;

  constructor(texts: readonly string[]) {
    this.bytes = new TextEncoder().encode(texts.join(''));
    let end = 0;
    this.ends = Uint32Array.from(texts, (text) => (end += Buffer.byteLength(text)));
  }
}

type WriteNumbers = (values: number, count: number, texts: number, ends: number, out: number) => number;

const memory = new WebAssembly.Memory({ initial: 1 });
const { writeNumbers } = new WebAssembly.Instance(compileModule(DECIMALS_WASM), { host: { memory } })
  .exports as unknown as { readonly writeNumbers: WriteNumbers };
writeTables();

/** Each text and the number behind it, and a text behind the last number if there is one more, in UTF-8. */
export function numbersBetween({ bytes, ends }: NumberTexts, values: ArrayLike<number>): Uint8Array {
  return write(ends, values, bytes.length, (all, at) => all.set(bytes, at));
}

/**
 * The same of texts that are written once: one text, and where each number stands in it.
 * @param places in `text`, counted in characters, ascending; changed to bytes
 */
export function numbersWithin(text: string, places: Uint32Array, values: Float64Array): Uint8Array {
  const length = Buffer.byteLength(text);
  // Mostly all characters take one byte each.
  if (length !== text.length) {
    let from = 0;
    let end = 0;
    for (let at = 0; at < places.length; at++) {
      end += Buffer.byteLength(text.slice(from, places[at]));
      from = places[at];
      places[at] = end;
    }
  }
  return write(places, values, length, (all, at) => all.write(text, at));
}

function write(
  ends: Uint32Array,
  values: ArrayLike<number>,
  length: number,
  writeTexts: (all: Buffer, at: number) => void,
): Uint8Array {
  const count = values.length;
  const endsAt = FREE + 8 * count;
  const textsAt = endsAt + 8 * Math.ceil(ends.length / 2);
  const out = textsAt + length + NUMBER_BYTES;
  const all = grownTo(out + length + NUMBER_BYTES * (count + 1));
  new Float64Array(memory.buffer, FREE, count).set(values);
  new Uint32Array(memory.buffer, endsAt, ends.length).set(ends);
  writeTexts(all, textsAt);
  let end = writeNumbers(FREE, count, textsAt, endsAt, out);
  const from = textsAt + (count === 0 ? 0 : ends[count - 1]);
  all.copyWithin(end, from, textsAt + length);
  end += textsAt + length - from;
  return new Uint8Array(memory.buffer.slice(out, end));
}

let bytes = Buffer.from(memory.buffer);

/** All of the memory, of at least so many bytes. */
function grownTo(length: number): Buffer {
  const missing = length - memory.buffer.byteLength;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    bytes = Buffer.from(memory.buffer);
  }
  return bytes;
}

function writeTables(): void {
  const view = new DataView(memory.buffer);
  for (let exponent = POWERS.first; exponent <= POWERS.last; exponent++) {
    const at = 16 * (exponent - POWERS.first);
    const power = powerOfTen(exponent);
    view.setBigUint64(at, BigInt.asUintN(64, power), true);
    view.setBigUint64(at + 8, power >> 64n, true);
  }
  const text = (at: number, digits: string): void => new Uint8Array(memory.buffer).set(Buffer.from(digits), at);
  for (let pair = 0; pair < 100; pair++) text(PAIRS + 2 * pair, String(pair).padStart(2, '0'));
  text(ZEROS, '0'.repeat(32));
}

/** The first 128 bits of a power of ten, rounded up. */
function powerOfTen(exponent: number): bigint {
  const length = Math.floor((exponent * 1_741_647) / 2 ** 19) + 1;
  const shift = 128 - length;
  const divisor = (10n ** BigInt(Math.max(0, -exponent))) << BigInt(Math.max(0, -shift));
  const dividend = (10n ** BigInt(Math.max(0, exponent))) << BigInt(Math.max(0, shift));
  return (dividend + divisor - 1n) / divisor;
}
