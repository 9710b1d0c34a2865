// JSON bytes: how long a value is as JSON in UTF-8, and what of several still fits.

/** The length of a value as JSON in UTF-8; 0 for undefined, because a member without a value is not written. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Two quotes, a colon and a comma around the name of a member. */
export const MEMBER_BYTES = 4;

/**
 * Adds the members that fit into `room` bytes to `view`, in order; null and undefined ones are left out.
 * @returns the names of those that did not fit
 */
export function addFitting(
  view: Record<string, unknown>,
  members: Readonly<Record<string, unknown>>,
  room: number,
): string[] {
  const omitted: string[] = [];
  let left = room;
  for (const [name, value] of Object.entries(members)) {
    if (value === null || value === undefined) continue;
    const bytes = jsonBytes(value) + name.length + MEMBER_BYTES;
    if (bytes > left) omitted.push(name);
    else {
      view[name] = value;
      left -= bytes;
    }
  }
  return omitted;
}
