// Recursions: kernels that carry numbers from row to row, so that each row waits for the one before it.
import { Accelerator } from './accelerator.ts';

export interface Recursion {
  /** The state before the first row: the numbers that are carried. */
  readonly seed: readonly number[];
  /** The share of a state that each row replaces: after n rows, (1 - weight)^n of a difference is left. */
  readonly weight: number;
  /** Writes rows from … end-1. The state before them is at cell `at`, and the state after them replaces it. */
  run(state: Float64Array, at: number, from: number, end: number): void;
  /** What an accelerator knows it by; absent: none can compute it. */
  readonly known?: KnownRecursion;
}

/**
 * The recursion of these columns: `average` of a source; `averageRange` of high, low and close; `strength`, whose state
 * is two numbers, of a source. It may read one row before the first.
 */
export interface KnownRecursion {
  readonly name: 'average' | 'averageRange' | 'strength';
  readonly columns: readonly Float64Array[];
  readonly out: Float64Array;
}

/** What writes the rows of some recursions faster, with the same bits. */
export const RECURSIONS = new Accelerator<(recursion: Recursion, first: number, n: number) => true | null>();

/** Rows per call: V8 compiles a function that is called often better than a loop that runs once. */
const CHUNK = 4096;

/** Writes the rows first … n-1. No output may be an input: an accelerator may write rows more than once. */
export function runRecursion(recursion: Recursion, first: number, n: number): void {
  if (RECURSIONS.current?.(recursion, first, n)) return;
  runChunks(recursion, Float64Array.of(...recursion.seed), 0, first, n);
}

/** Writes rows from … end-1 with the state at cell `at` of `states`. */
export function runChunks(recursion: Recursion, states: Float64Array, at: number, from: number, end: number): void {
  for (let row = from; row < end; row += CHUNK) recursion.run(states, at, row, Math.min(end, row + CHUNK));
}
