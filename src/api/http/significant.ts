// Significant digits: what an agent's view keeps of a number.

/** A double has 16 digits, of which a reader uses the first few. */
export const SIGNIFICANT_DIGITS = 6;

/** The same value with every number in it to six significant digits; whole ones (counts, times) as they are. */
export function toSignificant(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS));
  if (Array.isArray(value)) return value.map(toSignificant);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toSignificant(each)]));
}
