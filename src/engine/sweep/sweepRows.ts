// Rows of a sweep, as columns: one row per variant that ran, NaN where a number is undefined.
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import type { RunError } from '../task.ts';

export interface SweepRows {
  /** The index of each row's variant, ascending. */
  readonly indexes: Float64Array;
  /** One column per dimension of the space. */
  readonly coordinates: readonly Float64Array[];
  readonly metrics: readonly { readonly key: FlatKey; readonly values: Float64Array }[];
  /** Statistics of the daily returns, not annualized. */
  readonly dailySharpe: Float64Array;
  /**
   * The score in the training window of each fold of a walk-forward; NaN if undefined or if a constraint is broken
   * there.
   */
  readonly training: readonly Float64Array[];
  /** Variants whose block sums were kept, ascending, and those sums (overfitting.ts). */
  readonly sampled: Float64Array;
  readonly sums: Float64Array;
  readonly failures: VariantFailures;
}

export interface VariantFailures {
  readonly count: number;
  /** The first few, in order of their variants. */
  readonly first: readonly (RunError & { readonly variant: number })[];
}
export const MAX_FAILURES_KEPT = 20;

/** The values of a metric, one per row; NaN where a row has none. It must be one of the kept columns. */
export const metricOf = (rows: Pick<SweepRows, 'metrics'>, key: FlatKey): Float64Array => {
  const found = rows.metrics.find((metric) => metric.key === key);
  if (found === undefined) throw new Error(`The rows have no metric ${key}.`);
  return found.values;
};
