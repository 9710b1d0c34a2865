// The flat summary as JSON.stringify writes it: names between numbers, which a kernel writes.
import { numbersBetween, NumberTexts } from '../kernels/simd/decimals.ts';
import { FLAT_KEYS, type FlatSummary } from './flatSummary.ts';

const NAMES = new NumberTexts([...FLAT_KEYS.map((key, at) => `${at === 0 ? '{' : ','}"${key}":`), '}']);
const VALUES = new Float64Array(FLAT_KEYS.length);

export function flatJsonOf(flat: FlatSummary): Uint8Array {
  for (let at = 0; at < FLAT_KEYS.length; at++) VALUES[at] = flat[FLAT_KEYS[at]] ?? NaN;
  return numbersBetween(NAMES, VALUES);
}
