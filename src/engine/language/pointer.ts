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

/** The member of the request body that a pointer leads into. */
export const firstSegment = (pointer: string): string => parsePointer(pointer)?.[0] ?? '';
