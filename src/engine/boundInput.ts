// What one instrument is simulated with: its market, its rows and the rules that are bound to its columns.
import type { Market } from './bars/bars.ts';
import type { ResolvedConfig } from './config.ts';
import type { BoundRules } from './evaluate/bindRules.ts';
import type { EvaluationRows } from './evaluationRows.ts';
import type { RunnableStrategy } from './language/grammar/ast.ts';
import type { SimulationInput } from './simulate/simulation.ts';

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
