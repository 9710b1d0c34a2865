// Price columns: which columns are open, high, low and close, and what is said about adjusted ones.
import { adjustedColumns, eventsNote, unadjustedNote } from './adjusted.ts';
import { listedNames, refuseMissing } from './chosenColumns.ts';
import type { ChosenColumns } from './chosenColumns.ts';
import { EVENT_NAMES, indexesOf, indexesOfAny, NAMED_VOLUME, NAMES } from './columnNames.ts';
import { refuse } from './importError.ts';
import type { ReadOptions } from './readOptions.ts';
import type { Cells, Table } from './table.ts';

export interface PriceIndexes {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly isCloseOnly: boolean;
  /** Whether they are columns of adjusted prices. */
  readonly isAdjusted: boolean;
  readonly notes: readonly string[];
}

export function findPrices(
  table: Table,
  names: readonly string[],
  plain: readonly string[],
  choices: ChosenColumns,
  options: ReadOptions,
  others: readonly number[],
): PriceIndexes {
  const adjusted = options.adjusted ? adjustedColumns(plain) : null;
  if (adjusted !== null) return { ...adjusted, isCloseOnly: false, isAdjusted: true, notes: [] };
  const price = (role: PriceRole): number | null => choices.of(role)?.[0] ?? priceColumn(role, names, plain);
  const found = { open: price('open'), high: price('high'), low: price('low'), close: price('close') };
  const close = found.close ?? onlyValue(table, others);
  if (close !== null && found.open === null && found.high === null && found.low === null) {
    refuseOtherPrices(table, names, plain, [...others, close]);
    const note =
      `Warning: the file has one price per bar, "${names[close]}". Open, high and low are set to it: the bars are ` +
      'flat, so stops, targets and limits are only seen at the close.';
    return { open: close, high: close, low: close, close, isCloseOnly: true, isAdjusted: false, notes: [note] };
  }
  if (Object.values(found).every((index) => index === null)) refuseNoPrice(names);
  const required = (role: PriceRole): number => found[role] ?? refuseMissing(role, names);
  return {
    open: required('open'),
    high: required('high'),
    low: required('low'),
    close: required('close'),
    isCloseOnly: false,
    isAdjusted: false,
    notes: PRICE_ROLES.flatMap((role) =>
      choices.of(role) === null ? otherNotes(role, required(role), names, plain) : [],
    ),
  };
}

/** Says which columns of the same meaning are not used: a file of futures has a last price and a settlement. */
function otherNotes(role: PriceRole, used: number, names: readonly string[], plain: readonly string[]): string[] {
  const others = indexesOfAny(plain, NAMES[role]).filter((index) => index !== used);
  if (others.length === 0) return [];
  const shown = others.map((index) => `"${names[index]}"`).join(' and ');
  return [
    `The ${role} is taken from "${names[used]}". ${shown} ${others.length === 1 ? 'stays a' : 'stay'} series: ` +
      `--columns "${role}=${names[others[0]]}" would take that.`,
  ];
}

const PRICE_ROLES = ['open', 'high', 'low', 'close'] as const;
type PriceRole = (typeof PRICE_ROLES)[number];

function refuseNoPrice(names: readonly string[]): never {
  refuse(
    'COLUMN_MISSING',
    `No column reads as open, high, low or close. The columns are ${listedNames(names)}. Say which they are: ` +
      '--columns open=NAME,high=NAME,low=NAME,close=NAME, with one name for all four if there is one price per bar.',
  );
}

/** The value of a file of a time and one other column, such as FRED's; null for all other files. */
function onlyValue({ columns }: Table, others: readonly number[]): number | null {
  const rest = columns.flatMap((_, index) => (others.includes(index) ? [] : [index]));
  return columns.length === 2 && rest.length === 1 ? rest[0] : null;
}

/** Refuses closes beside numbers of unknown meaning, which may be the open, high and low. */
function refuseOtherPrices(
  table: Table,
  names: readonly string[],
  plain: readonly string[],
  known: readonly number[],
): void {
  const meanings: readonly string[] = [...NAMES.volume, ...NAMES.ticks, ...NAMES.adjustedClose, ...EVENT_NAMES];
  const unknown = names.findIndex(
    (name, index) =>
      !known.includes(index) &&
      !meanings.includes(plain[index]) &&
      !NAMED_VOLUME.test(name.trim()) &&
      table.columns[index].numbers.some((value) => !Number.isNaN(value)),
  );
  if (unknown < 0) return;
  const close = names[known.at(-1)!];
  refuse(
    'COLUMN_MISSING',
    `No column reads as open, high or low, and "${names[unknown]}" may be one of them. The columns are ` +
      `${listedNames(names)}. Name them with --columns open=…,high=…,low=…, or make flat bars of the closes with ` +
      `--columns "open=${close},high=${close},low=${close},close=${close}".`,
  );
}

export function adjustmentNotes(
  columns: readonly Cells[],
  names: readonly string[],
  plain: readonly string[],
  prices: PriceIndexes,
  adjustedIndex: number | undefined,
  options: ReadOptions,
): string[] {
  const notes: (string | null)[] = [eventsNote(columns, names, plain, options.adjusted === true)];
  if (options.adjusted)
    notes.push(
      prices.isAdjusted
        ? `Prices are taken from the adjusted columns, such as "${names[prices.close]}".`
        : `Prices and volume are scaled to "${names[adjustedIndex ?? 0]}".`,
    );
  else if (adjustedIndex !== undefined && adjustedIndex !== prices.close)
    notes.push(unadjustedNote(names[adjustedIndex], columns[adjustedIndex], columns[prices.close]));
  return notes.filter((note) => note !== null);
}

/** Databento writes prices as whole numbers of billionths beside its record types. */
export function fixedPointDivisor(plain: readonly string[], close: Cells): number {
  const isRecord = plain.includes('rtype') && plain.includes('publisherid');
  return isRecord && close.texts === null && close.numbers.every((value) => Number.isInteger(value) && value >= 1e6)
    ? 1e9
    : 1;
}

function priceColumn(role: PriceRole, names: readonly string[], plain: readonly string[]): number | null {
  const [alias] = NAMES[role].filter((candidate) => plain.includes(candidate));
  const found = alias === undefined ? [] : indexesOf(plain, alias);
  if (found.length > 1) {
    const columns = found.map((index) => `"${names[index]}"`).join(' and ');
    refuse(
      'COLUMN_DUPLICATE',
      `Columns ${columns} both read as ${role}. Keep one, or choose it by its number: ` +
        `--columns ${role}=${found[0] + 1}.`,
    );
  }
  return found[0] ?? null;
}
