// Formatted numbers: 1.234,56 and 1,234.56, $395.35 and 12.3M as numbers, where the file itself shows which of its
// separators is the decimal one. 1,234 alone does not: it is about one in some countries and a thousand in others.
import { refuse } from './importError.ts';
import { CellsBuilder, type Cells, type RawCell, type Table } from './table.ts';

type Decimal = 'comma' | 'point';

interface Columns {
  readonly prices: readonly number[];
  /** Those that may be the volume. */
  readonly volumes: readonly number[];
  /** Those that stay as they are, such as the times. */
  readonly kept: readonly number[];
}

interface ReadNumbers {
  readonly columns: readonly Cells[];
  readonly notes: readonly string[];
}

const UNITS: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9 };
const WITH_UNIT = /^(.*\d) ?([KMB])$/i;
/** A comma with digits on both sides, or a unit, in what else could be a number. */
const FORMATTED = /^[-+]?(?:[\d.]*\d,\d[\d.,]*|[\d.,]*\d ?[KMB])$/i;

/** The sign of a currency, and spaces and apostrophes that separate thousands. */
const SIGNS = /[$€£¥₹]|\d[\s'\u2019]\d{3}(?!\d)/;
const CURRENCY = /^([-+]?)[$€£¥₹]\s?|\s?[$€£¥₹]$/g;
const SPACES = /(\d)\s(?=\d{3}(?!\d))/g;
const APOSTROPHES = /(\d)['\u2019](?=\d{3}(?!\d))/g;
/** 1'234.56 and 1'234'567; 110'165 alone may be a price of bonds in 32nds. */
const SWISS = /\d['\u2019]\d{3}[.'\u2019]/;

const withoutSigns = (text: string): string =>
  text.trim().replace(CURRENCY, '$1').replace(SPACES, '$1').replace(APOSTROPHES, '$1');

/** The cells without such signs, if most of them have some; one alone among plain numbers is an error of typing. */
function plainCells(cells: readonly RawCell[], isSwiss: boolean): readonly RawCell[] {
  const signed = cells.filter((cell) => typeof cell === 'string' && SIGNS.test(cell));
  const isBond = !isSwiss && signed.some((cell) => /['\u2019]/.test(String(cell)));
  if (2 * signed.length < cells.length || isBond) return cells;
  return cells.map((cell) => (typeof cell === 'string' ? withoutSigns(cell) : cell));
}

/** Whether the cells are needed as they are written, because some are formatted numbers or all may be. */
export const hasFormattedNumbers = (table: Table): boolean => table.columns.some(isFormatted) || isGerman(table);

/** Whether a cell is a number with separators, or with the sign of a currency. */
export const isFormattedNumber = (text: string): boolean =>
  FORMATTED.test(text) || (SIGNS.test(text) && /^[-+]?[\d.,]*\d ?[KMB]?$/i.test(withoutSigns(text)));

/** Whether the first cell of a column that is not a plain number is a formatted one. */
const isFormatted = ({ texts }: Cells): boolean => isFormattedNumber(texts?.find((text) => text !== undefined) ?? '');

/** Whether the columns have German names, so that 15.947 may be almost 16 thousand. */
const isGerman = ({ names }: Pick<Table, 'names'>): boolean =>
  names?.some((name) => /hoch|höchst/i.test(name)) ?? false;

/** The columns with their formatted numbers read; those that contradict themselves stay texts, to be refused by row. */
export function readFormattedNumbers(table: Table, { prices, volumes, kept }: Columns): ReadNumbers {
  const { columns } = table;
  const unread = { columns, notes: [] };
  const { raw: written } = table;
  if (written === undefined) return unread;
  const isSwiss = written(prices).some((cells) => cells.some((cell) => typeof cell === 'string' && SWISS.test(cell)));
  const raw = (indexes: readonly number[]): (readonly RawCell[])[] =>
    written(indexes).map((cells) => plainCells(cells, isSwiss));
  const others = columns.map((_, at) => at).filter((at) => ![...prices, ...kept].includes(at));
  const [priceCells, otherCells] = [raw(prices), raw(others)];
  const priceTexts = textsOf(priceCells.flat());
  const priceDecimals = decimalsIn(priceTexts);
  if (priceDecimals.size > 1) return unread;
  const [priceDecimal] = priceDecimals;
  // A price such as 1.234, where no other shows which separator is the decimal one.
  const undecidedPrice = priceDecimal === undefined ? priceTexts.find((text) => text.includes('.')) : undefined;
  if (undecidedPrice !== undefined && isGerman(table)) refuseUndecided(undecidedPrice.trim());
  const converted = [...columns];
  const notes = new Set<string>();
  const convert = (at: number, written: readonly RawCell[], decimal: Decimal): void => {
    converted[at] = convertedCells(written, decimal, volumes.includes(at));
    for (const note of conversionNotes(table.names?.[at] ?? at + 1, textsOf(written), decimal)) notes.add(note);
  };
  if (priceDecimal !== undefined) prices.forEach((at, index) => convert(at, priceCells[index], priceDecimal));
  others.forEach((at, index) => {
    const texts = textsOf(otherCells[index]);
    const own = decimalsIn(texts);
    const isPlain = columns[at].texts === null && priceDecimal !== 'comma';
    if (isPlain || own.size > 1) return;
    const [decimal = priceDecimal] = own;
    const isUndecided = decimal === undefined && texts.some((text) => /[.,]/.test(text));
    // Prices such as 1.234 would be thousands if the commas of another column were decimal.
    if (decimal === 'comma' && undecidedPrice !== undefined) return;
    const agrees = priceDecimal === undefined || decimal === priceDecimal;
    if (agrees && !isUndecided) convert(at, otherCells[index], decimal ?? 'point');
  });
  return { columns: converted, notes: [...notes] };
}

function refuseUndecided(price: string): never {
  refuse(
    'VALUE_NOT_A_NUMBER',
    `A price of ${price} may be ${numberIn(price, 'comma', false)} or ${Number(price)}, and no other ` +
      'price shows which: the columns have German names, and all prices three digits after the point. Write them ' +
      'without separators of thousands.',
  );
}

/** The numbers of a column; a cell that is not a number stays a text. */
function convertedCells(written: readonly RawCell[], decimal: Decimal, mayHaveUnit: boolean): Cells {
  const cells = new CellsBuilder(written.length);
  for (const cell of written)
    cells.push(typeof cell === 'number' ? cell : (numberIn(cell, decimal, mayHaveUnit) ?? cell));
  return cells.finish();
}

/** What the owner of the file should know about the numbers of a column. @param name its name, or number without one */
function* conversionNotes(name: string | number, texts: readonly string[], decimal: Decimal): Generator<string> {
  if (texts.some((text) => text.includes(',') && !WITH_UNIT.test(text))) yield NOTES[decimal];
  const scaled = texts.find((text) => WITH_UNIT.test(text.trim()));
  if (scaled !== undefined)
    yield (
      `Column "${name}" is written in thousands, millions or billions: ${scaled.trim()} is ` +
        `${numberIn(scaled, decimal, true)}, as exact as it is written.`
    );
}

/** The cells that are left to interpret; a number in JSON needs no interpretation. */
const textsOf = (cells: readonly RawCell[]): string[] => cells.filter((cell) => typeof cell === 'string');

const NOTES: Readonly<Record<Decimal, string>> = {
  comma: 'Numbers have a decimal comma: 1.234,5 is read as 1234.5.',
  point: 'Commas in numbers separate thousands: 1,234.5 is read as 1234.5.',
};

/** The decimal separators of those texts that can be read in only one way. */
function decimalsIn(texts: readonly string[]): Set<Decimal> {
  const found = new Set<Decimal>();
  for (const text of texts) {
    const [, number = text] = WITH_UNIT.exec(text.trim()) ?? [];
    const decimal = decimalOf(number.trim());
    if (decimal !== undefined) found.add(decimal);
    if (found.size === 2) break;
  }
  return found;
}

/** undefined for a whole number, for 1,234 and 1.234, and for what is not a number. */
function decimalOf(text: string): Decimal | undefined {
  const isPoint = numberWith(text, 'point') !== undefined;
  const isComma = numberWith(text, 'comma') !== undefined;
  return isPoint === isComma ? undefined : isPoint ? 'point' : 'comma';
}

/** Both readings of a text such as 1,234, in a file that does not show which is right; null if it has one or none. */
export function ambiguousReadings(text: string): { readonly comma: number; readonly point: number } | null {
  const [comma, point] = [numberWith(text, 'comma'), numberWith(text, 'point')];
  return comma === undefined || point === undefined || comma === point ? null : { comma, point };
}

const SHAPES: Readonly<Record<Decimal, RegExp>> = {
  comma: /^[-+]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/,
  point: /^[-+]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/,
};

/** undefined if the text is not a number with this decimal separator. */
function numberWith(text: string, decimal: Decimal): number | undefined {
  if (!SHAPES[decimal].test(text)) return undefined;
  return Number(decimal === 'comma' ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', ''));
}

/** undefined for what cannot be read. */
function numberIn(text: string, decimal: Decimal, mayHaveUnit: boolean): number | undefined {
  const trimmed = text.trim();
  const [, number, unit] = (mayHaveUnit && WITH_UNIT.exec(trimmed)) || [];
  if (number === undefined) return numberWith(trimmed, decimal);
  const value = numberWith(number.trim(), decimal);
  // 1.1 million is 1100000, not 1100000.0000000002.
  return value === undefined ? undefined : Number((value * UNITS[unit.toUpperCase()]).toPrecision(15));
}
