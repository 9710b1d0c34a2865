// JSON and binary files of the import table: libraries, exchanges, Arrow and Parquet.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeData, makeVector, Table, tableFromArrays, tableToIPC, TimestampMicrosecond } from 'apache-arrow';
import { ROOT } from '../../../src/config.ts';
import type { ImportSection, ImportShape } from './importTable.ts';
import type { SourceBar } from './sourceBars.ts';
import { DAYS, day, HOURS, INDEX_DAYS, MINUTES, newYorkTime, ohlcv, stamp } from './sourceBars.ts';

const NAMES = ['open', 'high', 'low', 'close', 'volume'] as const;
const json = (
  shape: string,
  value: unknown,
  bars: ImportShape['bars'],
  more: Partial<ImportShape> = {},
): ImportShape => ({
  shape,
  file: JSON.stringify(value),
  bars,
  ...more,
});
const column = (bars: readonly SourceBar[], name: keyof SourceBar): number[] => bars.map((bar) => bar[name]);
const indexed = <Value>(
  bars: readonly SourceBar[],
  key: (bar: SourceBar, at: number) => string | number,
  value: (bar: SourceBar) => Value,
): Record<string, Value> => Object.fromEntries(bars.map((bar, at) => [key(bar, at), value(bar)]));
const without = ({ open, high, low, close, volume }: SourceBar) => ({ open, high, low, close, volume });
const letters = ({ time, open, high, low, close, volume }: SourceBar) => ({
  t: new Date(time).toISOString(),
  o: open,
  h: high,
  l: low,
  c: close,
  v: volume,
  n: 5,
  vw: close,
});
const columns = Object.fromEntries(
  NAMES.map((name) => [
    name,
    indexed(
      HOURS,
      ({ time }) => time,
      (bar) => bar[name],
    ),
  ]),
);
const numbered = Object.fromEntries([
  [
    'Date',
    indexed(
      DAYS,
      (_, at) => at,
      ({ time }) => time,
    ),
  ] as const,
  ...NAMES.map(
    (name) =>
      [
        name,
        indexed(
          DAYS,
          (_, at) => at,
          (bar) => bar[name],
        ),
      ] as const,
  ),
]);
const lists = (bars: readonly SourceBar[]) => bars.map((bar) => [bar.time, ...ohlcv(bar)]);
const chart = (bars: readonly SourceBar[], quote: Record<string, (number | null)[]>) => ({
  chart: {
    result: [
      {
        meta: { currency: 'USD', symbol: 'SPY' },
        timestamp: bars.map(({ time }) => newYorkTime(time, 9, 30) / 1000),
        indicators: { quote: [quote], adjclose: [{ adjclose: quote.close }] },
      },
    ],
    error: null,
  },
});
const quoteOf = (bars: readonly SourceBar[]) =>
  Object.fromEntries(NAMES.map((name) => [name, column(bars, name) as (number | null)[]]));
const withHole = Object.fromEntries(
  Object.entries(quoteOf(DAYS)).map(([name, values]) => [name, values.with(9, null)]),
);
const other = INDEX_DAYS;

export const JSON_FILES: ImportSection = {
  title: 'JSON',
  shapes: [
    json('ccxt, lists of numbers', lists(HOURS), HOURS),
    json(
      'lists of texts',
      lists(HOURS).map((cells) => cells.map(String)),
      HOURS,
    ),
    json('pandas `to_json()`', columns, HOURS),
    json('pandas `to_json()` with a counter as index', numbered, DAYS),
    json(
      'pandas `orient="index"`',
      indexed(HOURS, ({ time }) => time, without),
      HOURS,
    ),
    json(
      'pandas `orient="index"` with dates in ISO 8601',
      indexed(DAYS, ({ time }) => new Date(time).toISOString(), without),
      DAYS,
    ),
    json(
      'pandas `orient="table"`',
      {
        schema: {
          fields: [{ name: 'Date', type: 'datetime' }, ...NAMES.map((name) => ({ name, type: 'number' }))],
          primaryKey: ['Date'],
          pandas_version: '1.4.0',
        },
        data: DAYS.map((bar) => ({ Date: new Date(bar.time).toISOString(), ...without(bar) })),
      },
      DAYS,
    ),
    json(
      'pandas `orient="split"`, with the times in the index',
      { columns: NAMES, index: column(HOURS, 'time'), data: HOURS.map(ohlcv) },
      HOURS,
    ),
    json(
      'pandas `orient="records"`',
      DAYS.map((bar) => ({ Date: day(bar.time), ...without(bar) })),
      DAYS,
    ),
    json('`to_dict("list")`', { time: HOURS.map(({ time }) => stamp(time)), ...quoteOf(HOURS) }, HOURS),
    json("Yahoo's chart", chart(DAYS, quoteOf(DAYS)), DAYS, { says: 'summer time' }),
    json("Yahoo's chart with a day of null", chart(DAYS, withHole), DAYS.toSpliced(9, 1), {
      refused: 'VALUE_MISSING',
      wayOut: { options: '--drop-na' },
    }),
    json(
      'Finnhub',
      {
        c: column(MINUTES, 'close'),
        h: column(MINUTES, 'high'),
        l: column(MINUTES, 'low'),
        o: column(MINUTES, 'open'),
        s: 'ok',
        t: MINUTES.map(({ time }) => time / 1000),
        v: column(MINUTES, 'volume'),
      },
      MINUTES,
    ),
    json(
      'Alpha Vantage',
      {
        'Meta Data': { '2. Symbol': 'IBM' },
        'Time Series (Daily)': indexed(
          DAYS.toReversed(),
          ({ time }) => day(time),
          (bar) => Object.fromEntries(NAMES.map((name, at) => [`${at + 1}. ${name}`, String(bar[name])])),
        ),
      },
      DAYS,
    ),
    json('Alpaca', { bars: MINUTES.map(letters), symbol: 'SPY', next_page_token: null }, MINUTES),
    json(
      'Alpaca, two symbols',
      { bars: { AAPL: MINUTES.map(letters), MSFT: HOURS.map(letters) }, next_page_token: null },
      { AAPL: MINUTES, MSFT: HOURS },
    ),
    json(
      'Polygon',
      { ticker: 'AAPL', results: MINUTES.map((bar) => ({ ...letters(bar), t: bar.time })), status: 'OK' },
      MINUTES,
    ),
    json(
      'Twelve Data, newest first',
      {
        meta: { symbol: 'AAPL', interval: '1day' },
        values: other.toReversed().map((bar) => ({
          datetime: day(bar.time),
          ...Object.fromEntries(NAMES.map((name) => [name, String(bar[name])])),
        })),
        status: 'ok',
      },
      other,
    ),
    {
      shape: 'a row of NaN, as Python writes it',
      file: JSON.stringify(lists(HOURS)).replace(`[${HOURS[5].time},`, '[1678500000000, NaN, NaN, NaN, NaN, NaN], $&'),
      refused: 'VALUE_MISSING',
      wayOut: { options: '--drop-na' },
      bars: HOURS,
    },
    {
      shape: 'JSON Lines',
      file: HOURS.map((bar) => JSON.stringify({ ts: bar.time, ...without(bar) })).join('\n'),
      bars: HOURS,
    },
    json(
      'prices in texts with a decimal comma',
      DAYS.map((bar) => ({
        date: day(bar.time),
        ...Object.fromEntries(NAMES.map((name) => [name, bar[name].toFixed(2).replace('.', ',')])),
      })),
      DAYS,
    ),
  ],
};

const stamped = (bars: readonly SourceBar[], zone: string | null): Uint8Array => {
  const micros = BigInt64Array.from(bars, ({ time }) => BigInt(time) * 1000n);
  const type = new TimestampMicrosecond(zone);
  const time = makeVector(makeData({ type, length: bars.length, nullCount: 0, data: micros }));
  return tableToIPC(
    new Table({
      time,
      ...Object.fromEntries(NAMES.map((name) => [name, makeVector(Float64Array.from(bars, (bar) => bar[name]))])),
    }),
  );
};
const plainArrow = tableFromArrays({
  time: BigInt64Array.from(HOURS, ({ time }) => BigInt(time)),
  ...Object.fromEntries(NAMES.map((name) => [name, Float64Array.from(HOURS, (bar) => bar[name])])),
});
/** What test/market/fixtures/make.py writes. */
const FIXTURE: readonly SourceBar[] = [
  [0, 100, 102, 99.5, 101.5, 10.5],
  [1, 101.5, 101.75, 100.25, 101, 0],
  [3, 101, 104, 100.5, 103.25, 7.25],
  [4, 103.25, 103.5, 101, 101.125, 3],
].map(([hour, open, high, low, close, volume]) => ({
  time: Date.UTC(2024, 0, 1, hour),
  open,
  high,
  low,
  close,
  volume,
}));
const fixture = (shape: string, name: string): ImportShape => ({
  shape,
  file: readFileSync(join(ROOT, 'test', 'market', 'fixtures', name)),
  bars: FIXTURE,
});

export const BINARY_FILES: ImportSection = {
  title: 'Arrow and Parquet',
  shapes: [
    { shape: 'Arrow, times as whole numbers', file: tableToIPC(plainArrow, 'file'), bars: HOURS },
    { shape: 'an Arrow stream', file: tableToIPC(plainArrow, 'stream'), bars: HOURS },
    { shape: 'Arrow, timestamps in microseconds with a zone', file: stamped(HOURS, 'America/New_York'), bars: HOURS },
    {
      shape: 'Arrow, midnights of New York',
      file: stamped(
        DAYS.map((bar) => ({ ...bar, time: newYorkTime(bar.time, 0) })),
        'America/New_York',
      ),
      bars: DAYS,
      says: 'summer time',
    },
    fixture('Feather, LZ4, nanoseconds', 'lz4.feather'),
    fixture('Feather, Zstandard, microseconds', 'zstd.feather'),
    fixture('Feather, seconds', 'plain.feather'),
    fixture('Parquet, index of pandas, Snappy', 'index-snappy.parquet'),
    fixture('Parquet, Zstandard', 'index-zstd.parquet'),
    fixture('Parquet, Unix time in seconds, two row groups', 'seconds.parquet'),
    fixture('Parquet, INT96', 'int96.parquet'),
  ],
};
