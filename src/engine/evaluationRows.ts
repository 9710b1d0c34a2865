// The rows that a run evaluates: those of its range (semantics §1.12), and the first that may signal (semantics §1.2).
import type { Bars } from './bars/bars.ts';
import { rowsInRange } from './bars/rowRange.ts';
import type { ResolvedConfig } from './config.ts';
import { inferLookback } from './language/canonical/lookback.ts';
import type { RunnableStrategy, Settings, StrategyAst } from './language/grammar/ast.ts';
import type { ReportInput } from './report/reportInput.ts';

export type Warmup = ReportInput['warmup'];

export interface EvaluationRows {
  readonly firstRow: number;
  /** One past the last row of the range. */
  readonly endRow: number;
  /** First row whose close may signal; not below firstRow. */
  readonly start: number;
}

/** The bars that a strategy needs before it may signal, and where their number comes from. */
export function warmupOf(
  strategy: RunnableStrategy,
  settings: Settings,
  ast: StrategyAst,
  timeframe: Bars['timeframe'],
): Warmup {
  const source =
    settings.warmupPeriod !== undefined
      ? 'settings'
      : ast.strategy.defaults?.warmupBars !== undefined
        ? 'defaults'
        : 'inferred';
  return { bars: strategy.warmupBars ?? inferLookback(strategy, timeframe), source };
}

/**
 * The rows of the range. A warm-up of w bars ends at row w of the data, or with the first bar of the range if later.
 */
export function evaluationRows(bars: Bars, range: ResolvedConfig['range'], warmup: Warmup): EvaluationRows {
  const { first: firstRow, end: endRow } = rowsInRange(bars, range);
  return { firstRow, endRow, start: Math.min(Math.max(firstRow, warmup.bars), endRow) };
}

/** The message of an empty range, which names the data there is: the range lies outside of it or in a gap. */
export function emptyRange({ symbol, timeframe, time, length }: Bars): string {
  if (length === 0) return `There are no ${timeframe} bars of ${symbol}.`;
  const [first, last] = [time[0], time[length - 1]].map((ms) => new Date(ms).toISOString());
  return `The range holds no ${timeframe} bars of ${symbol}. The first opens at ${first}, the last at ${last}.`;
}
