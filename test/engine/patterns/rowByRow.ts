// The rules of patterns, read row by row: what programs must find.
import { allOf, type Condition, type PriceColumns, type Value } from '../../../src/engine/patterns/candles.ts';
import { signsOf } from '../../../src/engine/patterns/patternDefinition.ts';
import { PATTERNS } from '../../../src/engine/patterns/patternRegistry.ts';
import { jaggedBars } from './jagged.ts';

export const bars = (count: number, seed: number): PriceColumns => {
  const [open, high, low, close] = jaggedBars(count, seed, 0.01);
  return { open, high, low, close };
};

/** The conditions of every pattern, each with the first row on which it is read. */
export const CONDITIONS = PATTERNS.flatMap(({ declaration }) => {
  const { when = [], bullish, bearish, tied } = signsOf(declaration, 0.3);
  const sides = [bullish, bearish].filter((side) => side !== undefined).map((side) => allOf(...when, ...side));
  const first = declaration.isConfirmable ? declaration.lookback - 3 : declaration.lookback;
  return [...sides, ...(tied ? [tied] : [])].map((condition) => ({ id: declaration.id, condition, first }));
});

/** A declaration read row by row, without blocks, words or SIMD. */
export class RowByRow {
  readonly columns: PriceColumns;
  readonly first: number;
  readonly means = new Map<Value, Float64Array>();
  constructor(columns: PriceColumns, first: number) {
    this.columns = columns;
    this.first = first;
  }

  holds(condition: Condition, row: number): boolean {
    switch (condition.op) {
      case 'gt':
        return this.value(condition.left, row) > this.value(condition.right, row);
      case 'ge':
        return this.value(condition.left, row) >= this.value(condition.right, row);
      case 'all':
        return condition.items.every((item) => this.holds(item, row));
      case 'any':
        return condition.items.some((item) => this.holds(item, row));
      case 'not':
        return !this.holds(condition.item, row);
    }
  }

  value(value: Value, row: number): number {
    switch (value.op) {
      case 'field':
        return this.columns[value.field][row - value.back];
      case 'times':
        return this.value(value.of, row) * value.factor;
      case 'mean':
        return this.mean(value)[row];
      default: {
        const [left, right] = [this.value(value.left, row), this.value(value.right, row)];
        return {
          plus: left + right,
          minus: left - right,
          distance: Math.abs(left - right),
          max: Math.max(left, right),
          min: Math.min(left, right),
        }[value.op];
      }
    }
  }

  /** TA-Lib's steps: a sum over the rows before the first, then `sum += entering - leaving`. */
  mean(value: Value & { op: 'mean' }): Float64Array {
    const known = this.means.get(value);
    if (known) return known;
    const out = new Float64Array(this.columns.open.length);
    this.means.set(value, out);
    let sum = 0;
    for (let row = this.first - value.period; row < this.first; row++) sum += this.value(value.of, row);
    for (let row = this.first; row < out.length; row++) {
      out[row] = value.factor * (sum / value.period);
      sum += this.value(value.of, row) - this.value(value.of, row - value.period);
    }
    return out;
  }
}
