// A run once it has been simulated and summarized: what stored results and artifacts are made from.
import type { ValidationIssue } from '../language/issues/issues.ts';
import type { SharedSpan } from '../kernels/sharedBuffer.ts';
import type { ResolvedConfig } from '../config.ts';
import type { Reproducibility, RunError } from '../task.ts';
import type { ReportInput } from './reportInput.ts';
import type { Summary, WrittenSummary } from './summary.ts';
import { tradeRows, type NamedTradeRow, type TradeTable } from './tradeTable.ts';

interface RunParts {
  readonly report: ReportInput;
  readonly written: WrittenSummary;
  readonly tradeTable: TradeTable;
  /** The resolved config as JSON. */
  readonly configJson: string;
  readonly reproducibility: Reproducibility;
  readonly warnings: readonly ValidationIssue[];
  /** The memory of its small arrays, to be given back once they have been encoded. */
  readonly memory: SharedSpan;
}

/**
 * Summary and trades are objects that are made when they are first asked for. A class: V8 puts the getters of an object
 * literal into its old generation, where everything that they can reach would outlive the run.
 */
export class CompletedRun implements RunParts {
  readonly ok = true;
  readonly report: ReportInput;
  readonly written: WrittenSummary;
  readonly tradeTable: TradeTable;
  readonly configJson: string;
  readonly reproducibility: Reproducibility;
  readonly warnings: readonly ValidationIssue[];
  readonly memory: SharedSpan;
  #trades: readonly NamedTradeRow[] | undefined;

  constructor({ report, written, tradeTable, configJson, reproducibility, warnings, memory }: RunParts) {
    this.report = report;
    this.written = written;
    this.tradeTable = tradeTable;
    this.configJson = configJson;
    this.reproducibility = reproducibility;
    this.warnings = warnings;
    this.memory = memory;
  }

  get summary(): Summary {
    return this.written.summary();
  }

  get trades(): readonly NamedTradeRow[] {
    return (this.#trades ??= tradeRows(this.tradeTable));
  }

  get resultHash(): string {
    return this.reproducibility.resultHash;
  }

  get resolvedConfig(): ResolvedConfig {
    return this.report.input.config;
  }
}

export interface FailedRun {
  readonly ok: false;
  readonly error: RunError;
  readonly issues?: readonly ValidationIssue[];
}
export type SimulatedRun = CompletedRun | FailedRun;
