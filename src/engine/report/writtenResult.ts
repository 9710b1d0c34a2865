// A result as text and numbers, before it is compressed: what storage asks for instead of objects.
import type { SharedSpan } from '../kernels/sharedBuffer.ts';
import type { JsonPiece } from './jsonWriter.ts';
import type { TradeTable } from './tradeTable.ts';

/** The lists of a summary that are most of its text, as numbers. */
export interface ResultSeries {
  /** The points of the equity preview. Runs over the same range share `times`. */
  readonly times: Float64Array;
  readonly marks: Float64Array;
  /** The months of the monthly table, as in `Months`, which runs over the same range share. */
  readonly months: Float64Array;
  readonly monthEquity: Float64Array;
}

export interface WrittenResult {
  /** The members of summaryJson that are numbers or null, as doubles in the order of FLAT_KEYS (flatSummary.ts). */
  readonly flatNumbers: Float64Array;
  /** Those that are objects or lists, in pieces. The lists that `series` holds are empty in it. */
  readonly thinBlocksJson: readonly JsonPiece[];
  readonly series: ResultSeries;
  readonly tradeTable: TradeTable;
  /** The code of the first entry of the diagnosis. */
  readonly diagnosis: string | null;
  /** The resolved config. */
  readonly configJson: string;
  /** The memory of its small arrays, to be given back once they have been encoded. */
  readonly memory: SharedSpan;
}
