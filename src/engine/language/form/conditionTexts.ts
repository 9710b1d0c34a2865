// Condition texts: the condition that a text such as `close > sma(50)` or `crossover(close, ema_20)` stands for.
import { operatorKind } from '../hints/synonyms.ts';

/** Longer texts are formulas. */
const MAX_LENGTH = 100;
const COMPARISON = /^([^<>=!&|]+?)\s*(>=|<=|==|!=|>|<)\s*([^<>=!&|]+)$/;
const CALL = /^([a-z_.]+)\s*\((.+)\)$/i;

/**
 * The comparison or cross of two operands; undefined when it is anything else.
 * @param operand the value that a text stands for, wrapped; undefined when that is not certain
 */
export function conditionMeant(
  text: string,
  operand: (text: string) => { readonly value: unknown } | undefined,
): object | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, first, sign, second] = COMPARISON.exec(text.trim()) ?? [];
  if (sign !== undefined) return joined(operatorKind(sign), operand(first.trim()), operand(second.trim()));
  const [, name, args] = CALL.exec(text.trim()) ?? [];
  const operator = name === undefined ? undefined : operatorKind(name);
  if (operator?.kind !== 'cross') return undefined;
  for (const { index } of args.matchAll(/,/g)) {
    const found = joined(operator, operand(args.slice(0, index).trim()), operand(args.slice(index + 1).trim()));
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Operand {
  readonly value: unknown;
}

const joined = (
  operator: { readonly kind: string; readonly op: string } | undefined,
  left: Operand | undefined,
  right: Operand | undefined,
): object | undefined =>
  operator && left && right && { kind: operator.kind, op: operator.op, left: left.value, right: right.value };
