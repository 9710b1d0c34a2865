// The lineage of a result: how many variants were tried before it was chosen, what the sweeps that it comes from say of
// it, and what its Sharpe ratio is worth after that many tries (semantics §5.4).
import { probabilisticSharpe } from '../report/sharpeConfidence.ts';
import { expectedMaximum } from '../sweep/overfitting.ts';
import type { RunNumbers } from './checkRuns.ts';
import type { Evidence } from './evidence.ts';

/** A sweep of the same strategy on the same data, as far as a check reads it. */
export interface LineageSweep {
  /** Its id, or the file that it was read from. */
  readonly name: string;
  /** Whether the backtest is one of its variants; a best row with the same numbers is one in any case. */
  readonly isOfBacktest: boolean;
  readonly verdict: { readonly code: string; readonly text: string };
  readonly overfitting: { readonly trials: number; readonly expectedMaximum: number | null };
  readonly top: readonly (Pick<RunNumbers, 'returnPct' | 'sharpeRatio' | 'totalPositions'> & {
    readonly rank: number;
    readonly plateau: { readonly score: number | null; readonly isCliff: boolean };
  })[];
}

/** What is known of earlier tries. */
export interface Lineage {
  /** Variants and backtests tried, this one included; null: not known. */
  readonly trials: number | null;
  readonly sweeps: readonly LineageSweep[];
}

/** A sweep that the backtest is a variant of. */
interface OriginSweep {
  readonly name: string;
  readonly verdict: string;
  readonly text: string;
  /** The place of the backtest among its best rows; null: it is not one of them. */
  readonly rank: number | null;
  /** The plateau of that row. */
  readonly plateau: number | null;
  readonly isCliff: boolean;
}

export interface Deflation {
  /** Variants tried, this one included; null: not known. */
  readonly trials: number | null;
  /** The largest daily Sharpe ratio expected of as many variants without skill. */
  readonly expectedMaximum: number | null;
  /** The probability that the Sharpe ratio is above 0: what one single try would have. */
  readonly probabilisticSharpe: number | null;
  /** The probability that it is above `expectedMaximum`. */
  readonly deflatedSharpe: number | null;
  readonly days: number | null;
  /** Sweeps that the backtest is a variant of, those that call it luck first; at most five. */
  readonly sweeps: readonly OriginSweep[];
}

const MAX_SHOWN = 5;

/** @param stated trials that the request states; the larger number counts */
export function deflationOf(
  lineage: Lineage,
  stated: number | undefined,
  baseline: RunNumbers,
  { sample }: Evidence,
): Deflation {
  const trials = stated === undefined ? lineage.trials : Math.max(stated, lineage.trials ?? 0);
  const threshold =
    trials === null || sample === null ? null : expectedMaximum(trials, varianceOf(lineage.sweeps, sample.days));
  const origins = lineage.sweeps.flatMap((sweep) => originOf(sweep, baseline));
  return {
    trials,
    expectedMaximum: threshold,
    probabilisticSharpe: sample && probabilisticSharpe(sample, 0),
    deflatedSharpe: sample === null || threshold === null ? null : probabilisticSharpe(sample, threshold),
    days: sample && sample.days,
    sweeps: origins.toSorted((a, b) => Number(isLuck(b)) - Number(isLuck(a))).slice(0, MAX_SHOWN),
  };
}

export const isLuck = ({ verdict }: OriginSweep): boolean => verdict !== 'not_luck';

/**
 * The variance of the daily Sharpe ratio over the tries: the largest that a sweep of the lineage has found. Without a
 * sweep it is not known, and that of an estimate over `days` days of a variant without skill stands for it.
 */
function varianceOf(sweeps: readonly LineageSweep[], days: number): number {
  const known = sweeps.flatMap(({ overfitting: { trials, expectedMaximum: expected } }) =>
    expected === null || trials < 2 ? [] : [(expected / expectedMaximum(trials, 1)) ** 2],
  );
  return known.length > 0 ? known.reduce((a, b) => Math.max(a, b)) : 1 / Math.max(1, days - 1);
}

function originOf({ name, isOfBacktest, verdict, top }: LineageSweep, baseline: RunNumbers): OriginSweep[] {
  // A row is a backtest, to the last digit (docs/sweeps.md).
  const row = top.find(
    ({ returnPct, sharpeRatio, totalPositions }) =>
      returnPct === baseline.returnPct &&
      sharpeRatio === baseline.sharpeRatio &&
      totalPositions === baseline.totalPositions,
  );
  if (row === undefined && !isOfBacktest) return [];
  return [
    {
      name,
      verdict: verdict.code,
      text: verdict.text,
      rank: row?.rank ?? null,
      plateau: row?.plateau.score ?? null,
      isCliff: row?.plateau.isCliff ?? false,
    },
  ];
}
