// Comparisons of columns as bits (compareRows.wat). Addresses and sizes are in bytes.
import { wordCount } from '../../kernels/bits.ts';
import { instantiate, simdMemory } from '../../kernels/simdMemory.ts';
import { COMPAREROWS_WASM } from '../wasm.ts';

/** Writes bits of the rows on which a is greater than b, and on which it is less. The size is a multiple of 64. */
type CompareRows = (a: number, b: number, size: number, greater: number, less: number) => void;

const { compareRows } = instantiate(COMPAREROWS_WASM) as { readonly compareRows: CompareRows };

/** Rows that are compared at a time. Most columns of a short run are one block, which needs no view of its own. */
const BLOCK_ROWS = 4096;
const BLOCK_BYTES = BLOCK_ROWS * 8;
const BLOCK_WORDS = BLOCK_ROWS / 32;

/** See `compareBlocks`. */
export function compareWithKernel(
  a: Float64Array,
  b: Float64Array | number,
  greater: Uint32Array | null,
  less: Uint32Array | null,
): true {
  const rows = a.length;
  const bits = 2 * BLOCK_BYTES;
  const { values, words } = simdMemory(bits + 2 * BLOCK_WORDS * 4);
  if (typeof b === 'number') values.fill(b, BLOCK_ROWS, BLOCK_ROWS + Math.min(rows, BLOCK_ROWS));
  for (let from = 0; from < rows; from += BLOCK_ROWS) {
    const end = Math.min(rows, from + BLOCK_ROWS);
    values.set(blockOf(a, from, end));
    if (typeof b !== 'number') values.set(blockOf(b, from, end), BLOCK_ROWS);
    // Eight rows at a time; some past the end are compared too.
    compareRows(0, BLOCK_BYTES, 64 * Math.ceil((end - from) / 8), bits, bits + BLOCK_WORDS * 4);
    if (greater !== null) readWords(words, bits / 4, greater, from, end);
    if (less !== null) readWords(words, bits / 4 + BLOCK_WORDS, less, from, end);
  }
  return true;
}

/** Copies the words of rows `from` … `end`-1 that a block has at `at`, without the bits past the last row. */
function readWords(words: Uint32Array, at: number, out: Uint32Array, from: number, end: number): void {
  const first = at - from / 32;
  for (let w = from / 32; w < wordCount(end); w++) out[w] = words[first + w];
  if ((end & 31) !== 0) out[end >>> 5] &= (1 << (end & 31)) - 1;
}

const blockOf = (column: Float64Array, from: number, end: number): Float64Array =>
  end - from === column.length ? column : column.subarray(from, end);
