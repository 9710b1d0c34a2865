// Recursions in parts: four parts of a long column are computed at once, all but the first from a guessed state. The
// error of a guess decays until rounding drops its last bit, and from then on the numbers are the same, bit for bit.
// The rows before that are computed again.
import { runChunks, type Recursion } from '../../kernels/recursion.ts';
import { PARTS, writeParts, type WriteParts } from './recursions.ts';

/**
 * A difference shrinks by a factor of e in 1/weight rows, and by a factor of 2^92 in 64 times as many. A double has 53
 * bits; states that differ only in the last one are equal about 1/weight rows later.
 */
const WARM_UP = 64;
/** A part has at least this many times the rows of its warm-up. */
const LEAST_SHARE = 4;
/** Rows that are written at once. */
const CHUNK = 4096;

/** Writes the rows first … n-1; null: there is no kernel for this recursion, or there are too few rows. */
export function recursionInParts(recursion: Recursion, first: number, n: number): true | null {
  const { weight, known } = recursion;
  const apart = 2 * Math.floor((n - first) / (2 * PARTS));
  const warmUp = Math.ceil(WARM_UP / weight);
  if (known === undefined || apart < LEAST_SHARE * warmUp) return null;
  runParts(recursion, writeParts(known, weight), first, n, apart, warmUp);
  return true;
}

/** Each part has `apart` rows. Its first state is guessed: the one that the `warmUp` rows before it lead to. */
function runParts(
  recursion: Recursion,
  writeParts: WriteParts,
  first: number,
  n: number,
  apart: number,
  warmUp: number,
): void {
  const { seed } = recursion;
  const size = seed.length;
  const state = Float64Array.of(...seed, ...seed, ...seed, ...seed);
  const startOf = (part: number): number => first + part * apart;
  for (let part = 1; part < PARTS; part++)
    runChunks(recursion, state, part * size, startOf(part) - warmUp, startOf(part));
  const guesses = state.slice();
  const rows = CHUNK / PARTS;
  for (let row = first; row < startOf(1); row += rows) writeParts(state, row, Math.min(startOf(1), row + rows), apart);
  for (let part = 1; part < PARTS; part++) {
    const reached = state.slice((part - 1) * size, part * size);
    const guess = guesses.slice(part * size, (part + 1) * size);
    // States that still differ after a warm-up may differ forever: an overflow never decays.
    const limit = startOf(part) + warmUp;
    if (!rewriteUntilEqual(recursion, reached, guess, startOf(part), limit))
      return runChunks(recursion, reached, 0, limit, n);
  }
  runChunks(recursion, state, (PARTS - 1) * size, startOf(PARTS), n);
}

/**
 * Writes the first rows of a part again, from the state that the part before has reached, until that state equals the
 * one that was guessed for the part. False: at row `end` they still differ.
 */
function rewriteUntilEqual(
  recursion: Recursion,
  reached: Float64Array,
  guess: Float64Array,
  from: number,
  end: number,
): boolean {
  for (let row = from; row < end; row++) {
    if (reached.every((number, index) => Object.is(number, guess[index]))) return true;
    recursion.run(guess, 0, row, row + 1);
    recursion.run(reached, 0, row, row + 1);
  }
  return false;
}
