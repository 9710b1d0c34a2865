// The flat summary as its numbers, which is how it is stored, and as JSON.stringify writes it: names between numbers,
// which a kernel writes.
import { newNumbers } from '../kernels/sharedBuffer.ts';
import { numberTexts } from '../kernels/simd/decimals.ts';
import { FLAT_KEYS, type FlatParts } from './flatSummary.ts';
import { NumbersJson } from './jsonWriter.ts';

const NAMES = numberTexts(FLAT_KEYS.map((key, at) => `${at === 0 ? '{' : ','}"${key}":`));

/**
 * The values of FLAT_KEYS in their order, as they are read back from JSON; NaN stands for null. The loop is a
 * `for … in`, which takes half as long as `Object.values`.
 */
export function numbersOfParts({ money, drawdown, returns, use, positions, costs }: FlatParts): Float64Array {
  const numbers = newNumbers(FLAT_KEYS.length);
  const parts: readonly Readonly<Record<string, number | null>>[] = [money, drawdown, returns, use, positions, costs];
  let at = 0;
  for (const part of parts) for (const key in part) numbers[at++] = readBack(part[key]);
  return numbers;
}

/** JSON has neither infinities nor a negative zero. */
const readBack = (value: number | null): number => (value !== null && Number.isFinite(value) ? value + 0 : NaN);

/** The flat summary as JSON without its closing brace, so that other members can follow. */
export const flatJsonOf = (numbers: Float64Array): NumbersJson => new NumbersJson(NAMES, numbers);
