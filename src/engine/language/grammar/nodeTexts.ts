// The texts of expressions in rules, samples and explain: each node writes its own, as its kind declares it.
import { runnableKind } from '../../definitions/expressions/expressionRegistry.ts';
import type { Child } from '../../definitions/expressions/places.ts';
import type { RunnableExpression } from './ast.ts';

const MAX_TEXT = 160;
/** Deeper than this, a graph that shares nodes could write an exponential text. */
const MAX_TEXT_DEPTH = 8;

/** An expression as a person would write it, in at most 160 characters: for rule texts, samples and explain. */
export const textOf = (expression: RunnableExpression): string => shortened(wholeTextOf(expression));

/** The same, however long. */
export const wholeTextOf = (expression: RunnableExpression): string => writeText(expression, 0);
/** A text of at most 160 characters, the last of which is … where more was cut off. */
export const shortened = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`);

function writeText(expression: Child, depth: number): string {
  if (depth > MAX_TEXT_DEPTH) return '…';
  const text = (child: Child): string => writeText(child, depth + 1);
  const operand = (child: Child): string =>
    runnableKind(child).isInfix?.(child) === true ? `(${text(child)})` : text(child);
  return runnableKind(expression).text(expression, { text, operand });
}
