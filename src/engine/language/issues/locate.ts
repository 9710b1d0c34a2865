// Places: the pointer of every object of a payload, for issues found after its objects have been passed on.
import { pointerTo } from '../pointer.ts';

/**
 * Every object and list of a JSON value with its pointer from the request body; the first one where it is used twice.
 */
export function locate(value: unknown, pointer: string, places = new Map<object, string>()): Map<object, string> {
  const stack: { value: unknown; pointer: string }[] = [{ value, pointer }];
  while (stack.length > 0) {
    const one = stack.pop()!;
    if (typeof one.value !== 'object' || one.value === null || places.has(one.value)) continue;
    places.set(one.value, one.pointer);
    const entries = Array.isArray(one.value) ? [...one.value.entries()] : Object.entries(one.value);
    for (const [name, member] of entries.reverse()) {
      if (typeof member === 'object' && member !== null)
        stack.push({ value: member, pointer: pointerTo(one.pointer, name) });
    }
  }
  return places;
}
