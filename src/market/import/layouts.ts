// Layouts: what the columns of a file without a header are, inferred from their number and content.
import type { Cells, Table } from './table.ts';
import { isTimeOfDay } from './times.ts';

interface Layout {
  /** One per column. */
  readonly names: readonly string[];
  /** What the prices are divided by. */
  readonly priceDivisor: number;
  readonly notes: readonly string[];
}

const BARS = ['time', 'open', 'high', 'low', 'close', 'volume'];
const KLINES = [
  'open_time',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'close_time',
  'quote_volume',
  'count',
  'taker_buy_volume',
  'taker_buy_quote_volume',
  'ignore',
];
const KRAKEN = ['time', 'open', 'high', 'low', 'close', 'vwap', 'volume', 'count'];
const COINBASE = ['time', 'low', 'high', 'open', 'close', 'volume'];
const META_TRADER = ['date', 'time', 'open', 'high', 'low', 'close', 'volume'];

/** Lean writes stocks in ten-thousandths of a dollar. */
const LEAN_DIVISOR = 10_000;
/** Ten cents: cheaper stocks are rare enough to ignore. */
const LEAN_LOWEST_PRICE = 1000;
/**
 * Stocks trade in whole cents, multiples of 100 in Lean's unit; in other files multiples of 100 are never this
 * frequent.
 */
const LEAN_WHOLE_CENTS = 0.5;

/** The layout of a table without a header; time, open, high, low, close, volume unless it shows another. */
export function layoutOf(table: Table): Layout {
  const { columns } = table;
  const plain = (names: readonly string[], ...notes: string[]): Layout => ({
    names: columns.map((_, index) => names[index] ?? `column${index + 1}`),
    priceDivisor: 1,
    notes,
  });
  if (columns.length === KLINES.length) return plain(KLINES);
  if (isSplitTime(columns)) return plain(META_TRADER);
  if (columns.length === KRAKEN.length && isAveragePrice(columns[5], columns[2], columns[3]))
    return plain(KRAKEN, "Read as Kraken's columns: time, open, high, low, close, vwap, volume, count.");
  if (columns.length === COINBASE.length && isCoinbase(columns))
    return plain(COINBASE, "Read as Coinbase's columns: time, low, high, open, close, volume.");
  if (columns.length === BARS.length && isLean(columns)) {
    const note = `Read as Lean's format: prices are in ten-thousandths and were divided by ${LEAN_DIVISOR}.`;
    return { ...plain(BARS, note), priceDivisor: LEAN_DIVISOR };
  }
  return plain(BARS);
}

/** True when a column lies between low and high wherever it is not 0: an average price, and never a volume. */
export function isAveragePrice(cells: Cells, high: Cells, low: Cells): boolean {
  let compared = 0;
  for (let row = 0; row < cells.numbers.length; row++) {
    const value = cells.numbers[row];
    // Kraken writes 0 where nothing was traded.
    if (value === 0) continue;
    if (!(value >= low.numbers[row] && value <= high.numbers[row])) return false;
    compared++;
  }
  return compared > 0;
}

/** Whether the first columns are a date and a time, as in MetaTrader 4's 2024.01.02,00:00,1.1,… */
export function isSplitTime({ length, 0: date, 1: time }: readonly Cells[]): boolean {
  if (length < META_TRADER.length - 1 || time.texts?.[0] === undefined) return false;
  return isTimeOfDay(time) && (date.texts?.[0] ?? '').length === 'YYYY.MM.DD'.length;
}

/** Whether low comes before high and open, as in Coinbase's files: in the usual order, some bars are impossible. */
function isCoinbase([, first, second, third, fourth]: readonly Cells[]): boolean {
  const rows = first.numbers.length;
  let contradictions = 0;
  for (let row = 0; row < rows; row++) {
    const [low, high, open, close] = [first, second, third, fourth].map((cells) => cells.numbers[row]);
    if (!(low <= Math.min(open, close) && high >= Math.max(open, close))) return false;
    // Impossible when read as open, high, low, close.
    if (open > low || open > close) contradictions++;
  }
  return contradictions > 0;
}

function isLean([time, ...rest]: readonly Cells[]): boolean {
  const texts = time.texts;
  if (texts === null || !time.numbers.every((_, row) => /^\d{8} \d\d:\d\d$/.test(texts[row] ?? ''))) return false;
  const prices = rest.slice(0, 4).flatMap((cells) => [...cells.numbers]);
  if (!prices.every((price) => Number.isInteger(price) && price >= LEAN_LOWEST_PRICE)) return false;
  return prices.filter((price) => price % 100 === 0).length >= LEAN_WHOLE_CENTS * prices.length;
}
