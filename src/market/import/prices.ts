// Prices: the four price columns and the volume of a file, with the checks every row must pass.
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import type { ColumnRoles } from './header.ts';
import type { RefusalList } from './importError.ts';
import { ambiguousReadings } from './numberFormat.ts';
import type { Cells } from './table.ts';

/**
 * Adjusted prices are rounded after multiplication, so a high may lie this fraction below a close that it should equal.
 */
const ROUNDING = 1e-9;

type PriceColumns = Pick<SnapshotColumns, 'open' | 'high' | 'low' | 'close'>;

/** Reads the price columns. Invalid rows are refused; a high or low that rounding left inside the body is moved out. */
export function readPrices(roles: ColumnRoles, refusals: RefusalList, notes: string[]): PriceColumns {
  const taken = new Set<Float64Array>();
  /** The numbers themselves, since a copy of a long file takes room; one column may be several prices. */
  const scaled = ({ numbers }: Cells): Float64Array => {
    if (roles.priceDivisor !== 1) return numbers.map((value) => value / roles.priceDivisor);
    if (taken.has(numbers)) return numbers.slice();
    taken.add(numbers);
    return numbers;
  };
  const columns = {
    open: scaled(roles.open),
    high: scaled(roles.high),
    low: scaled(roles.low),
    close: scaled(roles.close),
  };
  const { open, high, low, close } = columns;
  let rounded = 0;
  for (let row = 0; row < open.length; row++) {
    if (open[row] === 0 && high[row] === 0 && low[row] === 0 && close[row] === 0) {
      refusals.add(
        'VALUE_ZERO',
        row,
        'all prices are 0; leave out bars that did not trade, for example with --drop-na',
      );
      continue;
    }
    const before = refusals.total;
    checkPrice('open', roles.open, row, refusals);
    checkPrice('high', roles.high, row, refusals);
    checkPrice('low', roles.low, row, refusals);
    checkPrice('close', roles.close, row, refusals);
    if (refusals.total > before) continue;
    const top = open[row] > close[row] ? open[row] : close[row];
    const bottom = open[row] < close[row] ? open[row] : close[row];
    checkExtremes(columns, row, top, bottom, refusals);
    if (high[row] < top || low[row] > bottom) rounded++;
    if (high[row] < top) high[row] = top;
    if (low[row] > bottom) low[row] = bottom;
  }
  if (rounded > 0)
    notes.push(
      `${rounded} ${rounded === 1 ? 'bar has its' : 'bars have their'} high or low inside the body by rounding ` +
        `(less than ${ROUNDING} of the price); it was moved to the end of the body.`,
    );
  return columns;
}

function checkExtremes(
  { open, high, low, close }: PriceColumns,
  row: number,
  top: number,
  bottom: number,
  refusals: RefusalList,
): void {
  const end = (value: number): string => (value === close[row] ? `close ${close[row]}` : `open ${open[row]}`);
  if (high[row] < low[row] * (1 - ROUNDING)) {
    refusals.add('HIGH_BELOW_LOW', row, `high ${high[row]} is below low ${low[row]}`);
    return;
  }
  if (high[row] < top * (1 - ROUNDING)) refusals.add('HIGH_BELOW_BODY', row, `high ${high[row]} is below ${end(top)}`);
  if (low[row] > bottom * (1 + ROUNDING))
    refusals.add('LOW_ABOVE_BODY', row, `low ${low[row]} is above ${end(bottom)}`);
}

/** The volumes; zeros where there is no such column, or nothing in it. */
export function readVolume(cells: Cells | null, rows: number, refusals: RefusalList): Float64Array {
  if (cells === null || (cells.texts === null && cells.numbers.every(Number.isNaN))) return new Float64Array(rows);
  for (let row = 0; row < rows; row++) checkNumber('volume', cells, row, refusals);
  return cells.numbers.slice();
}

/** Refuses a price of 0: a row of zeros stands for an absent bar, and a strategy would trade at its prices. */
function checkPrice(name: string, cells: Cells, row: number, refusals: RefusalList): void {
  if (cells.numbers[row] === 0)
    refusals.add(
      'VALUE_ZERO',
      row,
      `${name} is 0; leave out bars that did not trade, for example with --drop-na`,
      name,
    );
  else checkNumber(name, cells, row, refusals);
}

function checkNumber(name: string, cells: Cells, row: number, refusals: RefusalList): void {
  const value = cells.numbers[row];
  if (value >= 0 && value < Infinity) return;
  const text = cells.texts?.[row];
  if (text !== undefined) refusals.add('VALUE_NOT_A_NUMBER', row, `${name} ${notANumber(text.slice(0, 60))}`, name);
  else if (Number.isNaN(value))
    refusals.add('VALUE_MISSING', row, `${name} is missing (empty or NaN); leave out such rows with --drop-na`, name);
  else if (value < 0) refusals.add('VALUE_NEGATIVE', row, `${name} ${value} is negative`, name);
  else refusals.add('VALUE_NOT_A_NUMBER', row, `${name} is infinite`, name);
}

const PLAIN = 'write 1234.5, with a decimal point and nothing else';

/** Why a text is not a number. 1,234 is not guessed: it is about one in some countries and a thousand in others. */
function notANumber(text: string): string {
  const readings = ambiguousReadings(text);
  if (readings !== null)
    return `"${text}" may be ${readings.comma} or ${readings.point}, and the file does not show which; ${PLAIN}`;
  const isFormatted = /^\W{0,2}\d{1,3}([.,'\u2019\s]\d+)+\W{0,2}$/.test(text);
  const advice = isFormatted ? `; ${PLAIN}` : '';
  return `"${text}" is not a number${advice}`;
}
