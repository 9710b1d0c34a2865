// A price range: a bar, or one of the finer bars that it is walked through, as levels and pending orders see it.
import type { Bars } from '../bars/bars.ts';
import { hasBit } from '../kernels/bits.ts';
import { lowerBound } from '../kernels/search.ts';
import type { AmbiguityFallback } from '../config.ts';
import type { Decision } from './instant.ts';
import type { Run } from './run.ts';

export interface PriceRange {
  readonly bars: Bars;
  readonly index: number;
  /** The base bar that the price range is, or is part of. */
  readonly row: number;
  /** The decision of a fill inside it that needs no policy, and that of a fill that a policy decides. */
  readonly certain: Decision;
  readonly contested: Decision;
}

/** The four signed prices of a price range: `best` is the high of a long and the negated low of a short. */
export interface Prices {
  readonly open: number;
  readonly best: number;
  readonly worst: number;
  readonly close: number;
}

/** A base bar as a price range. */
export function barRange({ bars, decisions }: Run, row: number): PriceRange {
  return { bars, index: row, row, certain: decisions.direct, contested: decisions.policy };
}

/** A child of base bar `row` as a price range. */
export function childRange(run: Run, children: Bars, row: number, index: number): PriceRange {
  const certain: Decision = {
    method: 'drill',
    resolution: children.timeframe,
    policy: null,
    fineTime: children.time[index],
  };
  return {
    bars: children,
    index,
    row,
    certain,
    contested: { ...certain, method: 'fallback', policy: run.policy },
  };
}

/** The signed prices of a price range. */
export const pricesOf = ({ bars, index }: PriceRange, side: 1 | -1): Prices => pricesAt(bars, index, side);

/** The signed prices of one bar. */
export function pricesAt({ open, high, low, close }: Bars, index: number, side: 1 | -1): Prices {
  if (side > 0) return { open: open[index], best: high[index], worst: low[index], close: close[index] };
  return { open: -open[index], best: -low[index], worst: -high[index], close: -close[index] };
}

/** The child rows [first, last) of base row `row`; empty when there are none, or when they contradict the bar. */
export function childRows(run: Run, row: number): { first: number; last: number } {
  if (run.children === null) return { first: 0, last: 0 };
  if (run.contradicted !== null && hasBit(run.contradicted, row)) return { first: 0, last: 0 };
  const { time } = run.children;
  const opens = run.bars.time[row];
  return { first: lowerBound(time, opens), last: lowerBound(time, run.closeOf(opens)) };
}

/**
 * Whether the path of a policy goes to the adverse extreme first; null: the policy follows no path, or both extremes
 * are equally far from the open, which is settled as pessimistic.
 */
export function goesWorstFirst(side: 1 | -1, prices: Prices, policy: AmbiguityFallback): boolean | null {
  switch (policy) {
    case 'pessimistic':
    case 'optimistic':
      return null;
    case 'bar_direction': {
      // close >= open reads O-L-H-C: the low, a long's worst and a short's best, comes first.
      const isLowFirst = side > 0 ? prices.close >= prices.open : prices.close <= prices.open;
      return side > 0 ? isLowFirst : !isLowFirst;
    }
    case 'distance': {
      const toBest = prices.best - prices.open;
      const toWorst = prices.open - prices.worst;
      return toBest === toWorst ? null : toWorst < toBest;
    }
  }
}
