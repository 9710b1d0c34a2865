// Cost: about how long a strategy takes to evaluate, for authors and queues to compare strategies by.
import { findIndicator } from '../indicators/registry.ts';
import type { Expression } from './ast.ts';

/** ns a bar of one column step, measured on one core at 1 M bars (design §12): kernels 1–5, comparisons into bits below 1. */
const NS_PER_BAR: Readonly<Record<string, number>> = {
  const: 0, param: 0, market: 0, series: 0, indicator: 3, rolling: 3, math: 1.2, shift: 0.3, if: 1.5, bars_since: 1, value_when: 1.5,
  capture: 1.5, pivot: 4, time: 2, state: 2, pattern: 6, time_window: 2, session: 2, sequence: 3, rolling_window: 2, state_machine: 2,
}; // prettier-ignore
const NS_PER_CONDITION = 0.7;
/** The fill loop, its records and the equity column. */
const NS_PER_RUN = 4.5;

/** Indicator ids in use, sorted, and the sum over distinct nodes. */
export function costOf(expressions: Iterable<Expression>): { indicators: string[]; estimatedCost: number } {
  const indicators = new Set<string>();
  let cost = NS_PER_RUN;
  for (const expression of expressions) {
    cost += NS_PER_BAR[expression.kind] ?? NS_PER_CONDITION;
    if (expression.kind !== 'indicator' || typeof expression.indicator !== 'string') continue;
    const definition = findIndicator(expression.indicator);
    if (definition !== undefined) indicators.add(definition.id);
  }
  return { indicators: [...indicators].sort(), estimatedCost: Math.round(cost * 10) / 10 };
}
