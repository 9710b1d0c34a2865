// A backtest as the rules tell it: every expression as a column, then the fill loop; of the engine it uses only the kernels of indicators and patterns.
import type { Bars, Market } from '../../../src/engine/columns/bars.ts';
import type { RunnableStrategy } from '../../../src/engine/language/ast.ts';
import type { ResolvedConfig } from '../../../src/engine/simulate/config.ts';
import { and, type Truth } from './conditions.ts';
import { Evaluator, type ValueNode } from './evaluate.ts';
import { NAIVE } from './indicators.ts';
import { Loop, type ReferenceTrade } from './simulate.ts';

export interface ReferenceInput {
  readonly strategy: RunnableStrategy;
  readonly market: Market;
  readonly config: ResolvedConfig;
  /** The first row whose close may signal, and one past the last. */
  readonly start: number;
  readonly end: number;
}
export interface ReferenceRun {
  /** Truths a bar, an entry rule and an exit rule each. */
  readonly entries: readonly (readonly Truth[])[];
  readonly exits: readonly (readonly Truth[])[];
  readonly trades: readonly ReferenceTrade[];
  readonly equity: readonly number[];
  readonly rejected: Readonly<Record<string, number>>;
}

export function referenceRun({ strategy, market, config, start, end }: ReferenceInput): ReferenceRun {
  const evaluator = new Evaluator(market, strategy.timezone);
  const entries = strategy.entries.map(({ setup, trigger, filters = [] }) => {
    const parts = [...(setup === undefined ? [] : [setup]), trigger, ...filters].map((part) =>
      evaluator.condition(part),
    );
    return parts[0].map((_, row) => and(parts.map((part) => part[row])));
  });
  const exits = strategy.exits.map((exit) => evaluator.condition(exit.when));
  const atrs = new Map<number, readonly number[]>();
  const atr = (period: number, row: number): number => {
    if (!atrs.has(period)) atrs.set(period, atrOf(market.base, period));
    return atrs.get(period)![row];
  };
  const loop = new Loop({
    strategy,
    bars: market.base,
    instrument: market.instrument,
    config,
    start,
    end,
    signals: {
      entry: (rule, row) => entries[rule][row] === true,
      exit: (rule, row) => exits[rule][row] === true,
      price: (node, row) => evaluator.value(node as ValueNode)[row],
      atr,
    },
  }).run();
  return { entries, exits, trades: loop.trades, equity: loop.equity, rejected: loop.rejected };
}

const atrOf = (bars: Bars, length: number): readonly number[] =>
  NAIVE.atr([[...bars.high], [...bars.low], [...bars.close]], { length });
