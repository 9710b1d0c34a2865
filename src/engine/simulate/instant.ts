// The instant of a fill: the bar, the place in it, and how the outcome was decided. Every fill is given one.
import type { Bars } from '../bars/bars.ts';
import type { AmbiguityFallback } from '../config.ts';

export const EXIT_METHODS = ['direct', 'gap', 'drill', 'fallback'] as const;
export type ExitMethod = (typeof EXIT_METHODS)[number];

/** How an exit was decided, as its trade row says it (semantics §3.6). */
export interface Decision {
  readonly method: ExitMethod;
  readonly resolution: Bars['timeframe'];
  readonly policy: AmbiguityFallback | null;
  /** Open time of the child that decided, ms; null when none did. */
  readonly fineTime: number | null;
}

export interface Instant {
  readonly row: number;
  readonly isAtClose: boolean;
  /** At the open of the base bar, before its inside. */
  readonly isAtOpen: boolean;
  /**
   * The price at which the last price range of the position began: the open of the bar or child, or the fill of an
   * entry inside it. NaN when the position has recorded that already: at a close, and when the fill of another position
   * or order closes it.
   */
  readonly from: number;
  readonly decision: Decision;
  /** When it is, ms, for a position that is closed after the last bar of its instrument; absent: in its bar. */
  readonly time?: number;
}

/** An instant that a run writes again for each bar instead of making a new one. */
export type ReusedInstant = { -readonly [Member in keyof Instant]: Instant[Member] };

/** The last bar closed before this instant; what is read there is known. */
export const closedRow = ({ row, isAtClose }: Instant): number => (isAtClose ? row : row - 1);

/** The time of this instant, ms; for a fill inside a bar, the time of its open. */
export const timeOf = (
  { row, isAtClose, time }: Pick<Instant, 'row' | 'isAtClose' | 'time'>,
  bars: Bars,
  closeOf: (open: number) => number,
): number => time ?? (isAtClose ? closeOf(bars.time[row]) : bars.time[row]);
