// What one instrument is simulated with: its market, the rules that are bound to its columns, and the rows that a run
// evaluates: those of its range (semantics §1.12), and the first that may signal (semantics §1.2).
import type { Market, Bars } from './bars/bars.ts';
import type { ResolvedConfig } from './config.ts';
import type { BoundRules } from './evaluate/bindRules.ts';
import type { RunnableStrategy, Settings, StrategyAst } from './language/grammar/ast.ts';
import type { SimulationInput } from './simulate/simulation.ts';
import { rowsInRange } from './bars/rowRange.ts';
import { inferLookback } from './language/canonical/lookback.ts';
import type { ReportInput } from './report/reportInput.ts';

interface BoundRun extends Pick<SimulationInput, 'control' | 'keepOrders'> {
  readonly market: Market;
  readonly rows: EvaluationRows;
  readonly config: ResolvedConfig;
  readonly strategy: RunnableStrategy;
  readonly boundRules: BoundRules;
}

/** Every member by its name: a spread makes an object that grows with each member after it. */
export const boundInput = ({
  market,
  rows,
  config,
  strategy,
  boundRules,
  control,
  keepOrders,
}: BoundRun): SimulationInput => ({
  bars: market.base,
  instrument: market.instrument,
  start: rows.start,
  end: rows.endRow,
  fine: market.fine ?? null,
  config,
  maxConcurrentPositions: strategy.maxConcurrentPositions,
  entries: boundRules.entries,
  exits: boundRules.exits,
  allocation: boundRules.allocation,
  risk: boundRules.risk,
  slippageAtr: boundRules.slippageAtr,
  control,
  keepOrders,
  scratch: undefined,
});

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
