// Recursions in parts: four parts of a long column are computed at once (recursions.wat), all but the first from a
// guessed state. The error of a guess decays until rounding drops its last bit, and from then on the numbers are the
// same, bit for bit. The rows before that are computed again.
import { runChunks, type Recursion, type KnownRecursion } from '../../kernels/recursion.ts';
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

const PARTS = 4;
const NUMBER_BYTES = 8;
/** Cells of the kernels' memory: the weights, after the states; then the results, and copies of columns. */
const WEIGHT_CELL = 8;
const OUT_CELL = 16;

/**
 * Writes rows from … end-1, an even number of them, and those of three more parts, each `apart` after the one before.
 * The state before each part is in `state`, first the numbers of one part, then of the next. The state after the part
 * replaces it.
 */
type WriteParts = (state: Float64Array, from: number, end: number, apart: number) => void;

/** The kernel of a recursion. */
function partsWriter({ name, columns, out }: KnownRecursion, weight: number): WriteParts {
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
  runParts(recursion, partsWriter(known, weight), first, n, apart, warmUp);
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
