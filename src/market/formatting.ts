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

/** The most symbols of a portfolio that a line names. */
const MAX_SYMBOLS = 5;

/**
 * "AAPL", "AAPL, MSFT" or "AAPL, MSFT, IBM, GOOG, SPX and 495 more".
 * @param first the first of the symbols, at least five if there are as many
 * @param count how many there are in all
 */
export function symbolsText(first: readonly string[], count = first.length): string {
  const shown = first.slice(0, MAX_SYMBOLS);
  return shown.join(', ') + (count > shown.length ? ` and ${count - shown.length} more` : '');
}

/** An instant in ISO 8601 with its milliseconds; a number if it is out of range. */
export const isoInstant = (time: number): string =>
  Math.abs(time) < 8.64e15 ? new Date(time).toISOString() : String(time);

/** 1.5 h, 30 min, 2 d. */
export function durationText(ms: number): string {
  const parts: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ];
  const [unitMs, unit] = parts.find(([unitMs]) => ms >= unitMs) ?? [1, 'ms'];
  return `${Math.round((ms / unitMs) * 1000) / 1000} ${unit}`;
}
