// An analysis of a robustness check: its parts, what each runs, its result, and what the result means.
import type { Market, Universe } from '../../bars/bars.ts';
import type { ComparedRun } from '../../comparedRun.ts';
import type { BacktestTask, RunError } from '../../task.ts';
import type { Bound } from '../bound.ts';
import type { Distribution } from '../distribution.ts';
import type { CheckOptions } from '../checkOptions.ts';
import type { Checked, CheckRun, RobustnessContext, RunNumbers, RunOutcome } from '../checkRuns.ts';
import type { Finding } from '../finding.ts';

export interface Analysis<Result> {
  /** As requests and results name it. */
  readonly name: string;
  /** What it does, in the description of a request. */
  readonly about: string;
  /** How many parts it has: any thread may run any of them. */
  partsOf(checked: Checked): number;
  /** About how many runs of the backtest a part takes; an audit runs it on parts of the bars. */
  readonly runsPerPart: number;
  runPart(check: Check, part: number): PartOutcome;
  resultOf(ended: EndedParts): Result;
  /** The bounds that a robust result must keep. @param result undefined: the analysis was not requested */
  boundsOf(result: Result | undefined, baseline: RunNumbers): readonly Bound[];
  findingsOf(result: Result, baseline: RunNumbers, failed: ReadonlyMap<string, Bound>): AnalysisFindings;
  /** What the command line prints of it, and the report draws. */
  reportOf(result: Result): AnalysisReport;
}

/** What a part is run with. */
export interface Check {
  readonly context: RobustnessContext;
  /** Runs a task, on the bars of the check or on others. */
  runTask(task: BacktestTask, market?: Market | Universe): RunPart;
  /** Reads the backtest itself, which is run once for all parts; where it failed, so does the part. */
  withBaseline(then: (baseline: CheckRun) => PartOutcome): PartOutcome;
  /** The backtest before its simulation, with the rows that it evaluates. */
  prepared(): ComparedRun | RunError;
}

/** The outcome of a part: the numbers of a run, or all of an analysis that has one part. Plain JSON. */
export type PartOutcome =
  | RunPart
  /** There are no bars to run it on. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly error: RunError }
  | { readonly kind: 'whole'; readonly value: unknown };

interface RunPart {
  readonly kind: 'run';
  readonly outcome: RunOutcome;
  /** By how many a start was shifted. */
  readonly bars?: number;
}

/** All parts of an analysis, in order, and what the baseline gave. */
export interface EndedParts {
  readonly task: BacktestTask;
  readonly spec: CheckOptions;
  readonly baseline: RunNumbers;
  /** The bars of the data up to the end of the range; of a portfolio, the instants of its axis. */
  readonly bars: number;
  readonly outcomes: readonly PartOutcome[];
}

export interface AnalysisFindings {
  /** That the backtest itself is wrong, whatever it earns. */
  readonly faults?: readonly Finding[];
  /** What speaks against a gain; left out where there is none. */
  readonly weaknesses?: readonly Finding[];
  /** The rest, whatever the backtest earns. */
  readonly remarks?: readonly Finding[];
}

/** A row of the table on the command line: a run, or the medians of many. */
export interface AnalysisRow {
  readonly name: string;
  readonly returnPct?: number | null;
  readonly maxDrawdown?: number | null;
  /** Of many runs: the share that loses money. */
  readonly lossProbability?: number | null;
  readonly error?: { readonly message: string };
}
/** How a number is distributed over many runs, beside the one of the run that they vary. */
export interface AnalysisDistribution {
  readonly statistic: keyof RunNumbers;
  /** Said after the name of the analysis where it has several; absent: nothing. */
  readonly about?: string;
  readonly original: number | null;
  readonly of: Distribution;
}
interface AnalysisReport {
  readonly distributions?: readonly AnalysisDistribution[];
  /** Samples, which are listed before single runs. */
  readonly samples?: readonly AnalysisRow[];
  readonly runs?: readonly AnalysisRow[];
  /** An audit has a line of its own; null: there was nothing to compare. */
  readonly audit?: { readonly title: string; readonly passed: boolean | null };
}
