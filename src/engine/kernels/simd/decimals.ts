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

/** The texts of a list, each of which stands before a number. */
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

/** Each text and the number behind it, in UTF-8. */
export function numbersBetween({ bytes, ends }: NumberTexts, values: ArrayLike<number>): Uint8Array {
  const count = ends.length;
  const endsAt = FREE + 8 * count;
  const textsAt = endsAt + 8 * Math.ceil(count / 2);
  const out = textsAt + bytes.length + NUMBER_BYTES;
  const missing = out + bytes.length + NUMBER_BYTES * (count + 1) - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  new Float64Array(memory.buffer, FREE, count).set(values);
  new Uint32Array(memory.buffer, endsAt, count).set(ends);
  const all = new Uint8Array(memory.buffer);
  all.set(bytes, textsAt);
  return all.slice(out, writeNumbers(FREE, count, textsAt, endsAt, out));
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
