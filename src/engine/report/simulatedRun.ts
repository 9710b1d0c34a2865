// A run once it has been simulated and summarized: what stored results and artifacts are made from.
import type { ValidationIssue } from '../language/issues/issues.ts';
import type { SharedSpan } from '../kernels/sharedBuffer.ts';
import type { ResolvedConfig } from '../config.ts';
import type { Reproducibility, RunError } from '../task.ts';
import type { ReportInput } from './reportInput.ts';
import type { Summary, WrittenSummary } from './summary.ts';
import { tradeRows, type TradeRow, type TradeTable } from './tradeTable.ts';
import type { WrittenResult } from './writtenResult.ts';

/**
 * Summary and trades are objects that are made when they are first asked for. A class: V8 puts the getters of an object
 * literal into its old generation, where everything that they can reach would outlive the run.
 */
export class CompletedRun {
  readonly ok = true;
  readonly report: ReportInput;
  readonly written: WrittenSummary;
  readonly tradeTable: TradeTable;
  readonly resultHash: string;
  #trades: readonly TradeRow[] | undefined;

  constructor(report: ReportInput, written: WrittenSummary, tradeTable: TradeTable, resultHash: string) {
    this.report = report;
    this.written = written;
    this.tradeTable = tradeTable;
    this.resultHash = resultHash;
  }

  get summary(): Summary {
    return this.written.summary();
  }

  get trades(): readonly TradeRow[] {
    return (this.#trades ??= tradeRows(this.tradeTable));
  }
}

/** What `runBacktest` returns; a class for the same reason. Summary and trades are made when first asked for. */
export class CompletedOutcome {
  readonly ok = true;
  readonly written: WrittenResult;
  readonly reproducibility: Reproducibility;
  readonly warnings: readonly object[];
  readonly resolvedConfig: ResolvedConfig;
  readonly #run: CompletedRun;

  /**
   * @param configJson the config of the run
   * @param memory all small arrays of the run
   */
  constructor(
    run: CompletedRun,
    configJson: string,
    reproducibility: Reproducibility,
    warnings: readonly object[],
    memory: SharedSpan,
  ) {
    const { flatNumbers, thinBlocksJson, series, diagnosis } = run.written;
    this.written = { flatNumbers, thinBlocksJson, series, diagnosis, tradeTable: run.tradeTable, configJson, memory };
    this.reproducibility = reproducibility;
    this.warnings = warnings;
    this.resolvedConfig = run.report.input.config;
    this.#run = run;
  }

  get summaryJson(): object {
    return this.#run.summary;
  }

  get trades(): readonly object[] {
    return this.#run.trades;
  }
}

export interface FailedRun {
  readonly ok: false;
  readonly error: RunError;
  readonly issues?: readonly ValidationIssue[];
}
export type SimulatedRun = CompletedRun | FailedRun;
