// Recursions: kernels that carry numbers from row to row, so that each row waits for the one before it. Both halves of
// a long column are computed at once: a half that begins with another state comes to the same numbers, bit for bit,
// when the difference has decayed and its last bit is lost in rounding. Where it has not, its rows are computed again.

export interface Recursion {
  /** The state before the first row: the numbers that are carried. */
  readonly seed: readonly number[];
  /** The share of a state that each row replaces: what is left of a difference after n rows is (1 - weight)^n of it. */
  readonly weight: number;
  /** Writes rows from … end-1. The state before them is at cell `at`, where that after them is written. */
  run(state: Float64Array, at: number, from: number, end: number): void;
  /**
   * The same for these rows, whose state is at cell 0, and those `apart` later, whose state is behind it. Absent: one
   * row takes longer than the next waits for it.
   */
  readonly runPair?: (state: Float64Array, from: number, end: number, apart: number) => void;
}

/**
 * In 1/weight rows a difference shrinks by a factor of e: in 64 times as many by one of 2^92. A double has 53 bits;
 * states that differ in the last of them are the same about 1/weight rows later.
 */
const WARM_UP = 64;
/** A half has at least this many times the rows of its warm-up. */
const LEAST_SHARE = 8;
/** Rows of a call: V8 compiles a function that is called often better than a loop while it runs. */
const CHUNK = 4096;

/** Writes the rows first … n-1. No output may be an input: rows of the second half are written more than once. */
export function runRecursion(recursion: Recursion, first: number, n: number): void {
  const { seed, weight, runPair } = recursion;
  const state = Float64Array.of(...seed, ...seed);
  const half = Math.floor((n - first) / 2);
  const warmUp = Math.ceil(WARM_UP / weight);
  if (runPair === undefined || !(half >= LEAST_SHARE * warmUp)) return runChunks(recursion, state, 0, first, n);
  const size = seed.length;
  const second = first + half;
  runChunks(recursion, state, size, second - warmUp, second);
  const begun = state.slice(size);
  for (let row = first; row < second; row += CHUNK / 2) runPair(state, row, Math.min(second, row + CHUNK / 2), half);
  const reached = state.slice(0, size);
  // States that have not met by then may never: an overflow goes on forever.
  const patience = second + warmUp;
  if (runUntilMet(recursion, reached, begun, second, patience)) runChunks(recursion, state, size, second + half, n);
  else runChunks(recursion, reached, 0, patience, n);
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
