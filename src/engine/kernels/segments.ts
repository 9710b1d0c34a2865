// Segments: the rows between two restarts of a running sum. They depend on nothing before them but their first window,
// so that SIMD computes two of them at once, a block of segments at a time, in the memory of the kernels.
import { columnKernels, type Readable } from './simd/rolling.ts';
import { simdMemory } from './simd/simdMemory.ts';

/**
 * Rows between two restarts, at absolute row numbers so that a value never depends on where a run began. A naive
 * running variance drifts to 3e-8 over a million rows; restarted, it stays at 2e-13. Long windows restart less often,
 * because a restart costs `length` additions.
 */
const segmentRows = (length: number): number => Math.max(256, 8 * length);

/** Where the segment of a row ends, in a series of n rows. */
export const segmentEnd = (row: number, length: number, n: number): number => {
  const rows = segmentRows(length);
  return Math.min(n, (Math.floor(row / rows) + 1) * rows);
};

/** Longer windows would need blocks that no near cache holds. */
export const MAX_BLOCK_LENGTH = 2048;
/** Rows of a block, at least two segments: fewer calls than of half as many, and its results fit the nearest cache. */
const BLOCK = 4096;
const NUMBER_BYTES = 8;

/** A block of rows. */
export interface Block {
  readonly source: Float64Array;
  /** The first row that its windows read, and the row after the last. */
  readonly from: number;
  readonly end: number;
  /** Where kernels read the source, from its first row on. */
  readonly column: Readable;
  /** The memory of the kernels, where results are written. */
  readonly values: Float64Array;
  /** Each further result of a row is this many cells behind the one before. */
  readonly columnCells: number;
  readonly rows: number;
}

export interface BlockKernel {
  /**
   * Writes the first results of two segments to the cells at outA and outB; further ones belong `columnCells` later.
   * `a` and `b` are how many rows after the block's first their first windows begin. Of rowsA and rowsB, the kernel
   * writes the larger number for both. An odd segment comes with itself.
   */
  pair(block: Block, a: number, b: number, outA: number, outB: number, rowsA: number, rowsB: number): void;
  /** What remains to do for the whole block; its results begin at cell `out`. */
  finish?(block: Block, out: number): void;
}

/** Runs a kernel over the rows first+length-1 … n-1 of `outs`, its results. */
export function overSegments(
  source: Float64Array,
  first: number,
  length: number,
  outs: readonly Float64Array[],
  kernel: BlockKernel,
): void {
  const blocks = new Blocks(source, first, length, outs.length, kernel, 0);
  const { values } = simdMemory(blocks.endCell * NUMBER_BYTES);
  while (blocks.next(values)) {
    for (let at = 0; at < outs.length; at++) {
      const cell = blocks.out + at * blocks.columnCells;
      outs[at].set(values.subarray(cell, cell + blocks.end - blocks.start), blocks.start);
    }
  }
}

/** The results of a kernel over the rows first+length-1 … n-1, a block at a time. */
export class Blocks {
  /** The rows of the block, [start, end): none before the first one. */
  start: number;
  end: number;
  /** The cell of its first result; those of each further column are `columnCells` later. */
  readonly out: number;
  readonly columnCells: number;
  /** One past the last cell that is used. */
  readonly endCell: number;
  readonly #source: Float64Array;
  readonly #length: number;
  readonly #columns: number;
  readonly #kernel: BlockKernel;
  readonly #interval: number;
  readonly #blockRows: number;

  /** @param from the first cell of the memory that may be used */
  constructor(source: Float64Array, first: number, length: number, columns: number, kernel: BlockKernel, from: number) {
    const interval = segmentRows(length);
    const blockRows = blockRowsOf(length);
    this.columnCells = even(blockRows + 2 * interval);
    // Rows before the first window belong in front of the first result (comparedMeans.ts).
    this.out = from + even(length);
    this.endCell = this.out + columns * this.columnCells;
    this.start = this.end = first + length - 1;
    this.#source = source;
    this.#length = length;
    this.#columns = columns;
    this.#kernel = kernel;
    this.#interval = interval;
    this.#blockRows = blockRows;
  }

  /** Computes the next block; false: there is none. */
  next(values: Float64Array): boolean {
    const source = this.#source;
    const start = this.end;
    if (start >= source.length) return false;
    const interval = this.#interval;
    const end = Math.min(source.length, Math.floor(start / interval) * interval + this.#blockRows);
    const first = start - this.#length + 1;
    // A segment that ends early is computed beyond its end.
    const column = columnKernels.read(source, first, end, interval);
    const { columnCells } = this;
    const block = { source, from: first, end, column, values, rows: end - start, columnCells };
    for (let row = start; row < end;) row = this.#pair(block, row, start, end);
    this.#kernel.finish?.(block, this.out);
    this.start = start;
    this.end = end;
    return true;
  }

  /** The segment that begins at `row`, and the next one. Gives the row after them. */
  #pair(block: Block, row: number, start: number, end: number): number {
    const { values } = block;
    const interval = this.#interval;
    const endA = Math.min(end, (Math.floor(row / interval) + 1) * interval);
    const endB = Math.min(end, endA + interval);
    const rowsA = endA - row;
    const outA = this.out + row - start;
    if (endB === endA) {
      this.#kernel.pair(block, row - start, row - start, outA, outA, rowsA, rowsA);
    } else if (rowsA < endB - endA) {
      // The first segment would be continued over the beginning of the second.
      const spare = this.out + this.#blockRows + interval;
      this.#kernel.pair(block, row - start, endA - start, spare, outA + rowsA, rowsA, endB - endA);
      for (let at = 0; at < this.#columns; at++) {
        const moved = at * this.columnCells;
        values.copyWithin(outA + moved, spare + moved, spare + moved + rowsA);
      }
    } else {
      this.#kernel.pair(block, row - start, endA - start, outA, outA + rowsA, rowsA, endB - endA);
    }
    return endB;
  }
}

/** Whole segments; where four fit, as many as end with a whole word of bits. */
function blockRowsOf(length: number): number {
  const interval = segmentRows(length);
  const segments = Math.floor(BLOCK / interval);
  return Math.max(2, segments >= 4 ? segments & ~3 : segments) * interval;
}

const even = (cells: number): number => cells + (cells & 1);
