// What a kernel asks about the conditions and values of a pattern.
import type { Condition, Value } from './candles.ts';

export type Mean = Value & { op: 'mean' };
type Node = Condition | Value;

export const itemsOf = (condition: Condition): readonly Condition[] =>
  condition.op === 'all' ? condition.items.flatMap(itemsOf) : [condition];

export function childrenOf(node: Node): readonly Node[] {
  switch (node.op) {
    case 'field':
      return [];
    case 'mean':
    case 'times':
      return [node.of];
    case 'not':
      return [node.item];
    case 'all':
    case 'any':
      return node.items;
    default:
      return [node.left, node.right];
  }
}
export const isValue = (node: Node): node is Value => !['gt', 'ge', 'all', 'any', 'not'].includes(node.op);
export const hasMean = (node: Node): boolean => node.op === 'mean' || childrenOf(node).some(hasMean);
export const meansOf = (node: Node): Mean[] => (node.op === 'mean' ? [node] : childrenOf(node).flatMap(meansOf));
/** How many candles back the latest is that a value reads. */
export const backOf = (value: Value): number =>
  value.op === 'field'
    ? value.back
    : childrenOf(value).reduce((least, child) => Math.min(least, backOf(child as Value)), Infinity);

/** The same value of candles further back. */
export function aged(value: Value, by: number): Value {
  switch (value.op) {
    case 'field':
      return { ...value, back: value.back + by };
    case 'times':
    case 'mean':
      return { ...value, of: aged(value.of, by) };
    default:
      return { ...value, left: aged(value.left, by), right: aged(value.right, by) };
  }
}

export const keyOf = (value: Value): string => JSON.stringify(value);
/** Means of one part that differ in their factor alone have one sum. */
export const sumKey = ({ of, period }: Mean): string => `${period} ${keyOf(of)}`;
