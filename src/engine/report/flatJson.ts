// The flat summary as its numbers, which is how it is stored, and as JSON.stringify writes it: names between numbers,
// which a kernel writes.
import { NumberTexts } from '../kernels/simd/decimals.ts';
import { FLAT_KEYS, type FlatKey } from './flatSummary.ts';
import { NumbersJson } from './jsonWriter.ts';

const NAMES = new NumberTexts(FLAT_KEYS.map((key, at) => `${at === 0 ? '{' : ','}"${key}":`));

/** The values of FLAT_KEYS in their order, as they are read back from JSON; NaN stands for null. */
export function flatNumbersOf(flat: Readonly<Partial<Record<FlatKey, number | null>>>): Float64Array {
  const numbers = new Float64Array(FLAT_KEYS.length);
  for (let at = 0; at < numbers.length; at++) {
    const value = flat[FLAT_KEYS[at]] ?? NaN;
    // JSON has neither infinities nor a zero below zero.
    numbers[at] = Number.isFinite(value) ? value + 0 : NaN;
  }
  return numbers;
}

/** An object that other members may follow: without its closing brace. */
export const flatJsonOf = (numbers: Float64Array): NumbersJson => new NumbersJson(NAMES, numbers);
