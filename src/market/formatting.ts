// Formatting: times and counts as messages show them.

/** `1 bar`, `2 bars`. */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** "1998-01-02 to 2021-04-01", with times of day if there are any. */
export function rangeOf({ start, end }: { readonly start: number; readonly end: number }): string {
  return `${isoTime(start)} to ${isoTime(end)}`;
}

/** 2024-01-31 or 2024-01-31T15:00Z: as short as the instant allows. */
export function isoTime(time: number): string {
  return new Date(time)
    .toISOString()
    .replace(/(:00)?\.000Z$/, 'Z')
    .replace(/T00:00Z$/, '');
}
