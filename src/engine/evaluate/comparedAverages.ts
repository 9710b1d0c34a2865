// Averages that are only compared with each other are compared while they are computed. Rule statistics, near misses
// and samples still read single rows of them: in a long series those rows are computed again, and no column is written.
import { sma } from '../indicators/weighted.ts';
import { leadingOnes, wordCount } from '../kernels/bits.ts';
import type { ValueColumn } from '../kernels/column.ts';
import { compareMeans, MAX_COMPARED_LENGTH, meansAt } from '../kernels/comparedMeans.ts';
import { newKeptWords } from '../kernels/sharedBuffer.ts';
import type { Plan, Slot, Step } from '../plan/plan.ts';
import { sameFrame } from '../plan/builder.ts';
import type { ComparedSides } from './leafConditions.ts';

/** A mean of raw prices. */
interface Average {
  readonly slot: Slot;
  readonly length: number;
  readonly source: Float64Array;
}

/** Two averages, compared on every row. */
interface Comparison extends ComparedSides {
  /** The columns of both sides, by slot; null: they have none, and `read` computes single rows. */
  readonly columns: ReadonlyMap<Slot, ValueColumn> | null;
}

/** Shorter columns are computed within microseconds, and often kept from an earlier run. */
const MIN_ROWS = 4_097;
/** The most rows of one average that a report reads: as either side of a comparison, and for near misses. */
const ROWS_READ = 3 * 4096;

/** The averages of one plan on one market that are only compared. */
export class ComparedAverages {
  readonly #averages: ReadonlyMap<Slot, Average>;
  readonly #allocate: (rows: number) => Float64Array;
  /** The comparisons so far, by the slots of both sides; null: they need columns. */
  readonly #comparisons = new Map<string, Comparison | null>();
  /** The averages whose sums are exact, so that a single row can be computed. */
  readonly #exact = new Set<Slot>();

  private constructor(averages: ReadonlyMap<Slot, Average>, allocate: (rows: number) => Float64Array) {
    this.#averages = averages;
    this.#allocate = allocate;
  }

  /** For plans without such averages. */
  static readonly #none = new ComparedAverages(new Map(), () => new Float64Array(0));

  /**
   * @param prices returns the raw column of a market field of the base bars
   * @param allocate makes a column of `rows` rows
   */
  static of(
    plan: Plan,
    rows: number,
    prices: (field: string) => Float64Array | null,
    allocate: (rows: number) => Float64Array,
  ): ComparedAverages {
    // Not for the variants of a sweep, which record no conditions: they share the columns of averages.
    const isWorthwhile = rows >= MIN_ROWS && plan.conditions.length > 0;
    return isWorthwhile ? new ComparedAverages(averagesOf(plan, prices), allocate) : ComparedAverages.#none;
  }

  get isEmpty(): boolean {
    return this.#averages.size === 0;
  }

  /**
   * The rows on which the left average is greater, and those on which it is less; null: compare their columns instead.
   * @param isMade whether an average already has a column
   */
  compare([left, right]: readonly Slot[], isMade: (slot: Slot) => boolean): Comparison | null {
    const [a, b] = [this.#averages.get(left), this.#averages.get(right)];
    if (a === undefined || b === undefined || a.source !== b.source) return null;
    const key = `${left},${right}`;
    let found = this.#comparisons.get(key);
    if (found === undefined) {
      found = isMade(left) || isMade(right) ? null : this.#compare(a, b);
      this.#comparisons.set(key, found);
    }
    return found;
  }

  #compare(a: Average, b: Average): Comparison | null {
    const { source } = a;
    const rows = source.length;
    const hasColumns = ROWS_READ * (a.length + b.length) > rows;
    const columns = hasColumns ? ([this.#allocate(rows), this.#allocate(rows)] as const) : null;
    const greater = newKeptWords(wordCount(rows));
    const less = newKeptWords(wordCount(rows));
    if (!compareMeans(source, a.length, b.length, greater, less, columns)) return null;
    if (columns === null) this.#exact.add(a.slot).add(b.slot);
    const isUnknown = leadingOnes(Math.max(a.length, b.length) - 1);
    return {
      greater: { isTrue: greater, isUnknown },
      less: { isTrue: less, isUnknown },
      columns: columns && new Map([a, b].map(({ slot, length }, at) => [slot, meanColumn(columns[at], length)])),
    };
  }

  /** Whether `read` can compute single rows of the average. */
  isExact(slot: Slot): boolean {
    return this.#exact.has(slot);
  }

  /** Writes the values of these rows; false when the column must be computed. */
  read(slot: Slot, rows: Int32Array, out: Float64Array): boolean {
    if (!this.isExact(slot)) return false;
    const { source, length } = this.#averages.get(slot)!;
    meansAt(source, rows, length, out);
    return true;
  }
}

const meanColumn = (values: Float64Array, length: number): ValueColumn => ({
  values,
  firstValid: Math.min(length - 1, values.length),
  hasHoles: false,
});

/** The averages on the base bars that are read only by crosses and by comparisons without a tolerance. */
function averagesOf(plan: Plan, prices: (field: string) => Float64Array | null): Map<Slot, Average> {
  const found = new Map<Slot, Average>();
  for (const step of plan.steps) {
    const length = lengthOf(step);
    if (length < 2 || length > MAX_COMPARED_LENGTH || !sameFrame(step.frame, plan.base)) continue;
    const input = plan.steps[step.inputs[0]];
    const source = input.type === 'value' && input.op === 'field' ? prices(input.field) : null;
    if (source !== null) found.set(step.slot, { slot: step.slot, length, source });
  }
  for (const step of plan.steps) if (!isComparison(step)) for (const slot of step.inputs) found.delete(slot);
  return found;
}

/** The length of a simple moving average; 0 for any other step. */
function lengthOf(step: Step): number {
  if (step.type !== 'value') return 0;
  if (step.op === 'rolling') return step.rolling === 'avg' ? step.period : 0;
  return step.op === 'indicator' && step.definition === sma ? Number(step.args.length) : 0;
}

const isComparison = (step: Step): boolean =>
  step.type === 'condition' &&
  (step.op === 'cross' ||
    (step.op === 'compare' && step.tolerance === 0 && (step.compare === 'gt' || step.compare === 'lt')));
