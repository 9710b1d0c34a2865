// Price order: how two values must compare on one bar, because one is an extreme of what the other is part of.
import { findIndicator } from '../../indicators/registry.ts';
import { seriesInputsOf } from '../canonical/canonicalizer.ts';
import type { Node, Value } from '../grammar/ast.ts';
import { canonicalField, type MARKET_FIELDS } from '../../definitions/words.ts';

/** How two values may compare: any of these bits. */
export const LESS = 1;
export const EQUAL = 2;
export const GREATER = 4;
export const ANY_RELATION = LESS | EQUAL | GREATER;
export const flipped = (relation: number): number =>
  (relation & EQUAL) | (relation & LESS ? GREATER : 0) | (relation & GREATER ? LESS : 0);

type Field = (typeof MARKET_FIELDS)[number];
/** Prices of a bar: all lie from low to high. Volume is not one. */
const PRICES: ReadonlySet<Field> = new Set(['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4']);

/** A field of the bars of one series, some bars ago. */
interface BarField {
  readonly field: Field;
  readonly place: string;
}
/** `kind` max: at least every value of `of` in a window that ends with this bar; min: at most. */
interface Extreme {
  readonly kind: 'max' | 'min';
  readonly of: BarField;
}

/** The relations that are possible between two values on any bar of any market. */
export function possibleRelations(left: Value, right: Value): number {
  return oneWay(left, right) & flipped(oneWay(right, left));
}

function oneWay(left: Value, right: Value): number {
  const inner = barField(left);
  if (inner === undefined) return ANY_RELATION;
  const outer = barField(right);
  if (outer !== undefined) return fieldRelation(inner, outer);
  const extreme = extremeOf(right);
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

const placeOf = (node: { timeframe?: unknown; offset?: unknown; instrument?: unknown }): string =>
  JSON.stringify([node.timeframe ?? null, node.instrument ?? null, node.offset ?? 0]);

function barField(value: Value): BarField | undefined {
  return value.kind === 'market' ? { field: canonicalField(value.field), place: placeOf(value) } : undefined;
}

/** The extreme that a value is; undefined for other values, and for one that an offset moves off this bar. */
function extremeOf(value: Value): Extreme | undefined {
  if (value.kind === 'rolling' && (value.op === 'max' || value.op === 'min')) {
    const of = (value.offset ?? 0) === 0 ? barField(value.source) : undefined;
    return of && { kind: value.op, of };
  }
  return value.kind === 'indicator' ? extremeOfIndicator(value) : undefined;
}

function extremeOfIndicator(node: Node<'indicator'>): Extreme | undefined {
  const definition = findIndicator(node.indicator);
  if (definition === undefined || node.source !== undefined || node.sources !== undefined) return undefined;
  const place = placeOf(node);
  const output = node.output ?? definition.outputs[0].name;
  if (definition.id === 'donchian' || definition.id === 'donchian_split') {
    if (output === 'upper') return { kind: 'max', of: { field: 'high', place } };
    return output === 'lower' ? { kind: 'min', of: { field: 'low', place } } : undefined;
  }
  if (definition.id !== 'max' && definition.id !== 'min') return undefined;
  const isOverSource = seriesInputsOf(definition).length === 1;
  const named = (node.args as { source?: unknown } | undefined)?.source ?? 'close';
  if (!isOverSource || typeof named !== 'string') return undefined;
  return { kind: definition.id, of: { field: canonicalField(named as Field), place } };
}
