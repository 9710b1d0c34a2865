// Runs that cannot have a result: their errors, as data.
import type { Bars, Market } from './bars/bars.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import { placeOfSeries, type SeriesName } from './language/canonical/foreignSeries.ts';
import type { FailedRun } from './report/simulatedRun.ts';
import type { BacktestTask } from './task.ts';

export function failure(code: string, path: string, message: string, issues?: readonly ValidationIssue[]): FailedRun {
  return { ok: false, error: { code, path, message }, ...(issues && { issues }) };
}

export const stopped = (): FailedRun => failure('CANCELLED', '', 'The run was stopped.');

/** The strategy cannot be planned for this config. */
export function invalidStrategy(issues: readonly ValidationIssue[]): FailedRun {
  const [first] = issues;
  return failure('STRATEGY_INVALID', first?.path ?? '', first?.message ?? 'The strategy is invalid.', issues);
}

/** Only a backtest runs a portfolio. */
export const severalInstruments = (): FailedRun =>
  failure(
    'INSTRUMENTS_INVALID',
    '/config/instruments',
    'This runs one instrument at a time, and the config lists several: give it signalInstrument instead.',
  );

/** The bars of a benchmark, or the error that there are none. */
export function benchmarkBars({ symbol }: { readonly symbol: string }, market: Market): Bars | FailedRun {
  const { timeframe } = market.base;
  const bars = symbol === market.base.symbol ? market.base : market.bars(symbol, timeframe);
  if (bars !== undefined) return bars;
  const message = `There are no ${timeframe} bars of the benchmark ${symbol}; import them, or name another.`;
  return failure('SYMBOL_NOT_AVAILABLE', '/config/benchmark/symbol', message);
}

/** The strategy reads a series of which there are no bars. */
export function missingBars({ strategyAst, signalGraph }: BacktestTask, missing: SeriesName): FailedRun {
  const message =
    `There are no ${missing.timeframe} bars of ${missing.symbol}; import them, or take that instrument out of the ` +
    'strategy.';
  return failure('SYMBOL_NOT_AVAILABLE', placeOfSeries(strategyAst, signalGraph, missing), message);
}
