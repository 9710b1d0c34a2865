// Adjusted prices: bars scaled to the adjusted close of a file, and what is said about those that are not.
import { ADJUSTED_NAMES, EVENT_NAMES, indexesOfAny } from './columnNames.ts';
import { refuse } from './importError.ts';
import type { Cells } from './table.ts';

/** Smaller differences are rounding. */
const ROUNDING = 1e-4;

interface AdjustableColumns {
  readonly open: Cells;
  readonly high: Cells;
  readonly low: Cells;
  readonly close: Cells;
  readonly volume: Cells | null;
}

/**
 * Open, high, low and close times adjusted close / close, and the volume divided by it, so that price times volume
 * stays. Cells that are not numbers stay as they are, and are refused by row.
 */
export function scaledToAdjusted(columns: AdjustableColumns, adjusted: Cells): AdjustableColumns {
  const factors = adjusted.numbers.map((value, row) => value / columns.close.numbers[row]);
  const scaled = ({ numbers, texts }: Cells): Cells => ({
    // A high that equals the close still does, whatever the product rounds to.
    numbers: numbers.map((value, row) =>
      value === columns.close.numbers[row] ? adjusted.numbers[row] : value * factors[row],
    ),
    texts: mergedTexts(texts, adjusted.texts),
  });
  const { volume } = columns;
  return {
    open: scaled(columns.open),
    high: scaled(columns.high),
    low: scaled(columns.low),
    // As written: the close times the factor may differ in the last digit.
    close: { numbers: adjusted.numbers, texts: adjusted.texts },
    volume: volume && { numbers: volume.numbers.map((value, row) => value / factors[row]), texts: volume.texts },
  };
}

const mergedTexts = (own: Cells['texts'], others: Cells['texts']): Cells['texts'] =>
  own === null || others === null ? (own ?? others) : own.map((text, row) => text ?? others[row]);

/** The columns of Tiingo's adjOpen, adjHigh, adjLow and adjClose, if the file has all four. */
export function adjustedColumns(plain: readonly string[]): Record<'open' | 'high' | 'low' | 'close', number> | null {
  const of = (role: 'open' | 'high' | 'low' | 'close'): number => indexesOfAny(plain, ADJUSTED_NAMES[role])[0] ?? -1;
  const found = { open: of('open'), high: of('high'), low: of('low'), close: of('close') };
  return Object.values(found).every((index) => index >= 0) ? found : null;
}

/** Says that the prices are as traded although the file has adjusted closes; null if both are equal. */
export function unadjustedNote(name: string, adjusted: Cells, close: Cells): string | null {
  let most = 0;
  adjusted.numbers.forEach((value, row) => {
    const difference = Math.abs(value / close.numbers[row] - 1);
    if (difference > most && difference < Infinity) most = difference;
  });
  if (most < ROUNDING) return null;
  const percent = (most * 100).toFixed(most < 0.1 ? 2 : 1);
  return (
    `Prices are taken as they are: "${name}" differs from the close by up to ${percent} % and is kept as a series. ` +
    '--adjusted scales the bars to it.'
  );
}

/** Names the columns of dividends and splits that are not applied to the prices; null if they have no event. */
export function eventsNote(
  columns: readonly Cells[],
  names: readonly string[],
  plain: readonly string[],
  isAdjusted: boolean,
): string | null {
  const events = indexesOfAny(plain, EVENT_NAMES).filter((index) =>
    columns[index].numbers.some((value) => value !== 0 && value !== 1 && !Number.isNaN(value)),
  );
  if (events.length === 0) return null;
  const listed = events.map((index) => `"${names[index]}"`).join(' and ');
  const what = `${listed} ${events.length === 1 ? 'is' : 'are'}`;
  return isAdjusted
    ? `${what} not applied again: the adjusted close contains such events.`
    : `${what} kept as series and not applied to the prices.`;
}

export function refuseUnadjusted(): never {
  refuse(
    'COLUMN_MISSING',
    'No column reads as an adjusted close, such as "Adj Close". Leave out --adjusted, or name the columns with ' +
      '--columns open=…,high=…,low=…,close=….',
  );
}
