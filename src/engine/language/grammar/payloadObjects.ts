// The objects of a payload, found by a loop: a payload may be a thousand levels deep, and its `meta` may hold anything.

/** A JSON object with any members. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a JSON value is an object, which neither null nor a list is. */
export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether an object has a member. A loop, because `Object.keys` would list names of which there may be thousands. */
export function hasMembers(object: object): boolean {
  for (const _ in object) return true;
  return false;
}

/** Members that are the author's own: nothing below them belongs to the strategy. */
const FREE_FORM = new Set(['meta']);

/**
 * Calls `visit` with every object of a payload, in no particular order. `meta` is never entered, and members are pushed
 * one by one: spreading a list into a call overflows the stack at about 120,000 members.
 */
export function visitObjects(payload: unknown, visit: (object: Members) => void): void {
  const stack: unknown[] = [payload];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item !== 'object' || item === null) continue;
    if (Array.isArray(item)) {
      for (const member of item) if (typeof member === 'object') stack.push(member);
      continue;
    }
    const object = item as Members;
    visit(object);
    for (const name of Object.keys(object)) {
      const member = object[name];
      if (typeof member === 'object' && !FREE_FORM.has(name)) stack.push(member);
    }
  }
}
