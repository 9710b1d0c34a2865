// A bound: a number of a robustness check, and what it must be for a result to be called robust (docs/robustness.md).

export interface Bound {
  readonly name: string;
  /** The analysis that measures it; null: the backtest itself and its lineage. */
  readonly analysis: string | null;
  readonly value: number | null;
  readonly must: '>=' | '<=' | '>';
  readonly limit: number;
  /** null: it was not measured, so that it is not known. */
  readonly passed: boolean | null;
}

/** Random variations of which fewer can be run say nothing: the rule of thumb for trades (robustnessResult.ts). */
export const MIN_RUNS = 30;
/** A strategy that loses money on more than this share of the drawn histories may have been lucky with its bars. */
export const MAX_LOSSES = 0.25;
/** A small change must keep this share of the return. */
export const KEPT = 0.5;

/** A bound on a number; a value or a limit that was not measured is null or undefined. */
export function bound(
  name: string,
  analysis: string | null,
  value: number | null | undefined,
  must: Bound['must'],
  limit: number | null | undefined,
): Bound {
  const known = value == null || limit == null ? null : { value, limit };
  return {
    name,
    analysis,
    value: value ?? null,
    must,
    limit: limit ?? 0,
    passed: known === null ? null : holds(known.value, must, known.limit),
  };
}

function holds(value: number, must: Bound['must'], limit: number): boolean {
  switch (must) {
    case '>=':
      return value >= limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
  }
}

/** The value, where enough of the random variations could be run. */
export const enough = (
  runs: { readonly runs: number } | null | undefined,
  value: number | null | undefined,
): number | null => (runs == null || runs.runs < MIN_RUNS ? null : (value ?? null));
