// Lists of symbols in messages: the first few by name, and how many more there are.

/** More names would not be read. */
const MOST_NAMES = 8;

/** Symbols as a sentence lists them. */
export function listed(symbols: readonly string[]): string {
  if (symbols.length > MOST_NAMES)
    return `${symbols.slice(0, MOST_NAMES).join(', ')} and ${symbols.length - MOST_NAMES} more`;
  if (symbols.length < 2) return symbols.join('');
  return `${symbols.slice(0, -1).join(', ')} and ${symbols[symbols.length - 1]}`;
}
