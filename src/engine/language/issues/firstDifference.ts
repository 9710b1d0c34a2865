// The first difference between two JSON values, for messages about payloads that disagree.
import { pointerTo } from '../pointer.ts';

/** Pointer to the first place, in the order of the left value, where they differ; undefined when they are equal. */
export function firstDifference(left: unknown, right: unknown, pointer = ''): string | undefined {
  if (left === right) return undefined;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return pointer;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const name of names) {
    const [a, b] = [(left as Record<string, unknown>)[name], (right as Record<string, unknown>)[name]];
    const found = firstDifference(a, b, pointerTo(pointer, name));
    if (found !== undefined) return found;
  }
  return undefined;
}
