// A run once it has been simulated and summarized: what stored results and artifacts are made from.
import type { RunError } from '../task.ts';
import type { ReportInput } from './reportInput.ts';
import type { Summary, WrittenSummary } from './summary.ts';
import type { TradeRow, TradeTable } from './tradeTable.ts';

export interface CompletedRun {
  readonly ok: true;
  readonly report: ReportInput;
  readonly written: WrittenSummary;
  readonly tradeTable: TradeTable;
  /** The same as objects, which are made when they are first asked for. */
  readonly summary: Summary;
  readonly trades: readonly TradeRow[];
  readonly resultHash: string;
}
export type SimulatedRun =
  | CompletedRun
  | { readonly ok: false; readonly error: RunError; readonly issues?: readonly object[] };
