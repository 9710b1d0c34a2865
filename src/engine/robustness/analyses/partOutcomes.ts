// Outcomes of parts: reading runs from them, and the distributions of many runs.
import { distributionOf, shareOf, type Distribution } from '../distribution.ts';
import type { RunError } from '../../task.ts';
import type { RunNumbers } from '../checkRuns.ts';
import type { AnalysisDistribution, AnalysisRow, EndedParts, PartOutcome } from './analysis.ts';

/** What the only part of an analysis found. */
export function wholeOf({ outcomes: [outcome] }: EndedParts): unknown {
  return outcome.kind === 'whole' ? outcome.value : unexpected(outcome);
}

export const runOf = (outcome: PartOutcome): RunNumbers | null =>
  outcome.kind === 'run' && outcome.outcome.ok ? outcome.outcome.run : null;

/** A run, or why there is none. */
export type RunOrError = RunNumbers | { readonly error: RunError };

export function runOrError(outcome: PartOutcome): RunOrError {
  if (outcome.kind === 'failed') return { error: outcome.error };
  if (outcome.kind !== 'run') return unexpected(outcome);
  return outcome.outcome.ok ? outcome.outcome.run : { error: outcome.outcome.error };
}

/** Stops at an outcome that no part of this kind has. */
export function unexpected({ kind }: { readonly kind: string }): never {
  throw new Error(`A step gave ${kind}.`);
}

/** Runs of random variations: how their numbers are distributed, and how many could not be run. */
export interface SampledRuns {
  /** The run that is varied, measured as its variations are; null: it could not be run. */
  readonly original: RunNumbers | null;
  readonly runs: number;
  readonly failed: number;
  readonly returnPct: Distribution;
  readonly excessReturnPct: Distribution;
  readonly sharpeRatio: Distribution;
  readonly maxDrawdown: Distribution;
  /** Share of the runs that lose money. */
  readonly lossProbability: number | null;
}

export function sampledRuns(outcomes: readonly PartOutcome[], original: RunNumbers | null): SampledRuns {
  const runs = outcomes.map(runOf).filter((run) => run !== null);
  const column = (key: keyof RunNumbers): (number | null)[] => runs.map((run) => run[key]);
  return {
    original,
    runs: runs.length,
    failed: outcomes.length - runs.length,
    returnPct: distributionOf(column('returnPct')),
    excessReturnPct: distributionOf(column('excessReturnPct')),
    sharpeRatio: distributionOf(column('sharpeRatio')),
    maxDrawdown: distributionOf(column('maxDrawdown')),
    lossProbability: shareOf(column('returnPct'), (value) => value < 0),
  };
}

const DISTRIBUTED: readonly (keyof RunNumbers)[] = ['returnPct', 'sharpeRatio', 'maxDrawdown'];

/** The distributions of these numbers, as far as there are any. */
export const distributionsOf = (
  runs: Partial<Readonly<Record<keyof RunNumbers, Distribution>>>,
  original: Partial<Readonly<Record<keyof RunNumbers, number | null>>> | null,
  about?: string,
): AnalysisDistribution[] =>
  DISTRIBUTED.flatMap((statistic) => {
    const of = runs[statistic];
    if (of === undefined) return [];
    return [{ statistic, of, original: original?.[statistic] ?? null, ...(about !== undefined && { about }) }];
  });

/** The row of the medians of many runs. */
export const medianRow = (
  name: string,
  { returnPct, maxDrawdown, lossProbability }: Pick<SampledRuns, 'returnPct' | 'maxDrawdown' | 'lossProbability'>,
): AnalysisRow => ({
  name: `${name}, median`,
  returnPct: returnPct.p50,
  maxDrawdown: maxDrawdown.p50,
  lossProbability,
});

/** The row of a run, or of the error that it ended with. */
export const runRow = (name: string, run: Omit<AnalysisRow, 'name'>): AnalysisRow => ({
  name,
  ...('error' in run
    ? { error: run.error }
    : { returnPct: run.returnPct ?? null, maxDrawdown: run.maxDrawdown ?? null }),
});
