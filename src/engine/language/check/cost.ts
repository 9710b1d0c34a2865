// Cost: about how long a strategy takes to evaluate, so that authors and the queue can compare strategies.
import { findIndicator } from '../../indicators/registry.ts';
import type { Expression } from '../grammar/ast.ts';
import { writtenKind } from '../../definitions/expressions/expressionRegistry.ts';

/** Nanoseconds per bar of the fill loop, its records and the equity column. */
const NS_PER_RUN = 4.5;

/** The indicator ids in use, sorted, and the estimated nanoseconds per bar of all distinct nodes. */
export function costOf(expressions: Iterable<Expression>): { indicators: string[]; estimatedCost: number } {
  const indicators = new Set<string>();
  let cost = NS_PER_RUN;
  for (const expression of expressions) {
    cost += writtenKind(expression).nsPerBar;
    if (expression.kind !== 'indicator' || typeof expression.indicator !== 'string') continue;
    const definition = findIndicator(expression.indicator);
    if (definition !== undefined) indicators.add(definition.id);
  }
  return { indicators: [...indicators].sort(), estimatedCost: Math.round(cost * 10) / 10 };
}
