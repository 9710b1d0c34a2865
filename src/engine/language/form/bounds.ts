// Bounds: how deep and how large a payload is, measured by a loop before anything recursive reads it.

/**
 * The deepest nesting of objects and lists that is checked further. The deepest expression of any tier (32 levels)
 * nests at most three of them per level (the step of a sequence), below half a dozen of the strategy's own. Recursion
 * is safe at ten times that.
 */
export const MAX_DEPTH = 128;
/**
 * The most objects and lists that are checked further: the 1,024 nodes of the largest tier hold at most a few thousand.
 */
export const MAX_CONTAINERS = 20_000;

/** How deep and how large a JSON value is. */
export interface Extent {
  readonly depth: number;
  readonly containers: number;
  /** Some object is used at two places. JSON cannot do that, but a caller in this process can. */
  readonly isShared: boolean;
}

/** Measures a JSON value as a tree; stops counting when either bound is exceeded. */
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
