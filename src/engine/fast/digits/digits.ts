// Texts and their numbers, split apart and put together again (digits.wat).
import { PAGE_BYTES } from '../../kernels/sharedMemory.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import type { SplitText } from '../../report/splitText.ts';
import { DIGITS_WASM } from '../wasm.ts';

/** Where texts and numbers begin, after what the kernel returns. */
const FREE = 16;
/** How many bytes the kernel reads and writes beyond an end. */
const BEYOND = 32;
/** What follows a text: anything but the zero that stands for a number. */
const NO_NUMBER = 1;
interface Kernel {
  readonly splitDigits: (from: number, end: number, text: number, numbers: number) => number;
  readonly joinDigits: (from: number, end: number, numbers: number, last: number, out: number) => number;
}

const memory = new WebAssembly.Memory({ initial: 4 });
const { splitDigits, joinDigits } = new WebAssembly.Instance(compileModule(DIGITS_WASM), { host: { memory } })
  .exports as unknown as Kernel;
let bytes = Buffer.from(memory.buffer);
let results = new Uint32Array(memory.buffer, 0, 2);

/** See `numbersApart`. */
export function splitWithKernel(pieces: readonly (string | Uint8Array)[]): SplitText {
  let most = 0;
  // A character takes up to three bytes.
  for (const piece of pieces) most += typeof piece === 'string' ? 3 * piece.length : piece.length;
  grow(FREE + 3 * (most + BEYOND));
  let end = FREE;
  for (const piece of pieces) {
    if (typeof piece === 'string') end += bytes.write(piece, end);
    else {
      bytes.set(piece, end);
      end += piece.length;
    }
  }
  bytes.fill(0, end, end + BEYOND);
  const text = end + BEYOND;
  const numbers = text + (end - FREE) + BEYOND;
  const textEnd = splitDigits(FREE, end, text, numbers);
  return { text: bytes.subarray(text, textEnd), hash: results[1], numbers: bytes.subarray(numbers, results[0]) };
}

function grow(length: number): void {
  const missing = length - memory.buffer.byteLength;
  if (missing <= 0) return;
  memory.grow(Math.ceil(missing / PAGE_BYTES));
  bytes = Buffer.from(memory.buffer);
  results = new Uint32Array(memory.buffer, 0, 2);
}

/** See `numbersTogether`. */
export function joinWithKernel(text: Uint8Array, numbers: Uint8Array): Buffer {
  const from = FREE + text.length + BEYOND;
  const out = from + numbers.length + BEYOND;
  grow(out + text.length + 2 * numbers.length + BEYOND);
  bytes.set(text, FREE);
  bytes.fill(NO_NUMBER, FREE + text.length, from);
  bytes.set(numbers, from);
  const end = joinDigits(FREE, FREE + text.length, from, from + numbers.length, out);
  if (end === 0) throw new RangeError('The numbers of a text are not as many as the places for them.');
  return bytes.subarray(out, end);
}
