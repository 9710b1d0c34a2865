// A slice of the market that is played at once: a base bar, or a child of it (semantics §3.2).
import type { Bars } from '../../../src/engine/bars/bars.ts';
import type { AmbiguityFallback } from '../../../src/engine/config.ts';
import type { Book } from './book.ts';
import { contradicted } from './contradictions.ts';
import type { Side, PriceRange } from './levels.ts';
import { endOf } from '../timeGrid.ts';

/** A base bar, or a child of it. */
export interface Slice extends PriceRange {
  /** Of the base bar. */
  readonly row: number;
  readonly timeframe: Bars['timeframe'];
  /** Open time of the child; null: the base bar itself. */
  readonly fineTime: number | null;
}

export function sliceOf(bars: Bars, at: number, row: number, fineTime: number | null): Slice {
  const [open, high, low, close] = [bars.open[at], bars.high[at], bars.low[at], bars.close[at]];
  return { open, high, low, close, row, timeframe: bars.timeframe, fineTime };
}

export const mirrored = ({ open, high, low, close }: PriceRange, side: Side): PriceRange =>
  side === 1 ? { open, high, low, close } : { open: -open, high: -low, low: -high, close: -close };

/** Children exist only under multi_resolution, and where they do not contradict their bar (semantics §3.2). */
export function childrenOf(book: Book, row: number): Slice[] {
  const { bars, children, config } = book.input;
  if (children === null || config.ambiguityResolution !== 'multi_resolution') return [];
  const { rows, isDrillingOff } = contradicted(bars, children);
  if (isDrillingOff || rows.has(row)) return [];
  const from = children.time.findIndex((time) => time >= bars.time[row]);
  const slices: Slice[] = [];
  for (let at = from; at >= 0 && children.time[at] < endOf(bars.timeframe, bars.time[row]); at++)
    slices.push(sliceOf(children, at, row, children.time[at]));
  return slices;
}

export function policyOf(book: Book): AmbiguityFallback {
  const { ambiguityResolution, ambiguityFallback } = book.input.config;
  const policy = ambiguityResolution === 'multi_resolution' ? ambiguityFallback : ambiguityResolution;
  if (policy === 'worst') throw new Error('"worst" is a choice between two runs, not a policy of one');
  return policy;
}
