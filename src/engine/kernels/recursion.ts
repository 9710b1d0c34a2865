// Recursions: kernels that carry numbers from row to row, so that each row waits for the one before it. Four parts of a
// long column are computed at once: a part that begins with another state comes to the same numbers, bit for bit, when
// the difference has decayed and its last bit is lost in rounding. Where it has not, its rows are computed again.
import { PARTS, type WriteParts } from './simd/recursions.ts';

export interface Recursion {
  /** The state before the first row: the numbers that are carried. */
  readonly seed: readonly number[];
  /** The share of a state that each row replaces: what is left of a difference after n rows is (1 - weight)^n of it. */
  readonly weight: number;
  /** Writes rows from … end-1. The state before them is at cell `at`, where that after them is written. */
  run(state: Float64Array, at: number, from: number, end: number): void;
  /** Writes several parts at once, with the same bits. Absent where that gains nothing. */
  readonly writeParts?: WriteParts;
}

/**
 * In 1/weight rows a difference shrinks by a factor of e: in 64 times as many by one of 2^92. A double has 53 bits;
 * states that differ in the last of them are the same about 1/weight rows later.
 */
const WARM_UP = 64;
/** A part has at least this many times the rows of its warm-up. */
const LEAST_SHARE = 4;
/** Rows of a call: V8 compiles a function that is called often better than a loop while it runs. */
const CHUNK = 4096;

/** Writes the rows first … n-1. No output may be an input: rows of the later parts are written more than once. */
export function runRecursion(recursion: Recursion, first: number, n: number): void {
  const { seed, weight, writeParts } = recursion;
  const apart = 2 * Math.floor((n - first) / (2 * PARTS));
  const warmUp = Math.ceil(WARM_UP / weight);
  if (writeParts !== undefined && apart >= LEAST_SHARE * warmUp)
    runParts(recursion, writeParts, first, n, apart, warmUp);
  else runChunks(recursion, Float64Array.of(...seed), 0, first, n);
}

/** Each part has `apart` rows, and begins with the state that `warmUp` rows lead to. */
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
  const begun = state.slice();
  const rows = CHUNK / PARTS;
  for (let row = first; row < startOf(1); row += rows) writeParts(state, row, Math.min(startOf(1), row + rows), apart);
  for (let part = 1; part < PARTS; part++) {
    const reached = state.slice((part - 1) * size, part * size);
    const guess = begun.slice(part * size, (part + 1) * size);
    // States that have not met by then may never: an overflow goes on forever.
    const patience = startOf(part) + warmUp;
    if (!runUntilMet(recursion, reached, guess, startOf(part), patience))
      return runChunks(recursion, reached, 0, patience, n);
  }
  runChunks(recursion, state, (PARTS - 1) * size, startOf(PARTS), n);
}

function runChunks(recursion: Recursion, states: Float64Array, at: number, from: number, end: number): void {
  for (let row = from; row < end; row += CHUNK) recursion.run(states, at, row, Math.min(end, row + CHUNK));
}

/** Writes rows with the state that is reached until the one that the half began with is the same, or up to `end`. */
function runUntilMet(
  recursion: Recursion,
  reached: Float64Array,
  begun: Float64Array,
  from: number,
  end: number,
): boolean {
  for (let row = from; row < end; row++) {
    if (reached.every((number, index) => Object.is(number, begun[index]))) return true;
    recursion.run(begun, 0, row, row + 1);
    recursion.run(reached, 0, row, row + 1);
  }
  return false;
}
