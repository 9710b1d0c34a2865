// Chosen columns: those that the owner of a file names with --columns, and the refusal of a column that is not there.
import { indexesOf, normalizeName } from './columnNames.ts';
import { refuse } from './importError.ts';
import type { ColumnChoices, ColumnRole } from './readOptions.ts';

/** Columns that the owner of the file has named, by name or by number. */
export class ChosenColumns {
  readonly #choices: ColumnChoices;
  readonly #names: readonly string[];
  readonly #plain: readonly string[];

  constructor(choices: ColumnChoices = {}, names: readonly string[], plain: readonly string[]) {
    this.#choices = choices;
    this.#names = names;
    this.#plain = plain;
  }

  /** null: not named. @throws MarketDataError COLUMN_MISSING */
  of(role: ColumnRole): readonly number[] | null {
    const choice = this.#choices[role];
    if (choice === undefined) return null;
    if (choice === '') return [];
    const whole = this.#indexOf(choice);
    if (whole !== null) return [whole];
    const parts = choice.split('+').map((part) => this.#indexOf(part));
    const found = parts.filter((part) => part !== null);
    if (parts.length === 2 && found.length === 2 && role === 'time') return found;
    refuse(
      'COLUMN_MISSING',
      `There is no column "${choice}", which --columns names for ${role}. The columns are ${listedNames(this.#names)}.`,
    );
  }

  #indexOf(choice: string): number | null {
    const written = this.#names.findIndex((name) => name.trim() === choice.trim());
    if (written >= 0) return written;
    const similar = indexesOf(this.#plain, normalizeName(choice));
    if (normalizeName(choice) !== '' && similar.length === 1) return similar[0];
    const number = Number(choice);
    return Number.isInteger(number) && number >= 1 && number <= this.#names.length ? number - 1 : null;
  }
}

export function refuseMissing(role: string, names: readonly string[]): never {
  refuse(
    'COLUMN_MISSING',
    `No column reads as ${role}. The columns are ${listedNames(names)}. Name them time, open, high, low, close, ` +
      `volume in a first line, or say which one it is: --columns ${role}=NAME.`,
  );
}

/** Names the column that may be the time, if there is one: its name may say a zone, as "Time (EET)" does. */
export function refuseNoTime(names: readonly string[]): never {
  const likely = names.find((name) => /time|date/i.test(name));
  if (likely === undefined) refuseMissing('time', names);
  refuse(
    'COLUMN_MISSING',
    `No column reads as time. The columns are ${listedNames(names)}. If it is "${likely}", say so: --columns ` +
      `"time=${likely.trim()}", with --timezone, such as --timezone Europe/Athens, if it is not in UTC.`,
  );
}

export function listedNames(names: readonly string[]): string {
  const shown = names
    .slice(0, 20)
    .map((name) => `"${name}"`)
    .join(', ');
  return names.length > 20 ? `${shown}, … (${names.length} in all)` : shown;
}
