// A cell of a CSV file, as RFC 4180 has it and as a spreadsheet may be trusted with it.

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A missing value is an empty cell. A number is written as it is; any other text that a spreadsheet would run as a
 * formula gets an apostrophe in front, because the one who opens the file did not name its params and rules.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isNaN(value) ? '' : String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
