// Buy and hold of the benchmark, which a strategy is compared with.
import type { Bars } from '../bars/bars.ts';

/** The equity at the close of each of `rows` bars, if the whole balance was invested at the open of row `start`. */
export function buyAndHold(
  { open, close }: Pick<Bars, 'open' | 'close'>,
  start: number,
  rows: number,
  initialBalance: number,
): Float64Array {
  return close.subarray(start, start + rows).map((price) => (initialBalance * price) / open[start]);
}
