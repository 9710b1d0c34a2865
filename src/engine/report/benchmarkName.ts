// What the benchmark of a run is called, on the page, on the command line and in the diagnosis.
import type { ResolvedConfig } from '../config.ts';

export const BUY_AND_HOLD = 'buy and hold';

/** @param isNamed whether the result names its instruments, as that of a portfolio does */
export function benchmarkName({ benchmark }: Pick<ResolvedConfig, 'benchmark'>, isNamed: boolean): string {
  if (benchmark !== undefined) return `${benchmark.symbol} held`;
  return isNamed ? 'equal money in each' : BUY_AND_HOLD;
}

export const asHeading = (name: string): string => `${name[0].toUpperCase()}${name.slice(1)}`;
