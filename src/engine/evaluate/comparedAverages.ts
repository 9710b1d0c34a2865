// Averages that are only compared with each other: their columns are never written. Rule statistics, near misses and
// samples read single rows of them, which are computed again.
import { sma } from '../indicators/weighted.ts';
import { leadingOnes, wordCount } from '../kernels/bits.ts';
import type { ConditionColumn } from '../kernels/column.ts';
import { compareMeans, MAX_COMPARED_LENGTH, meansAt } from '../kernels/comparedMeans.ts';
import type { Plan, Slot, Step } from '../plan/plan.ts';
import { sameFrame } from '../plan/builder.ts';

/** A mean of raw prices. */
interface Average {
  readonly slot: Slot;
  readonly length: number;
  readonly source: Float64Array;
}

interface Comparison {
  readonly greater: ConditionColumn;
  readonly less: ConditionColumn;
}

/** Shorter columns stay in the cache. */
const MIN_ROWS = 65_536;
/** Rows of one average that a report may read: of both sides for statistics, and of near misses. */
const ROWS_READ = 3 * 4096;

export class ComparedAverages {
  readonly #averages: ReadonlyMap<Slot, Average>;
  /** By the slots of both sides; null: they need columns. */
  readonly #comparisons = new Map<string, Comparison | null>();
  /** Those whose sums are exact, so that a single row can be computed. */
  readonly #exact = new Set<Slot>();

  private constructor(averages: ReadonlyMap<Slot, Average>) {
    this.#averages = averages;
  }

  /** Without any, since nothing is written to it. */
  static readonly #none = new ComparedAverages(new Map());

  /** @param prices the raw column of a market field of the base bars */
  static of(plan: Plan, rows: number, prices: (field: string) => Float64Array | null): ComparedAverages {
    // The variants of a sweep, which record no conditions, share averages.
    const isWorthwhile = rows >= MIN_ROWS && plan.conditions.length > 0;
    return isWorthwhile ? new ComparedAverages(averagesOf(plan, prices)) : ComparedAverages.#none;
  }

  get isEmpty(): boolean {
    return this.#averages.size === 0;
  }

  /** Bits of the rows on which the left average is greater, and less; null: their columns are needed. */
  compare([left, right]: readonly Slot[]): Comparison | null {
    const [a, b] = [this.#averages.get(left), this.#averages.get(right)];
    if (a === undefined || b === undefined || a.source !== b.source) return null;
    const key = `${left},${right}`;
    let found = this.#comparisons.get(key);
    if (found === undefined) this.#comparisons.set(key, (found = this.#compare(a, b)));
    return found;
  }

  #compare(a: Average, b: Average): Comparison | null {
    const { source } = a;
    if (ROWS_READ * (a.length + b.length) > source.length) return null;
    const [greater, less] = [0, 1].map(() => new Uint32Array(wordCount(source.length)));
    if (!compareMeans(source, a.length, b.length, greater, less)) return null;
    this.#exact.add(a.slot).add(b.slot);
    const isUnknown = leadingOnes(Math.max(a.length, b.length) - 1);
    return { greater: { isTrue: greater, isUnknown }, less: { isTrue: less, isUnknown } };
  }

  /** Whether single rows can be read. */
  isExact(slot: Slot): boolean {
    return this.#exact.has(slot);
  }

  /** Writes the values of some rows; false: the column is needed. */
  read(slot: Slot, rows: Int32Array, out: Float64Array): boolean {
    if (!this.isExact(slot)) return false;
    const { source, length } = this.#averages.get(slot)!;
    meansAt(source, rows, length, out);
    return true;
  }
}

/** The averages on the base bars that no step reads but crosses, and comparisons without a tolerance. */
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

/** Of a simple moving average; 0 for any other step. */
function lengthOf(step: Step): number {
  if (step.type !== 'value') return 0;
  if (step.op === 'rolling') return step.rolling === 'avg' ? step.period : 0;
  return step.op === 'indicator' && step.definition === sma ? Number(step.args.length) : 0;
}

const isComparison = (step: Step): boolean =>
  step.type === 'condition' &&
  (step.op === 'cross' ||
    (step.op === 'compare' && step.tolerance === 0 && (step.compare === 'gt' || step.compare === 'lt')));
