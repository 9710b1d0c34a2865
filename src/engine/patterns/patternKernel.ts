// The kernel of one pattern: WebAssembly made from its conditions. A plan of many patterns computes what they have in
// common once (patternProgram.ts); one pattern alone takes half the time in a loop of its own, which keeps values in
// registers, reads bars where they are, and leaves eight rows as soon as none of them can hold (bench/patterns.ts).
import { COLUMN_BLOCK, ColumnModule, LONG_COLUMN_BLOCK, overBlocks } from '../kernels/simd/columnMemory.ts';
import { memoryUnderOwned } from '../kernels/simd/ownedColumns.ts';
import { kernelMemory, simdMemory } from '../kernels/simd/simdMemory.ts';
import { FREE, SIGN_VALUES, SIGNS } from '../kernels/simd/steps.ts';
import type { PriceColumns, Value } from './candles.ts';
import type { Mean } from './traversal.ts';
import { GROUP } from './groups.ts';
import { FIELDS } from './conditionCode.ts';
import { PatternCode, type KernelLayout } from './patternCode.ts';
import type { ResultForm } from './patternResults.ts';
import { copyOut, type Finder, type PatternSigns, type PatternValues } from './signs.ts';

interface Kernel {
  /** Addresses of four columns and of the values that are written, if they are. */
  readonly run: (open: number, high: number, low: number, close: number, groups: number, values: number) => void;
}

interface FormKernel {
  readonly module: ColumnModule<Kernel>;
  /** One of each running sum. */
  readonly means: readonly Mean[];
  /** Whether it has columns of changes, which are as long as a short block. */
  readonly keepsChanges: boolean;
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
  readonly #signs: PatternSigns;
  readonly #first: number;
  readonly #forms = new Map<ResultForm, FormKernel>();

  /** @param lookback the first row on which the conditions are read: the averages of its candles start there */
  constructor(signs: PatternSigns, lookback: number) {
    this.#signs = signs;
    this.#first = lookback;
  }

  /**
   * Computes one block of rows after the other. After each, `read` gets the first row of the block, the row after its
   * last, and the memory from which `wordOf` reads.
   */
  run(columns: PriceColumns, read: (start: number, end: number, words: Uint32Array) => void): void {
    this.#over('bits', columns, kernelMemory, ({ run }, [openAt, highAt, lowAt, closeAt], start, end) => {
      run(openAt, highAt, lowAt, closeAt, Math.ceil((end - start) / GROUP), 0);
      read(start, end, simdMemory(0).words);
    });
  }

  /** Writes a value to each row from the first on: where it belongs, if a kernel can write there. */
  write(columns: PriceColumns, out: PatternValues): void {
    const form = out instanceof Int32Array ? 'integers' : 'doubles';
    const memory = memoryUnderOwned(out) ?? kernelMemory;
    this.#over(form, columns, memory, ({ run }, [openAt, highAt, lowAt, closeAt], start, end, results) => {
      const groups = Math.ceil((end - start) / GROUP);
      if (results !== kernelMemory)
        return run(openAt, highAt, lowAt, closeAt, groups, out.byteOffset + start * out.BYTES_PER_ELEMENT);
      run(openAt, highAt, lowAt, closeAt, groups, SIGN_VALUES);
      copyOut(0, end - start, out, start);
    });
  }

  #over(
    form: ResultForm,
    columns: PriceColumns,
    results: WebAssembly.Memory,
    visit: Parameters<typeof overBlocks<Kernel>>[5],
  ): void {
    if (columns.open.length <= this.#first) return;
    const { module, means, keepsChanges } = this.#form(form);
    const { values } = simdMemory(MEMORY_BYTES);
    means.forEach((mean, index) => {
      values[LAYOUT.sums / NUMBER_BYTES + index] = firstSum(mean, columns, this.#first);
    });
    const prices = FIELDS.map((field) => columns[field]);
    // Bits, and values that are copied out, lie in the kernels' memory, where there is room for a short block of them.
    const inPlaceRows = results === kernelMemory || keepsChanges ? COLUMN_BLOCK : LONG_COLUMN_BLOCK;
    overBlocks(module, prices, this.#first, results, inPlaceRows, visit);
  }

  #form(form: ResultForm): FormKernel {
    const known = this.#forms.get(form);
    if (known !== undefined) return known;
    const code = new PatternCode(this.#signs, form, LAYOUT);
    const { means, keepsChanges } = code;
    const made = { module: new ColumnModule<Kernel>(new WebAssembly.Module(code.module())), means, keepsChanges };
    this.#forms.set(form, made);
    return made;
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
