// A trade: one closing fill of a position, and what brought it about.
import type { Bars } from '../bars/bars.ts';
import type { AmbiguityFallback } from '../config.ts';
import type { ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import type { ExitMethod } from './instant.ts';

/**
 * One closing fill (semantics §4.7). Rows are absolute rows of the snapshot; the report makes them relative to the
 * range.
 */
export interface Trade {
  readonly positionId: number;
  readonly side: 1 | -1;
  readonly entryRow: number;
  readonly exitRow: number;
  /**
   * The row at whose close the entry was decided: that of the signal, which a limit or stop order may outlive by many
   * bars.
   */
  readonly entryDecisionRow: number;
  /**
   * The last row that had closed when the exit filled: a market exit was decided there. A stop or target fills inside
   * the bar after it.
   */
  readonly exitDecisionRow: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly quantity: number;
  readonly entryFee: number;
  readonly exitFee: number;
  /** Quote units lost to slippage at both ends of this row. */
  readonly slippage: number;
  /** Net of fees and funding. */
  readonly pnl: number;
  readonly returnPct: number;
  readonly maePct: number;
  readonly mfePct: number;
  readonly exitReason: ExitReason;
  readonly exitMethod: ExitMethod;
  /** The timeframe that decided. */
  readonly exitResolution: Bars['timeframe'];
  /** The fallback policy that decided, else null. */
  readonly exitPolicy: AmbiguityFallback | null;
  /** Open time of the child that decided, ms; null when no child did. */
  readonly exitFineTime: number | null;
  /** Index into `entries`. */
  readonly entryRule: number;
  /** Index into `exits` for reason `signal`, the ladder step for `take_profit`, else null. */
  readonly exitRule: number | null;
  /** |entry fill − initial stop|, quote units per unit of base; null without a stop. */
  readonly initialRisk: number | null;
}
