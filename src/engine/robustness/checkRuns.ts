// The runs of a robustness check: the backtest that is checked, and the same under changed conditions.
import type { Market, Universe } from '../bars/bars.ts';
import { prepareComparedRun, type ComparedRun } from '../comparedRun.ts';
import { ColumnStore } from '../evaluate/columnStore.ts';
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import { chosenSummary } from '../report/flatSummary.ts';
import type { ReportedSimulation } from '../report/reportInput.ts';
import { MemoryRefused } from '../simulate/tradeBudget.ts';
import type { BacktestTask, RunControl, RunError } from '../task.ts';
import type { CheckOptions } from './checkOptions.ts';

/** The backtest that is checked, and how much of each analysis to run. */
export interface Checked {
  readonly task: BacktestTask;
  readonly spec: CheckOptions;
}
/** What the runs of one check share in one thread. */
export interface RobustnessContext extends Checked {
  /** The bars of one instrument, or of all instruments of a portfolio. */
  readonly market: Market | Universe;
  readonly store: ColumnStore;
  readonly control: Pick<RunControl, 'isCancelled' | 'mayTake'> | null;
}

const RUN_KEYS = [
  'returnPct',
  'excessReturnPct',
  'sharpeRatio',
  'maxDrawdown',
  'totalPositions',
] as const satisfies readonly FlatKey[];
const WANTED: ReadonlySet<FlatKey> = new Set(RUN_KEYS);

/** The headline numbers of one run; null: undefined. */
export type RunNumbers = Readonly<Record<(typeof RUN_KEYS)[number], number | null>>;
export type RunOutcome =
  | { readonly ok: true; readonly run: RunNumbers }
  | { readonly ok: false; readonly error: RunError };

/** One run of a check: the backtest itself, or the same under changed conditions. */
export interface CheckRun extends ReportedSimulation {
  readonly prepared: ComparedRun;
}

/**
 * Runs a task; an expected failure is returned.
 * @param market default: that of the context. A changed one has columns of its own, which are not kept for other runs.
 * @throws RunStopped when it was stopped; MemoryRefused when it would have to run again
 */
export function simulateRun(
  context: RobustnessContext,
  task: BacktestTask,
  market: Market | Universe = context.market,
): CheckRun | RunError {
  const store = market === context.market ? context.store : new ColumnStore(0);
  const prepared = prepareComparedRun(task, market, store, context.control);
  if ('code' in prepared) return prepared;
  try {
    const reported = prepared.simulate();
    context.store.trim();
    return { ...reported, prepared };
  } catch (error) {
    if (error instanceof MemoryRefused && error.isFinal) return error.runError;
    throw error;
  }
}

/** Runs a task and keeps its headline numbers. */
export function runOutcome(context: RobustnessContext, task: BacktestTask, market?: Market | Universe): RunOutcome {
  const made = simulateRun(context, task, market);
  return 'code' in made ? { ok: false, error: made } : { ok: true, run: numbersOf(made) };
}

/** The headline numbers of a run. */
export function numbersOf(run: CheckRun): RunNumbers {
  const summary = chosenSummary(run, null, WANTED);
  return Object.fromEntries(RUN_KEYS.map((key) => [key, summary[key] ?? null])) as RunNumbers;
}
