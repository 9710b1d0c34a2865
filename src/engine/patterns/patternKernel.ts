// The kernel of one pattern: WebAssembly made from its conditions. A plan of many patterns computes what they have in
// common once (patternProgram.ts); one pattern alone takes half the time in a loop of its own, which keeps values in
// registers, reads bars where they are, and leaves eight rows as soon as none of them can hold (bench/patterns.ts).
import { COLUMN_BLOCK, ColumnModule, overBlocks } from '../kernels/simd/columnMemory.ts';
import { simdMemory } from '../kernels/simd/simdMemory.ts';
import { FREE, SIGNS } from '../kernels/simd/steps.ts';
import type { PriceColumns, Value } from './candles.ts';
import type { Mean } from './traversal.ts';
import { FIELDS, GROUP, PatternCode, type KernelLayout } from './patternCode.ts';
import type { Finder, PatternSigns } from './signs.ts';

interface Kernel {
  readonly run: (open: number, high: number, low: number, close: number, groups: number) => void;
}

const NUMBER_BYTES = 8;
/** More means than any pattern has. */
const SUMS_BYTES = 128;
const CHANGES_BYTES = (COLUMN_BLOCK + GROUP) * NUMBER_BYTES;
const LAYOUT: KernelLayout = {
  ...SIGNS,
  signsBytes: SIGNS.end - SIGNS.bullish,
  sums: FREE,
  changes: FREE + SUMS_BYTES,
  changesBytes: CHANGES_BYTES,
};
/** Columns of changes, of body, shadows and range, for two periods. */
const MEMORY_BYTES = LAYOUT.changes + 6 * CHANGES_BYTES;

export class PatternKernel implements Finder {
  readonly writesSigns = true;
  readonly #first: number;
  readonly #module: ColumnModule<Kernel>;
  /** One of each running sum. */
  readonly #means: readonly Mean[];

  /** @param lookback the first row on which the conditions are read: the averages of its candles start there */
  constructor(signs: PatternSigns, lookback: number) {
    const code = new PatternCode(signs, LAYOUT);
    this.#first = lookback;
    this.#module = new ColumnModule(new WebAssembly.Module(code.module()));
    this.#means = code.means;
  }

  /**
   * Computes one block of rows after the other. After each, `read` gets the first row of the block, the row after its
   * last, and the memory from which `wordOf` reads.
   */
  run(columns: PriceColumns, read: (start: number, end: number, words: Uint32Array) => void): void {
    if (columns.open.length <= this.#first) return;
    const { values, words } = simdMemory(MEMORY_BYTES);
    this.#means.forEach((mean, index) => {
      values[LAYOUT.sums / NUMBER_BYTES + index] = firstSum(mean, columns, this.#first);
    });
    const prices = FIELDS.map((field) => columns[field]);
    overBlocks(this.#module, prices, this.#first, ({ run }, [openAt, highAt, lowAt, closeAt], start, end) => {
      run(openAt, highAt, lowAt, closeAt, Math.ceil((end - start) / GROUP));
      read(start, end, words);
    });
  }

  /** The bits of 32 rows of a condition, which is an address of SIGNS: those of word `index` of the block. */
  wordOf(condition: number, words: Uint32Array, index: number): number {
    return words[condition / 4 + index];
  }
}

/** What a mean sums up before the first row: the rows before the place of its candle. */
function firstSum({ of, period }: Mean, columns: PriceColumns, first: number): number {
  let sum = 0;
  for (let row = first - period; row < first; row++) sum += valueAt(of, columns, row);
  return sum;
}

function valueAt(value: Value, columns: PriceColumns, row: number): number {
  switch (value.op) {
    case 'field':
      return columns[value.field][row - value.back];
    case 'times':
      return valueAt(value.of, columns, row) * value.factor;
    case 'mean':
      throw new Error('A mean of means has no kernel.');
    default:
      return OPERATIONS[value.op](valueAt(value.left, columns, row), valueAt(value.right, columns, row));
  }
}

/** As the instructions are that patternCode.ts uses. */
const OPERATIONS = {
  plus: (left: number, right: number) => left + right,
  minus: (left: number, right: number) => left - right,
  distance: (left: number, right: number) => Math.abs(left - right),
  max: (left: number, right: number) => (left < right ? right : left),
  min: (left: number, right: number) => (right < left ? right : left),
} as const;
