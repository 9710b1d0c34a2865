// Headers: which column of a file is which, whatever it is called and wherever it stands.
import type { Table } from './table.ts';
import { joinDateAndTime, isTimeOfDay } from './times.ts';
import type { Cells } from './table.ts';
import { refuse } from './refusal.ts';

export interface ColumnRoles {
  readonly time: Cells;
  /** The name of the time column, to be echoed. */
  readonly timeName: string;
  /** True when only a close time is there. */
  readonly isCloseTime: boolean;
  readonly open: Cells;
  readonly high: Cells;
  readonly low: Cells;
  readonly close: Cells;
  /** null: the file has none. */
  readonly volume: Cells | null;
  /** All other columns, in file order. */
  readonly extra: readonly { readonly name: string; readonly cells: Cells }[];
  /** Columns that are no data of their own: second time columns, row numbers. */
  readonly ignored: readonly string[];
}

const NAMES = {
  // An open time is preferred to whatever else is there; the empty name is pandas' unnamed index.
  time: [
    'opentime',
    'timestamp',
    'datetime',
    'time',
    'date',
    'ts',
    't',
    'unix',
    'unixtime',
    'unixtimestamp',
    'index',
    'indexlevel',
    'unnamed',
    '',
  ],
  closeTime: ['closetime'],
  open: ['open', 'o', 'openprice'],
  high: ['high', 'h', 'highprice'],
  low: ['low', 'l', 'lowprice'],
  close: ['close', 'c', 'closeprice', 'last'],
  volume: ['volume', 'vol', 'v', 'basevolume', 'volumebase', 'tickvol', 'tickvolume'],
} as const;
/** Binance's klines end in a column that its documentation calls "ignore". */
const WORTHLESS = new Set(['ignore']);
const KLINE_NAMES = [
  'open_time', 'open', 'high', 'low', 'close', 'volume', 'close_time', 'quote_volume', 'count', 'taker_buy_volume', 'taker_buy_quote_volume', 'ignore',
]; // prettier-ignore

/** @throws MarketDataError when a column that every bar needs cannot be told. */
export function findColumns(table: Table, timeIs: 'open' | 'close' | undefined): ColumnRoles {
  const names = table.names ?? madeUpNames(table.columns.length);
  const plain = names.map(normalise);
  const all = (aliases: readonly string[]): number[] => aliases.flatMap((alias) => indexesOf(plain, alias));
  const price = (role: 'open' | 'high' | 'low' | 'close'): number => {
    const [alias] = NAMES[role].filter((candidate) => plain.includes(candidate));
    const found = alias === undefined ? [] : indexesOf(plain, alias);
    if (found.length === 0) refuseMissing(role, names);
    if (found.length > 1) {
      const columns = found.map((index) => `"${names[index]}"`).join(' and ');
      refuse('COLUMN_DUPLICATE', `Columns ${columns} both read as ${role}: keep one (a file holds one instrument).`);
    }
    return found[0];
  };
  const openTimes = all(NAMES.time);
  const closeTimes = all(NAMES.closeTime);
  const prefersClose = closeTimes.length > 0 && (timeIs === 'close' || openTimes.length === 0);
  const timeIndex = (prefersClose ? closeTimes : openTimes)[0];
  if (timeIndex === undefined) refuseMissing('time', names);
  const prices = { open: price('open'), high: price('high'), low: price('low'), close: price('close') };
  const volume = all(NAMES.volume)[0];
  const split = prefersClose ? null : findSplitTime(table, plain);
  const used = new Set([timeIndex, ...Object.values(prices), volume]);
  const rest = names
    .map((name, index) => ({ name: name.trim() || `column${index + 1}`, index }))
    .filter(({ index }) => !used.has(index));
  const isWorthless = ({ index }: { index: number }): boolean =>
    openTimes.includes(index) || closeTimes.includes(index) || WORTHLESS.has(plain[index]);
  return {
    time: split ? joinDateAndTime(table.columns[split.date], table.columns[split.time]) : table.columns[timeIndex],
    timeName: split ? `${names[split.date]} ${names[split.time]}` : names[timeIndex],
    isCloseTime: prefersClose,
    open: table.columns[prices.open],
    high: table.columns[prices.high],
    low: table.columns[prices.low],
    close: table.columns[prices.close],
    volume: volume === undefined ? null : table.columns[volume],
    extra: rest
      .filter((column) => !isWorthless(column))
      .map(({ name, index }) => ({ name, cells: table.columns[index] })),
    ignored: rest.filter(isWorthless).map(({ name }) => name),
  };
}

/** "Open Time", "open_time", "<OPEN>", "1. open" and "__index_level_0__" without what is only punctuation and numbering. */
const normalise = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '').replace(/^\d+|\d+$/g, ''); // prettier-ignore

function indexesOf(names: readonly string[], name: string): number[] {
  return names.flatMap((candidate, index) => (candidate === name ? [index] : []));
}

/** Twelve columns without a header are Binance's klines; any other number begins time, open, high, low, close, volume. */
function madeUpNames(count: number): string[] {
  if (count === KLINE_NAMES.length) return KLINE_NAMES;
  return Array.from({ length: count }, (_, index) => (index < 6 ? KLINE_NAMES[index] : `column${index + 1}`));
}

/** A date in one column and the time of day in another, as MetaTrader and Stooq write them. */
function findSplitTime(table: Table, plain: readonly string[]): { date: number; time: number } | null {
  const date = plain.indexOf('date');
  const time = plain.indexOf('time');
  const isWhole = plain.some((name) => ['opentime', 'timestamp', 'datetime'].includes(name));
  if (date < 0 || time < 0 || isWhole || !isTimeOfDay(table.columns[time])) return null;
  return { date, time };
}

function refuseMissing(role: string, names: readonly string[]): never {
  const shown = names.slice(0, 20).map((name) => `"${name}"`).join(', '); // prettier-ignore
  const rest = names.length > 20 ? `, … (${names.length} in all)` : '';
  refuse(
    'COLUMN_MISSING',
    `No column reads as ${role}. Columns: ${shown}${rest}. Name them time, open, high, low, close, volume in a first line.`,
  );
}
