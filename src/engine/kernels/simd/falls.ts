// Falls of marks from the highest mark so far (falls.wat), with the same bits as a plain loop.
import { compileModule } from './simdMemory.ts';
import { FALLS_WASM } from './wasm.ts';

/** A memory of its own, because the fill loop writes marks to it while other kernels run. */
const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
const kernel = new WebAssembly.Instance(compileModule(FALLS_WASM), { host: { memory } });
const { addMarks } = kernel.exports as { readonly addMarks: (count: number) => void };

/** Where the marks begin in the memory, after what one call leaves for the next. */
const MARKS = 128;
/** Marks per call: the L1 cache holds them. */
const BLOCK_MARKS = 4096;
const values = new Float64Array(memory.buffer, 0, MARKS / 8);
const integers = new Int32Array(memory.buffer, 0, MARKS / 4);

/** The marks that `addFalls` reads next. */
export const NEXT_MARKS = new Float64Array(memory.buffer, MARKS, BLOCK_MARKS);

export interface Falls {
  /** The highest mark, or the first peak if that is higher. */
  readonly peak: number;
  /** Σ marks, compensated as in `compensatedSum`. */
  readonly total: number;
  /** The depth of the fall that has not recovered, as a fraction of its peak. */
  readonly depth: number;
  /** Σ depths of the falls that have recovered, and their number. */
  readonly depthSum: number;
  readonly recoveries: number;
  /** The largest fall in money. */
  readonly money: number;
  /** The depth of the deepest fall; 0: there is none. */
  readonly deepest: number;
  /** The index of its peak (-1: the first one), of its lowest mark and of its recovery (-1: none). */
  readonly peakIndex: number;
  readonly troughIndex: number;
  readonly recoveredIndex: number;
  /** Marks below a peak, and the most of them in a row. */
  readonly belowCount: number;
  readonly longestBelow: number;
}

/** @param firstPeak counts as a mark before the first */
export function fallsOf(marks: Float64Array, firstPeak: number): Falls {
  beginFalls(firstPeak);
  for (let from = 0; from < marks.length; from += BLOCK_MARKS) {
    const block = marks.length - from > BLOCK_MARKS ? marks.subarray(from, from + BLOCK_MARKS) : marks.subarray(from);
    NEXT_MARKS.set(block);
    addFalls(block.length);
  }
  return fallsSoFar();
}

/** Starts over, for marks that are added a block at a time. There is one such series per thread. */
export function beginFalls(firstPeak: number): void {
  values.fill(0);
  values[0] = firstPeak;
  values[1] = firstPeak;
  integers[16] = -1;
}

/** Adds the first `count` marks of NEXT_MARKS. */
export const addFalls = addMarks;

/** The falls of the marks that were added since `beginFalls`. */
export function fallsSoFar(): Falls {
  const lastBelow = integers[17] - integers[16] - 1;
  return {
    peak: values[0],
    total: values[2] + values[3],
    depth: values[4],
    depthSum: values[5],
    recoveries: integers[20],
    money: values[6],
    deepest: values[7],
    peakIndex: integers[21],
    troughIndex: integers[22],
    recoveredIndex: integers[23],
    belowCount: integers[18] + lastBelow,
    longestBelow: Math.max(integers[19], lastBelow),
  };
}
