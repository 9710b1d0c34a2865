// Blocks of segments. A segment depends on nothing before it except its first window, so that SIMD computes two of them
// at once. Results are written to the memory of the kernels, or directly to where they belong.
import { memoryUnderOwned } from '../../kernels/ownedColumns.ts';
import { segmentRows } from '../../kernels/segments.ts';
import { kernelMemory, simdMemory } from '../../kernels/simdMemory.ts';
import { columnKernels, type Readable } from './columnKernels.ts';

/** Longer windows would need blocks that do not fit a near cache. */
export const MAX_BLOCK_LENGTH = 2048;
/**
 * Rows of a block, which has at least two segments. Half as many would take more calls; the results of these fit the L1
 * cache.
 */
const BLOCK = 4096;
const NUMBER_BYTES = 8;

/** Where the results of one column are written. */
interface Target {
  readonly kernels: Readable['kernels'];
  /** All of the memory that the kernels write to. */
  readonly values: Float64Array;
  readonly memory: WebAssembly.Memory;
  /** The cell of the block's first result. */
  readonly cell: number;
}

/** A block of rows. */
export interface Block {
  readonly source: Float64Array;
  /** The first row that its windows read, and the row after the last. */
  readonly from: number;
  readonly end: number;
  /** Where kernels read the source, from row `from` on. */
  readonly address: number;
  /** One for each column of results. */
  readonly targets: readonly Target[];
  readonly rows: number;
}

export interface BlockKernel {
  /**
   * Writes the results of two segments, beginning `toA` and `toB` cells after the first result of the block. Their
   * first windows begin `a` and `b` rows after the first row of the block. The kernel writes the larger of rowsA and
   * rowsB for both. A segment without a partner is paired with itself.
   */
  pair(block: Block, a: number, b: number, toA: number, toB: number, rowsA: number, rowsB: number): void;
  /**
   * The same for `count` pairs of whole segments of `interval` rows, the first of which begins `at` rows after the
   * block; a pair is one of the first half and one of the second. One call in place of eight saves a tenth of the time.
   */
  pairs(block: Block, at: number, interval: number, count: number): void;
  /** What remains to do for the whole block. */
  finish?(block: Block): void;
}

/** Runs a kernel that writes rows first+length-1 … n-1 of `outs`, directly into these columns if it can. */
export function overSegments(
  source: Float64Array,
  first: number,
  length: number,
  outs: readonly Float64Array[],
  kernel: BlockKernel,
): void {
  const blocks = new Blocks(source, first, length, outs.length, kernel);
  const { values } = simdMemory(blocks.endCell * NUMBER_BYTES);
  const owned = outs.flatMap(ownedColumn);
  const areOwned = owned.length === outs.length;
  while (!blocks.isDone) {
    if (areOwned && blocks.writeNext(owned)) continue;
    blocks.next(values);
    for (let at = 0; at < outs.length; at++) {
      const cell = at * blocks.columnCells;
      outs[at].set(values.subarray(cell, cell + blocks.end - blocks.start), blocks.start);
    }
  }
}

/** A column that kernels can write to. */
interface OwnedColumn {
  readonly memory: WebAssembly.Memory;
  readonly values: Float64Array;
  /** Where its first row is. */
  readonly cell: number;
}

function ownedColumn(column: Float64Array): OwnedColumn[] {
  const memory = memoryUnderOwned(column);
  if (memory === undefined) return [];
  return [{ memory, values: new Float64Array(memory.buffer), cell: column.byteOffset / NUMBER_BYTES }];
}

/** The results of a kernel over the rows first+length-1 … n-1, a block at a time. */
class Blocks {
  /** The rows of the block, [start, end): none before the first one. */
  start: number;
  end: number;
  /** The results of each column begin so many cells after those of the column before. */
  readonly columnCells: number;
  /** One past the last cell that is used. */
  readonly endCell: number;
  readonly #source: Float64Array;
  readonly #length: number;
  readonly #columns: number;
  readonly #kernel: BlockKernel;
  readonly #interval: number;
  readonly #blockRows: number;

  constructor(source: Float64Array, first: number, length: number, columns: number, kernel: BlockKernel) {
    const interval = segmentRows(length);
    const blockRows = blockRowsOf(length);
    this.columnCells = even(blockRows + 2 * interval);
    this.endCell = columns * this.columnCells;
    this.start = this.end = first + length - 1;
    this.#source = source;
    this.#length = length;
    this.#columns = columns;
    this.#kernel = kernel;
    this.#interval = interval;
    this.#blockRows = blockRows;
  }

  get isDone(): boolean {
    return this.end >= this.#source.length;
  }

  /** Computes the next block; there must be one. */
  next(values: Float64Array): void {
    const { columnCells } = this;
    const column = this.#read();
    const targets: Target[] = [];
    for (let at = 0; at < this.#columns; at++)
      targets.push({ kernels: column.kernels, values, memory: kernelMemory, cell: at * columnCells });
    this.#compute(column, targets);
  }

  /** Computes the next block where its results belong. False: its segments are not whole, and nothing is computed. */
  writeNext(outs: readonly OwnedColumn[]): boolean {
    const start = this.end;
    if (start % this.#interval !== 0 || start + this.#blockRows > this.#source.length) return false;
    const column = this.#read();
    const targets = outs.map(({ memory, values, cell }) => ({
      kernels: columnKernels.on(column.memory, memory),
      values,
      memory,
      cell: cell + start,
    }));
    this.#compute(column, targets);
    return true;
  }

  get #nextEnd(): number {
    const interval = this.#interval;
    return Math.min(this.#source.length, Math.floor(this.end / interval) * interval + this.#blockRows);
  }

  /** What the windows of the next block read. A segment that ends early is computed beyond its end. */
  #read(): Readable {
    return columnKernels.read(this.#source, this.end - this.#length + 1, this.#nextEnd, this.#interval);
  }

  #compute({ address }: Readable, targets: readonly Target[]): void {
    const start = this.end;
    const end = this.#nextEnd;
    const from = start - this.#length + 1;
    const block = { source: this.#source, from, end, address, targets, rows: end - start };
    const interval = this.#interval;
    let row = start;
    // The first segment of a column is not whole.
    if (row % interval !== 0) row = this.#pair(block, row, start, end);
    const pairs = Math.floor((end - row) / (2 * interval));
    if (pairs > 0) this.#kernel.pairs(block, row - start, interval, pairs);
    row += pairs * 2 * interval;
    if (row < end) this.#pair(block, row, start, end);
    this.#kernel.finish?.(block);
    this.start = start;
    this.end = end;
  }

  /** Computes the segment that begins at `row`, and the next one. @returns the row after them */
  #pair(block: Block, row: number, start: number, end: number): number {
    const interval = this.#interval;
    const endA = Math.min(end, (Math.floor(row / interval) + 1) * interval);
    const endB = Math.min(end, endA + interval);
    const rowsA = endA - row;
    const toA = row - start;
    if (endB === endA) {
      this.#kernel.pair(block, toA, toA, toA, toA, rowsA, rowsA);
    } else if (rowsA < endB - endA) {
      // Written in place, the first segment would run over the beginning of the second.
      const spare = this.#blockRows + interval;
      this.#kernel.pair(block, toA, endA - start, spare, toA + rowsA, rowsA, endB - endA);
      for (const { values, cell } of block.targets) values.copyWithin(cell + toA, cell + spare, cell + spare + rowsA);
    } else {
      this.#kernel.pair(block, toA, endA - start, toA, toA + rowsA, rowsA, endB - endA);
    }
    return endB;
  }
}

/** Whole segments; when four fit, a multiple of four, so that the block ends with a whole word of bits. */
function blockRowsOf(length: number): number {
  const interval = segmentRows(length);
  const segments = Math.floor(BLOCK / interval);
  return Math.max(2, segments >= 4 ? segments & ~3 : segments) * interval;
}

const even = (cells: number): number => cells + (cells & 1);
