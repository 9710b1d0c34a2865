// Texts with their numbers apart: those of equal runs differ in little else, so that what is left of one text mostly
// equals another's (digits.wat).
import { PAGE_BYTES } from './sharedMemory.ts';
import { compileModule } from './simdMemory.ts';
import { DIGITS_WASM } from './wasm.ts';

/** Behind what the kernel returns. */
const FREE = 16;
/** What it reads and writes beyond an end. */
const BEYOND = 32;
/** Stands in the text for a number: JSON never has this character as it is. */
const NUMBER = 0;
/** The characters of a number by their code; 15 ends it. */
const CHARACTERS = Buffer.from('0123456789?+e-.');
const END = 15;

/** Valid until the next text is split. */
export interface SplitText {
  /** A zero stands for each number. */
  readonly text: Uint8Array;
  /** Of the text: equal texts have the same one. */
  readonly hash: number;
  /** The numbers, two characters to a byte. */
  readonly numbers: Uint8Array;
}

type SplitDigits = (from: number, end: number, text: number, numbers: number) => number;

const memory = new WebAssembly.Memory({ initial: 4 });
const { splitDigits } = new WebAssembly.Instance(compileModule(DIGITS_WASM), { host: { memory } })
  .exports as unknown as { readonly splitDigits: SplitDigits };
let bytes = Buffer.from(memory.buffer);
let results = new Uint32Array(memory.buffer, 0, 2);

/** The pieces together, in UTF-8, without zeros in them. */
export function numbersApart(pieces: readonly (string | Uint8Array)[]): SplitText {
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

/**
 * The text with its numbers in their places.
 * @throws RangeError when there are more or fewer numbers than places
 */
export function numbersTogether(text: Uint8Array, numbers: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(text.length + 2 * numbers.length);
  let end = 0;
  let at = 0;
  for (let from = 0; from < text.length; from++) {
    const byte = text[from];
    if (byte !== NUMBER) {
      whole[end++] = byte;
      continue;
    }
    for (let half = 0; ; half ^= 1) {
      if (at >= numbers.length) throw new RangeError('The text has more places than there are numbers.');
      const code = half === 0 ? numbers[at] & 15 : numbers[at++] >>> 4;
      if (code === END) {
        if (half === 0) at++;
        break;
      }
      whole[end++] = CHARACTERS[code];
    }
  }
  if (at !== numbers.length) throw new RangeError('There are more numbers than places for them in the text.');
  return whole.subarray(0, end);
}
