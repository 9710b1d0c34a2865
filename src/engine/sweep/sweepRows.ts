// Rows of a sweep, as columns: one row per variant that ran, NaN where a number is undefined.
import type { FlatKey } from '../report/flatSummary.ts';
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

export const metricOf = (rows: SweepRows, key: FlatKey): Float64Array => {
  const found = rows.metrics.find((metric) => metric.key === key);
  if (found === undefined) throw new Error(`The rows have no metric ${key}.`);
  return found.values;
};

/** Joins the rows of several shards in the order of their variants, whatever the order of the shards. */
export function joinRows(shards: readonly SweepRows[]): SweepRows {
  const ordered = shards.toSorted((a, b) => firstIndex(a) - firstIndex(b));
  const [head] = ordered;
  const join = (column: (rows: SweepRows) => Float64Array): Float64Array => {
    const parts = ordered.map(column);
    const joined = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  };
  return {
    indexes: join((rows) => rows.indexes),
    coordinates: head.coordinates.map((_, at) => join((rows) => rows.coordinates[at])),
    metrics: head.metrics.map(({ key }, at) => ({ key, values: join((rows) => rows.metrics[at].values) })),
    dailySharpe: join((rows) => rows.dailySharpe),
    training: head.training.map((_, at) => join((rows) => rows.training[at])),
    sampled: join((rows) => rows.sampled),
    sums: join((rows) => rows.sums),
    failures: {
      count: ordered.reduce((count, rows) => count + rows.failures.count, 0),
      first: ordered.flatMap((rows) => rows.failures.first).slice(0, MAX_FAILURES_KEPT),
    },
  };
}

const firstIndex = (rows: SweepRows): number => rows.indexes[0] ?? rows.failures.first[0]?.variant ?? Infinity;
