// Buy and hold of the benchmark, which a strategy is compared with: its equity and its name.
import type { Bars } from '../bars/bars.ts';
import type { ResolvedConfig } from '../config.ts';

/** The equity at the close of each of `rows` bars, if the whole balance was invested at the open of row `start`. */
export function buyAndHold(
  { open, close }: Pick<Bars, 'open' | 'close'>,
  start: number,
  rows: number,
  initialBalance: number,
): Float64Array {
  return close.subarray(start, start + rows).map((price) => (initialBalance * price) / open[start]);
}

export const BUY_AND_HOLD = 'buy and hold';

/** @param isNamed whether the result names its instruments, as that of a portfolio does */
export function benchmarkName({ benchmark }: Pick<ResolvedConfig, 'benchmark'>, isNamed: boolean): string {
  if (benchmark !== undefined) return `${benchmark.symbol} held`;
  return isNamed ? 'equal money in each' : BUY_AND_HOLD;
}

export const asHeading = (name: string): string => `${name[0].toUpperCase()}${name.slice(1)}`;
