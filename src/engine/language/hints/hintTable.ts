// Hint tables: words that the language does not have, and the reading of each. All tables have one format.

/**
 * Reading → the words that have it, separated by spaces. A reading is a name of the language, which a patch may write
 * in place of the word, or a sentence that says what to write, where only the author can write it. A word with several
 * readings has them in the order of the table.
 */
export type HintTable<Reading extends string = string> = Readonly<Record<Reading, string>>;

const wordsOf = (words: string): string[] => words.split(' ');

/** Word → its readings. */
export function readingsOf(table: HintTable): ReadonlyMap<string, readonly string[]> {
  const readings = new Map<string, string[]>();
  for (const [reading, words] of Object.entries(table)) {
    for (const word of wordsOf(words)) readings.set(word, [...(readings.get(word) ?? []), reading]);
  }
  return readings;
}

/** Word → its only reading. @throws Error when a word has two, of which one would be lost */
export function readingOf<Reading extends string>(table: HintTable<Reading>): ReadonlyMap<string, Reading> {
  const found = new Map<string, Reading>();
  // The keys of a table are its readings, which Object.entries does not say.
  for (const [reading, words] of Object.entries<string>(table) as [Reading, string][])
    for (const word of wordsOf(words)) {
      if (found.has(word))
        throw new Error(`The word "${word}" has two readings: "${found.get(word)}" and "${reading}".`);
      found.set(word, reading);
    }
  return found;
}

/** The words of a table that has one reading. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(wordsOf(words));
