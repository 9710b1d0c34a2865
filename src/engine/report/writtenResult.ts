// A result as text and numbers, before it is compressed: what storage asks for instead of objects.
import type { BacktestOutcome } from '../task.ts';
import type { TradeTable } from './tradeTable.ts';

export interface WrittenResult {
  /** The members of summaryJson that are numbers or null, and those that are objects or lists, each as JSON. */
  readonly flatJson: string;
  readonly blocksJson: string;
  readonly tradeTable: TradeTable;
  /** The code of the first entry of the diagnosis. */
  readonly diagnosis: string | null;
}

/** Stand-ins for the engine in tests write nothing. */
export type WrittenOutcome = BacktestOutcome & { readonly written?: WrittenResult };
