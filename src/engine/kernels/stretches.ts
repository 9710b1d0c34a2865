// Stretches: the rows between two restarts of a running sum. They depend on nothing before them but their first window,
// so that SIMD computes two of them at once, a block of stretches at a time, in the memory of the kernels.
import { simdMemory } from './simd/simdMemory.ts';

/**
 * Rows between two restarts, at absolute row numbers so that a value never depends on where a run began. A naive
 * running variance drifts to 3e-8 over a million rows; restarted, it stays at 2e-13. Long windows restart less often,
 * because a restart costs `length` additions.
 */
const stretchRows = (length: number): number => Math.max(256, 8 * length);

/** Where the stretch of a row ends, in a series of n rows. */
export const stretchEnd = (row: number, length: number, n: number): number => {
  const rows = stretchRows(length);
  return Math.min(n, (Math.floor(row / rows) + 1) * rows);
};

/** Longer windows would need blocks that no near cache holds. */
export const MAX_BLOCK_LENGTH = 2048;
/** Rows of a block, at least two stretches. */
const BLOCK = 2048;
const NUMBER_BYTES = 8;

/** A block of rows in the memory of the kernels. */
export interface Block {
  readonly values: Float64Array;
  /** The source from the first window on is in cells [0, count). */
  readonly count: number;
  /**
   * The first result of a row is this many cells before the first cell of the row's window, each other one as many
   * later.
   */
  readonly columnCells: number;
  readonly rows: number;
}

export interface BlockKernel {
  /**
   * Writes the first results of two stretches to the cells at outA and outB; further ones belong `columnCells` later.
   * `a` and `b` are the first cells of their first windows. Of rowsA and rowsB, the kernel writes the larger number for
   * both. An odd stretch comes with itself.
   */
  pair(block: Block, a: number, b: number, outA: number, outB: number, rowsA: number, rowsB: number): void;
  /** What remains to do for the whole block; its results begin at cell `out`. */
  finish?(block: Block, out: number): void;
}

/** Runs a kernel over the rows first+length-1 … n-1 of `outs`, its results. */
export function overStretches(
  source: Float64Array,
  first: number,
  length: number,
  outs: readonly Float64Array[],
  kernel: BlockKernel,
): void {
  const n = source.length;
  const interval = stretchRows(length);
  const blockRows = Math.max(2, Math.floor(BLOCK / interval)) * interval;
  // A stretch that ends early is computed beyond its end.
  const inputCells = even(length + blockRows + interval);
  const columnCells = even(blockRows + 2 * interval);
  const { values } = simdMemory((inputCells + outs.length * columnCells) * NUMBER_BYTES);
  const spare = inputCells + blockRows + interval;
  for (let start = first + length - 1; start < n;) {
    const end = Math.min(n, Math.floor(start / interval) * interval + blockRows);
    const from = start - length + 1;
    const block = { values, count: end - from, rows: end - start, columnCells };
    values.set(source.subarray(from, end));
    // What is computed beyond the end must be ordinary numbers: the last ones again.
    const pad = Math.min(interval, block.count);
    values.copyWithin(block.count, block.count - pad, block.count);
    for (let row = start; row < end;) {
      const endA = Math.min(end, (Math.floor(row / interval) + 1) * interval);
      const endB = Math.min(end, endA + interval);
      const rowsA = endA - row;
      const outA = inputCells + row - start;
      if (endB === endA) {
        kernel.pair(block, row - start, row - start, outA, outA, rowsA, rowsA);
      } else if (rowsA < endB - endA) {
        // The first stretch would be continued over the beginning of the second.
        kernel.pair(block, row - start, endA - start, spare, outA + rowsA, rowsA, endB - endA);
        for (let at = 0; at < outs.length; at++) {
          const moved = at * columnCells;
          values.copyWithin(outA + moved, spare + moved, spare + moved + rowsA);
        }
      } else {
        kernel.pair(block, row - start, endA - start, outA, outA + rowsA, rowsA, endB - endA);
      }
      row = endB;
    }
    kernel.finish?.(block, inputCells);
    for (let at = 0; at < outs.length; at++) {
      const cell = inputCells + at * columnCells;
      outs[at].set(values.subarray(cell, cell + block.rows), start);
    }
    start = end;
  }
}

const even = (cells: number): number => cells + (cells & 1);
