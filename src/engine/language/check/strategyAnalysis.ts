// The analysis of a strategy: what validation says of it besides its issues.
import { TIMEFRAMES, type Timeframe } from '../../bars/bars.ts';
import type { Expression } from '../grammar/ast.ts';

export interface StrategyAnalysis {
  /** Base bars before every node has a value; null when the payload has errors. */
  readonly inferredLookback: number | null;
  /**
   * The same, counted until the seeds of recursive indicators no longer affect their values, but no more than half of
   * the bars there are of the instrument that `defaults` names.
   */
  readonly recommendedWarmup: number | null;
  readonly nodeCount: number;
  readonly conditionCount: number;
  /** Registry ids, sorted. */
  readonly indicators: readonly string[];
  /** Timeframes of nodes and defaults, finest first. */
  readonly timeframes: readonly string[];
  /** Approximate nanoseconds per bar, for comparing strategies. */
  readonly estimatedCost: number;
}

/** The analysis of a payload that is absent or cannot be read. */
export const NO_ANALYSIS: StrategyAnalysis = {
  inferredLookback: null,
  recommendedWarmup: null,
  nodeCount: 0,
  conditionCount: 0,
  indicators: [],
  timeframes: [],
  estimatedCost: 0,
};

/** Timeframes of nodes and the base, finest first. */
export function timeframesOf(expressions: Iterable<Expression>, base: Timeframe | undefined): Timeframe[] {
  const named = new Set<Timeframe>(base === undefined ? [] : [base]);
  for (const expression of expressions) {
    const timeframe = 'timeframe' in expression ? expression.timeframe : undefined;
    if (timeframe !== undefined && TIMEFRAMES.includes(timeframe)) named.add(timeframe);
  }
  return TIMEFRAMES.filter((timeframe) => named.has(timeframe));
}
