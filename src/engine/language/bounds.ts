// Bounds: how deep and how large a payload is, told by a loop before anything recursive reads it.

/**
 * Nesting of objects and arrays that is read any further. The deepest expression of any tier (32) nests at most three containers a level
 * (a sequence's step), below half a dozen of the strategy's own; zod and every walk here recurse safely at ten times that.
 */
export const MAX_DEPTH = 128;
/** Objects and arrays that are read any further: 1,024 nodes of the largest tier hold at most a few thousand. */
export const MAX_CONTAINERS = 20_000;

export interface Extent {
  readonly depth: number;
  readonly containers: number;
  /** Some object is used at two places; JSON texts have none, but callers in this process may. */
  readonly isShared: boolean;
}

/** Measures a JSON value, as a tree; it stops counting where either bound is passed. */
export function measure(value: unknown): Extent {
  const seen = new Set<object>();
  const stack: [value: object, depth: number][] = [];
  const push = (member: unknown, depth: number): void => {
    if (typeof member === 'object' && member !== null) stack.push([member, depth]);
  };
  let depth = 0;
  let containers = 0;
  let isShared = false;
  push(value, 1);
  while (stack.length > 0 && depth <= MAX_DEPTH && containers <= MAX_CONTAINERS) {
    const [container, level] = stack.pop()!;
    depth = Math.max(depth, level);
    containers++;
    isShared ||= seen.has(container);
    seen.add(container);
    if (Array.isArray(container)) for (const item of container) push(item, level + 1);
    else for (const name of Object.keys(container)) push((container as Record<string, unknown>)[name], level + 1);
  }
  return { depth, containers, isShared };
}
