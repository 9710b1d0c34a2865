// Doubles as text: the digits that JSON.stringify writes, as bytes between given texts, in a third of its time
// (decimals.wat).
import { KEPT_AT, TEXTS_AT, type JsonPieces } from '../../report/jsonWriter.ts';
import { PAGE_BYTES } from '../../kernels/sharedMemory.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import { DECIMALS_WASM } from '../wasm.ts';

/** The memory begins with these powers of ten, KEPT_AT bytes, and goes on with texts at their addresses. */
const POWERS = { first: -292, last: 324 } as const;
/** Room for the longest number, and for what is written past a number or a text before it is overwritten. */
const NUMBER_BYTES = 32;

type WritePieces = (pieces: number, count: number, values: number, out: number) => number;

const memory = new WebAssembly.Memory({ initial: 1 });
const { writePieces } = new WebAssembly.Instance(compileModule(DECIMALS_WASM), { host: { memory } })
  .exports as unknown as { readonly writePieces: WritePieces };
const viewsOf = (buffer: ArrayBuffer) => ({
  bytes: Buffer.from(buffer),
  words: new Uint32Array(buffer),
  values: new Float64Array(buffer),
});
let views = viewsOf(memory.buffer);
writePowers();

/** How far the kept texts have been copied here. */
let keptEnd = KEPT_AT;

/** The texts, each followed by its number, in UTF-8; valid until the next call. */
export function writeDecimals({ kept, texts, places, values, length }: JsonPieces): Uint8Array {
  const placesAt = TEXTS_AT + 8 * Math.ceil(texts.length / 8);
  const valuesAt = placesAt + 4 * places.length;
  const out = valuesAt + 8 * values.length;
  growTo(out + length + NUMBER_BYTES * (values.length + 1));
  if (keptEnd < kept.length) {
    views.bytes.set(kept.subarray(keptEnd), keptEnd);
    keptEnd = kept.length;
  }
  views.bytes.set(texts, TEXTS_AT);
  views.words.set(places, placesAt / 4);
  views.values.set(values, valuesAt / 8);
  const end = writePieces(placesAt, places.length / 2, valuesAt, out);
  return views.bytes.subarray(out, end);
}

function growTo(length: number): void {
  const missing = length - views.bytes.length;
  if (missing <= 0) return;
  memory.grow(Math.ceil(missing / PAGE_BYTES));
  views = viewsOf(memory.buffer);
}

function writePowers(): void {
  const view = new DataView(memory.buffer);
  for (let exponent = POWERS.first; exponent <= POWERS.last; exponent++) {
    const at = 16 * (exponent - POWERS.first);
    const power = powerOfTen(exponent);
    view.setBigUint64(at, BigInt.asUintN(64, power), true);
    view.setBigUint64(at + 8, power >> 64n, true);
  }
}

/** The first 128 bits of a power of ten, rounded up. */
function powerOfTen(exponent: number): bigint {
  const length = Math.floor((exponent * 1_741_647) / 2 ** 19) + 1;
  const shift = 128 - length;
  const divisor = (10n ** BigInt(Math.max(0, -exponent))) << BigInt(Math.max(0, -shift));
  const dividend = (10n ** BigInt(Math.max(0, exponent))) << BigInt(Math.max(0, shift));
  return (dividend + divisor - 1n) / divisor;
}
