// JSON pointers (RFC 6901): the places that issues and overrides refer to.

const escapeSegment = (segment: string | number): string =>
  typeof segment === 'number' ? String(segment) : segment.replaceAll('~', '~0').replaceAll('/', '~1');

/** `base` and the segments below it. */
export function pointerTo(base: string, ...segments: readonly (string | number)[]): string {
  let pointer = base;
  for (const segment of segments) pointer += `/${escapeSegment(segment)}`;
  return pointer;
}

/** The segments of a pointer, unescaped; undefined when the string is not a pointer. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a path of segments into a JSON value; undefined when there is none. */
export function valueAtPath(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !hasMember(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** The value at a pointer into a JSON value; undefined when there is none, or when the string is not a pointer. */
export function valueAtPointer(root: unknown, pointer: string): unknown {
  const path = parsePointer(pointer);
  return path && valueAtPath(root, path);
}

/** The own members of an object, and the items of a list: its `length` is not one. */
const hasMember = (container: object, name: string): boolean =>
  Object.hasOwn(container, name) && !(Array.isArray(container) && name === 'length');

/** The member of the request body that a pointer leads into. */
export const firstSegment = (pointer: string): string => parsePointer(pointer)?.[0] ?? '';
