// Headers: which column of a file is which, whatever its name and position.
import { isSplitTime, layoutOf } from './layouts.ts';
import type { Cells, Table } from './table.ts';
import { readFormattedNumbers } from './numberFormat.ts';
import { isTimeOfDay, joinDateAndTime, readsAsTime } from './times.ts';
import { chooseVolume } from './volumeColumn.ts';
import type { VolumeCandidate } from './volumeColumn.ts';
import { refuse } from './importError.ts';

export interface ColumnRoles {
  readonly time: Cells;
  /** The name of the time column, to be echoed. */
  readonly timeName: string;
  /** True when the file has a close time and no open time. */
  readonly isCloseTime: boolean;
  readonly open: Cells;
  readonly high: Cells;
  readonly low: Cells;
  readonly close: Cells;
  /** What the prices are divided by. */
  readonly priceDivisor: number;
  /** null if the file has none. */
  readonly volume: Cells | null;
  /** All other columns, in file order. */
  readonly extra: readonly { readonly name: string; readonly cells: Cells }[];
  /** Columns that hold no data of their own: second time columns, row numbers. */
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}

const NAMES = {
  // An open time is preferred to all other columns; the empty name is the unnamed index of pandas.
  time: [
    'opentime',
    'windowstart',
    'timestamp',
    'datetime',
    'gmttime',
    'utctime',
    'time',
    'date',
    'ts',
    't',
    'unix',
    'unixtime',
    'unixtimestamp',
    'datum',
    'datumzeit',
    'zeitstempel',
    'zeit',
    'index',
    'indexlevel',
    'unnamed',
    '',
  ],
  closeTime: ['closetime'],
  open: ['open', 'o', 'openprice', 'eröffnung', 'eröffnungskurs', 'eröffn', 'erster'],
  high: ['high', 'h', 'highprice', 'hoch', 'höchst', 'höchstkurs', 'tageshoch'],
  low: ['low', 'l', 'lowprice', 'tief', 'tiefst', 'tiefstkurs', 'tagestief'],
  // "Price" is the close in the files of investing.com, "Zuletzt" in its German ones.
  close: ['close', 'c', 'closeprice', 'closelast', 'last', 'schluss', 'schlusskurs', 'zuletzt', 'letzter', 'price'],
  // "Stücke" (units) come first: in German files that have both, "Volumen" is money.
  volume: ['volume', 'vol', 'v', 'basevolume', 'volumebase', 'stück', 'stücke', 'volumen'],
  ticks: ['tickvol', 'tickvolume'],
  symbol: ['symbol', 'ticker', 'tic', 'instrument'],
} as const;
/** "Volume BTC", "Volume (USD)"; not "Volume MA", which TradingView exports beside the volume. */
const NAMED_VOLUME = /^volume[ _(]+(?!s?ma\b|avg|average|quote)/i;
/** Binance's klines end in a column that its documentation calls "ignore". */
const WORTHLESS = new Set(['ignore']);

/** @throws MarketDataError when a column that every bar needs cannot be found */
export function findColumns(given: Table, timeIs: 'open' | 'close' | undefined): ColumnRoles {
  const { table, notes } = given.names === null ? withPlainNumbers(given) : { table: given, notes: [] };
  const layout = table.names === null ? layoutOf(table) : null;
  const names = table.names ?? layout!.names;
  const plain = names.map(normalize);
  const symbols = indexesOfAny(plain, NAMES.symbol);
  refuseSeveralSymbols(table, names, symbols);
  const time = findTime(table, names, plain, timeIs);
  const price = (role: 'open' | 'high' | 'low' | 'close'): number => priceColumn(role, names, plain);
  const prices = { open: price('open'), high: price('high'), low: price('low'), close: price('close') };
  const formatted = readFormattedNumbers(table, {
    prices: Object.values(prices),
    volumes: volumeCandidates(table, names, plain).map(({ index }) => index),
    kept: [...time.indexes, ...time.candidates, ...symbols],
  });
  const { columns } = formatted;
  const [high, low] = [columns[prices.high], columns[prices.low]];
  const volume = chooseVolume(volumeCandidates({ ...table, columns }, names, plain), { high, low });
  const used = new Set([...time.indexes, ...Object.values(prices), volume.index]);
  const rest = names
    .map((name, index) => ({ name: name.trim() || `column${index + 1}`, index }))
    .filter(({ index }) => !used.has(index));
  const isWorthless = ({ index }: { index: number }): boolean =>
    time.candidates.includes(index) || WORTHLESS.has(plain[index]);
  return {
    time: time.cells,
    timeName: time.name,
    isCloseTime: time.isClose,
    open: columns[prices.open],
    high,
    low,
    close: columns[prices.close],
    priceDivisor: layout?.priceDivisor ?? 1,
    volume: volume.index === null ? null : columns[volume.index],
    extra: rest.filter((column) => !isWorthless(column)).map(({ name, index }) => ({ name, cells: columns[index] })),
    ignored: rest.filter(isWorthless).map(({ name }) => name),
    notes: [...notes, ...(layout?.notes ?? []), ...formatted.notes, ...volume.notes],
  };
}

interface FoundTime {
  readonly cells: Cells;
  readonly name: string;
  /** Whether it is the close of each bar, because the file has no open time or its owner says so. */
  readonly isClose: boolean;
  /** The columns that it is read from: one, or a date and a time of day. */
  readonly indexes: readonly number[];
  /** Every column that is named like a time. */
  readonly candidates: readonly number[];
}

/** @throws MarketDataError COLUMN_MISSING */
function findTime(
  { columns }: Table,
  names: readonly string[],
  plain: readonly string[],
  timeIs: 'open' | 'close' | undefined,
): FoundTime {
  const openTimes = indexesOfAny(plain, NAMES.time);
  const closeTimes = indexesOfAny(plain, NAMES.closeTime);
  const candidates = [...openTimes, ...closeTimes];
  const isClose = closeTimes.length > 0 && (timeIs === 'close' || openTimes.length === 0);
  const times = isClose ? closeTimes : openTimes;
  const index = times.find((each) => readsAsTime(columns[each])) ?? times[0];
  if (index === undefined) refuseMissing('time', names);
  const split = isClose ? null : findSplitTime(columns, plain);
  if (split === null) return { cells: columns[index], name: names[index], isClose, indexes: [index], candidates };
  const { date, time } = split;
  return {
    cells: joinDateAndTime(columns[date], columns[time]),
    name: `${names[date]} ${names[time]}`,
    isClose,
    indexes: [date, time],
    candidates,
  };
}

/** A table without a header, whose prices are the four columns after the time in every layout that is known. */
function withPlainNumbers(table: Table): { readonly table: Table; readonly notes: readonly string[] } {
  const first = isSplitTime(table.columns) ? 2 : 1;
  const { columns, notes } = readFormattedNumbers(table, {
    prices: [first, first + 1, first + 2, first + 3],
    volumes: [first + 4],
    kept: first === 2 ? [0, 1] : [0],
  });
  return { table: { ...table, columns, raw: undefined }, notes };
}

/**
 * "Open Time", "open_time", "<OPEN>", "1. open" and "__index_level_0__" without punctuation and numbering, and German
 * names with their umlauts.
 */
const normalize = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replace(/^(?:er)?oeff|^hoech|^stueck/, (part) => part.replace('oe', 'ö').replace('ue', 'ü'))
    .replace('ß', 'ss')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^\d+|\d+$/g, '');

function indexesOf(names: readonly string[], name: string): number[] {
  return names.flatMap((candidate, index) => (candidate === name ? [index] : []));
}

/** The columns that have one of the names, those of the first name first. */
const indexesOfAny = (names: readonly string[], aliases: readonly string[]): number[] =>
  aliases.flatMap((alias) => indexesOf(names, alias));

function priceColumn(
  role: 'open' | 'high' | 'low' | 'close',
  names: readonly string[],
  plain: readonly string[],
): number {
  const [alias] = NAMES[role].filter((candidate) => plain.includes(candidate));
  const found = alias === undefined ? [] : indexesOf(plain, alias);
  if (found.length === 0) refuseMissing(role, names);
  if (found.length > 1) {
    const columns = found.map((index) => `"${names[index]}"`).join(' and ');
    refuse('COLUMN_DUPLICATE', `Columns ${columns} both read as ${role}. Keep one; a file holds one instrument.`);
  }
  return found[0];
}

function volumeCandidates(table: Table, names: readonly string[], plain: readonly string[]): VolumeCandidate[] {
  const of = (kind: VolumeCandidate['kind'], indexes: readonly number[]): VolumeCandidate[] =>
    indexes.map((index) => ({ index, name: names[index], kind, cells: table.columns[index] }));
  const named = names.flatMap((name, index) => (NAMED_VOLUME.test(name.trim()) ? [index] : []));
  return [
    ...of('exact', indexesOfAny(plain, NAMES.volume)),
    ...of('named', named),
    ...of('ticks', indexesOfAny(plain, NAMES.ticks)),
  ];
}

/** Finds a date in one column and the time of day in another, as MetaTrader and Stooq write them. */
function findSplitTime(columns: readonly Cells[], plain: readonly string[]): { date: number; time: number } | null {
  const indexOf = (...aliases: string[]): number => plain.findIndex((name) => aliases.includes(name));
  const date = indexOf('date', 'datum');
  const time = indexOf('time', 'uhrzeit', 'zeit');
  const isWhole = plain.some((name) => ['opentime', 'timestamp', 'datetime'].includes(name));
  if (date < 0 || time < 0 || isWhole || !isTimeOfDay(columns[time])) return null;
  return { date, time };
}

/** Refuses a file of several symbols, such as Polygon's day files. */
function refuseSeveralSymbols(table: Table, names: readonly string[], columns: readonly number[]): void {
  for (const index of columns) {
    const symbols = new Set(table.columns[index].texts ?? []);
    symbols.delete(undefined);
    if (symbols.size < 2) continue;
    const shown = [...symbols].slice(0, 3).join(', ');
    refuse(
      'SEVERAL_INSTRUMENTS',
      `Column "${names[index]}" names ${symbols.size} instruments ` +
        `(${shown}${symbols.size > 3 ? ', …' : ''}). Keep the rows of one; a file holds one series.`,
    );
  }
}

function refuseMissing(role: string, names: readonly string[]): never {
  const shown = names
    .slice(0, 20)
    .map((name) => `"${name}"`)
    .join(', ');
  const rest = names.length > 20 ? `, … (${names.length} in all)` : '';
  refuse(
    'COLUMN_MISSING',
    `No column reads as ${role}. The columns are ${shown}${rest}. Name them time, open, high, low, close, ` +
      `volume in a first line.`,
  );
}
