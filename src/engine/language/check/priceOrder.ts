// Price order: how two values must compare on one bar when one is an extreme over a window that contains that bar.
import { valueKind } from '../../definitions/expressions/expressionRegistry.ts';
import type { ValueChild } from '../../definitions/expressions/places.ts';
import { ANY_RELATION, EQUAL, flipped, GREATER, LESS, type BarField } from '../../definitions/expressions/relations.ts';
import { valueFacts } from './ranges.ts';

/** Prices of a bar: all lie from low to high. Volume is not one. */
const PRICES: ReadonlySet<BarField['field']> = new Set(['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4']);

/** The relations that are possible between two values on any bar of any market. */
export function possibleRelations(left: ValueChild, right: ValueChild): number {
  return oneWay(left, right) & flipped(oneWay(right, left));
}

/** Whether a value is the extreme of a window of bars that ends with this one. */
export const isExtreme = (value: ValueChild): boolean =>
  valueKind(value).extreme?.(value, valueFacts) !== undefined && (value as { offset?: unknown }).offset === undefined;

function oneWay(left: ValueChild, right: ValueChild): number {
  const inner = valueFacts.barField(left);
  if (inner === undefined) return ANY_RELATION;
  const outer = valueFacts.barField(right);
  if (outer !== undefined) return fieldRelation(inner, outer);
  const extreme = valueKind(right).extreme?.(right, valueFacts);
  if (extreme === undefined) return ANY_RELATION;
  const relation = fieldRelation(inner, extreme.of);
  if (extreme.kind === 'max') return (relation & GREATER) === 0 ? LESS | EQUAL : ANY_RELATION;
  return (relation & LESS) === 0 ? GREATER | EQUAL : ANY_RELATION;
}

function fieldRelation(left: BarField, right: BarField): number {
  if (left.place !== right.place) return ANY_RELATION;
  if (left.field === right.field) return EQUAL;
  if (!PRICES.has(left.field) || !PRICES.has(right.field)) return ANY_RELATION;
  if (left.field === 'low' || right.field === 'high') return LESS | EQUAL;
  return left.field === 'high' || right.field === 'low' ? GREATER | EQUAL : ANY_RELATION;
}
