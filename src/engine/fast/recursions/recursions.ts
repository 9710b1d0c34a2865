// Recursive averages of four parts of a column at once (recursions.wat): where columns lie in a memory that kernels can
// read and write, and else in copies of a few rows.
import type { KnownRecursion } from '../../kernels/recursion.ts';
import { ColumnModule } from '../columnMemory.ts';
import { memoryUnderOwned } from '../../kernels/ownedColumns.ts';
import { memoryUnder } from '../../kernels/sharedMemory.ts';
import { compileModule, kernelMemory, simdMemory } from '../../kernels/simdMemory.ts';
import { RECURSIONS_WASM, UNSHARED_RECURSIONS_WASM } from '../wasm.ts';

/** Addresses of the columns and of the results, how far the parts of both are apart, and the size of a part. */
type Kernel = (...numbers: number[]) => void;
type Kernels = Readonly<Record<KnownRecursion['name'], Kernel>>;

const sharedColumns = new ColumnModule<Kernels>(compileModule(RECURSIONS_WASM));
const ownColumns = new ColumnModule<Kernels>(compileModule(UNSHARED_RECURSIONS_WASM));

export const PARTS = 4;
const NUMBER_BYTES = 8;
/** Cells of the kernels' memory: the weights, after the states; then the results, and copies of columns. */
const WEIGHT_CELL = 8;
const OUT_CELL = 16;

/**
 * Writes rows from … end-1, an even number of them, and those of three more parts, each `apart` after the one before.
 * The state before each part is in `state`, first the numbers of one part, then of the next. The state after the part
 * replaces it.
 */
export type WriteParts = (state: Float64Array, from: number, end: number, apart: number) => void;

/** The kernel of a recursion. */
export function writeParts({ name, columns, out }: KnownRecursion, weight: number): WriteParts {
  return (state, from, end, apart) => {
    const rows = end - from;
    const cells = cellsOf(rows);
    const { values } = simdMemory((OUT_CELL + (1 + columns.length) * PARTS * cells) * NUMBER_BYTES);
    values.set(state);
    values[WEIGHT_CELL] = weight;
    values[WEIGHT_CELL + 1] = 1 - weight;
    const results = memoryUnderOwned(out);
    const source = inPlace(columns, from, apart, results) ?? copied(columns, from, end, apart, results, values);
    const kernel = source.kernels[name];
    const size = rows * NUMBER_BYTES;
    if (results !== undefined) {
      kernel(...source.addresses, out.byteOffset + from * NUMBER_BYTES, source.apart, apart * NUMBER_BYTES, size);
    } else {
      kernel(...source.addresses, OUT_CELL * NUMBER_BYTES, source.apart, cells * NUMBER_BYTES, size);
      for (let part = 0; part < PARTS; part++) {
        const cell = OUT_CELL + part * cells;
        out.set(values.subarray(cell, cell + rows), from + part * apart);
      }
    }
    state.set(values.subarray(0, state.length));
  };
}

interface Source {
  readonly kernels: Kernels;
  readonly addresses: readonly number[];
  /** In bytes. */
  readonly apart: number;
}

/** Columns that kernels can read where they are. */
function inPlace(
  columns: readonly Float64Array[],
  from: number,
  apart: number,
  results: WebAssembly.Memory | undefined,
): Source | undefined {
  const shared = memoryUnder(columns[0]);
  const owned = memoryUnderOwned(columns[0]);
  if (!columns.every((column) => memoryUnder(column) === shared && memoryUnderOwned(column) === owned))
    return undefined;
  const addresses = columns.map(({ byteOffset }) => byteOffset + from * NUMBER_BYTES);
  if (shared !== undefined)
    return { kernels: sharedColumns.on(shared, results), addresses, apart: apart * NUMBER_BYTES };
  if (owned !== undefined) return { kernels: ownColumns.on(owned, results), addresses, apart: apart * NUMBER_BYTES };
  return undefined;
}

/** Copies of these rows and of the one before them, after the results in the kernels' memory. */
function copied(
  columns: readonly Float64Array[],
  from: number,
  end: number,
  apart: number,
  results: WebAssembly.Memory | undefined,
  values: Float64Array,
): Source {
  const cells = cellsOf(end - from);
  const addresses = columns.map((column, index) => {
    const first = OUT_CELL + (1 + index) * PARTS * cells;
    for (let part = 0; part < PARTS; part++) {
      const shift = part * apart;
      values.set(column.subarray(from - 1 + shift, end + shift), first + part * cells);
    }
    return (first + 1) * NUMBER_BYTES;
  });
  return { kernels: ownColumns.on(kernelMemory, results), addresses, apart: cells * NUMBER_BYTES };
}

/**
 * Cells from one part of a copy to the next. A load waits for an earlier store whose address differs from its own by a
 * multiple of 4 KiB.
 */
const cellsOf = (rows: number): number => rows + 72;
