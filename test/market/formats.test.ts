import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TIMEFRAME_MS } from '../../src/engine/bars/bars.ts';
import type { Bars } from '../../src/engine/bars/bars.ts';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import { parseBarsArgument, readBarsFile, readBarsFileWithReport } from '../../src/market/import/barsFile.ts';
import { readBars } from '../../src/market/import/barsTable.ts';
import type { ReadOptions } from '../../src/market/import/readOptions.ts';
import type { BarsTable } from '../../src/market/import/importReport.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';
import { zipOf } from '../support/imports/textShapes.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2024, 0, 1);
const TIMES = [0, 1, 3, 4].map((hour) => T0 + hour * HOUR);
const OHLCV = [
  [100, 102, 99.5, 101.5, 10.5],
  [101.5, 101.75, 100.25, 101, 0],
  [101, 104, 100.5, 103.25, 7.25],
  [103.25, 103.5, 101, 101.125, 3],
];
const FIXTURES = join(import.meta.dirname, 'fixtures');

const read = async (text: string, options: ReadOptions = {}): Promise<BarsTable> =>
  readBars(await readSource(Buffer.from(text)), options);

/** The four bars above, in the shape of a file: `time` writes the first cell. */
function csv(header: string | null, time: (ms: number) => string | number, after = ''): string {
  const rows = TIMES.map((ms, row) => `${[time(ms), ...OHLCV[row]].join(',')}${after}`);
  return `${[...(header === null ? [] : [header]), ...rows].join('\n')}\n`;
}
const HEADER = 'time,open,high,low,close,volume';

function expectTheBars({ columns }: Pick<BarsTable, 'columns'> | { columns: Bars }): void {
  const names = ['open', 'high', 'low', 'close', 'volume'] as const;
  expect([...columns.time]).toEqual(TIMES);
  expect(TIMES.map((_, row) => names.map((name) => columns[name][row]))).toEqual(OHLCV);
}

describe('a column of times', () => {
  const units: readonly (readonly [string, (ms: number) => string | number])[] = [
    ['s', (ms) => ms / 1000],
    ['ms', (ms) => ms],
    ['us', (ms) => ms * 1000],
    ['ns', (ms) => `${ms}000000`],
  ];
  it.each(units)('is recognized in %s, and the unit is echoed', async (unit, time) => {
    const bars = await read(csv(HEADER, time));
    expectTheBars(bars);
    expect(bars.report.time).toEqual({ column: 'time', unit, zone: 'UTC', is: 'open' });
  });

  const iso = (ms: number): string => new Date(ms).toISOString();
  const texts: readonly (readonly [string, (ms: number) => string, string])[] = [
    ['2024-01-01T00:00:00.000Z', iso, 'given by each time'],
    ['2024-01-01 00:00:00', (ms) => iso(ms).slice(0, 19).replace('T', ' '), 'none given, read as UTC'],
    ['2024-01-01T00:00', (ms) => iso(ms).slice(0, 16), 'none given, read as UTC'],
    [
      '2024.01.01 00:00',
      (ms) => iso(ms).slice(0, 16).replace('T', ' ').replaceAll('-', '.'),
      'none given, read as UTC',
    ],
    [
      '20240101 000000',
      (ms) => iso(ms).slice(0, 19).replace('T', ' ').replaceAll(/[-:]/g, ''),
      'none given, read as UTC',
    ],
    ['2024-01-01 05:30:00+05:30', (ms) => `${iso(ms + 5.5 * HOUR).slice(0, 19)}+05:30`, 'given by each time'],
    ['2023-12-31T19:00:00-0500', (ms) => `${iso(ms - 5 * HOUR).slice(0, 19)}-0500`, 'given by each time'],
  ];
  it.each(texts)('is read when written as %s', async (first, time, zone) => {
    const bars = await read(csv(HEADER, time));
    expectTheBars(bars);
    const unit = first.includes('.01.') ? `dates such as ${first}` : 'ISO 8601';
    expect(bars.report.time).toMatchObject({ unit, zone });
  });

  it('is read before and around 1970, in ms as in seconds', async () => {
    for (const per of [1, 1000]) {
      const rows = [-2, -1, 0, 1].map((day) => `${(day * 86_400_000) / per},1,1,1,1,1`);
      const last = `${Date.UTC(2024, 0, 1) / per},1,1,1,1,1`;
      const bars = await read([HEADER, ...rows, last].join('\n'));
      expect([...bars.columns.time].slice(0, 4)).toEqual([-172_800_000, -86_400_000, 0, 86_400_000]);
      expect(bars.report.timeframe).toBe('1d');
    }
  });

  it('that counts from 0 has the unit in which its step is a timeframe', async () => {
    const perMs = { s: 1 / 1000, ms: 1, us: 1000, ns: 1_000_000 };
    for (const [timeframe, stepMs] of Object.entries(TIMEFRAME_MS)) {
      // 1970-01-05 was a Monday.
      const start = timeframe === '1w' ? Date.UTC(1970, 0, 5) : 0;
      for (const [unit, factor] of Object.entries(perMs)) {
        const rows = [0, 1, 2].map((at) => `${Math.round((start + at * stepMs) * factor)},1,1,1,1,1`);
        const { report } = await read([HEADER, ...rows].join('\n'));
        expect(report).toMatchObject({ timeframe, start, end: start + 3 * stepMs, time: { unit } });
      }
    }
  });

  it('of closes is moved to the opens on request', async () => {
    const bars = await read(
      csv(HEADER, (ms) => ms + HOUR),
      { timeIs: 'close' },
    );
    expectTheBars(bars);
    expect(bars.report.time.is).toBe('close');
  });

  it('of closes at the last millisecond of each bar is treated the same', async () => {
    expectTheBars(
      await read(
        csv(HEADER, (ms) => ms + HOUR - 1),
        { timeIs: 'close' },
      ),
    );
  });

  it('gives daily bars at 00:00 UTC from dates and compact dates', async () => {
    for (const dates of [
      ['2024-01-02', '2024-01-03'],
      ['20240102', '20240103'],
      ['2024/01/02', '2024/01/03'],
    ]) {
      const bars = await read(`${HEADER}\n${dates.map((date) => `${date},1,1,1,1,1`).join('\n')}`);
      expect([...bars.columns.time]).toEqual([Date.UTC(2024, 0, 2), Date.UTC(2024, 0, 3)]);
      expect(bars.report.timeframe).toBe('1d');
    }
  });

  it.each([
    ['month/day', ['9/12/2023', '9/13/2023']],
    ['day/month', ['12/09/2023', '13/09/2023']],
  ])('is read with slashes as %s where one of its dates shows the order, and says so', async (order, dates) => {
    const { columns, report } = await read([HEADER, ...dates.map((date) => `${date},1,1,1,1,1`)].join('\n'));
    expect([...columns.time]).toEqual([Date.UTC(2023, 8, 12), Date.UTC(2023, 8, 13)]);
    expect(report.notes).toContainEqual(expect.stringContaining(`Dates are read as ${order}/year`));
  });

  it('is read with the hours of a twelve-hour clock', async () => {
    const times = ['9/30/2023 11:00 PM', '10/1/2023 12:00 AM', '10/1/2023 1:00:00 am'];
    const { columns } = await read([HEADER, ...times.map((time) => `${time},1,1,1,1,1`)].join('\n'));
    expect([...columns.time]).toEqual([23, 24, 25].map((hour) => Date.UTC(2023, 8, 30, hour)));
  });

  it('of local midnights becomes calendar days, even across a change to daylight saving time', async () => {
    const days = ['2024-03-08 00:00:00-05:00', '2024-03-11 00:00:00-04:00', '2024-03-12 00:00:00-04:00'];
    const bars = await read(`Date,Open,High,Low,Close,Volume\n${days.map((day) => `${day},1,1,1,1,1`).join('\n')}`);
    expect([...bars.columns.time]).toEqual([8, 11, 12].map((day) => Date.UTC(2024, 2, day)));
    expect(bars.report.notes[0]).toContain('calendar day');
  });

  it('is joined from a date column and a clock column', async () => {
    const metaTrader = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>';
    const rows = ['2024.01.01\t00:00:00\t1\t1\t1\t1\t5\t0\t2', '2024.01.01\t01:00:00\t1\t1\t1\t1\t5\t0\t2'];
    const bars = await read([metaTrader, ...rows].join('\r\n'));
    expect([...bars.columns.time]).toEqual([T0, T0 + HOUR]);
    expect(bars.report.series).toEqual(['<VOL>', '<SPREAD>']);
    const stooq = [
      'Date,Time,Open,High,Low,Close,Volume',
      '20240101,0,1,1,1,1,5',
      '20240101,500,1,1,1,1,5',
      '20240101,93000,1,1,1,1,5',
    ];
    expect([...(await read(stooq.join('\n'), { timeframe: '5m' })).columns.time]).toEqual([
      T0,
      T0 + 5 * 60_000,
      T0 + 9.5 * HOUR,
    ]);
  });
});

describe('CSV', () => {
  it('is read whatever the order and names of its columns', async () => {
    const rows = TIMES.map((ms, row) => {
      const [open, high, low, close, volume] = OHLCV[row];
      return [volume, close, ms, low, high, open].join(';');
    });
    expectTheBars(await read(['Vol;CLOSE;Open Time;Low Price;high;"1. open"', ...rows].join('\n')));
  });

  it('is read despite a byte order mark, CRLF, quotes, blank lines and spaces', async () => {
    const rows = csv(HEADER, (ms) => ms)
      .trimEnd()
      .split('\n');
    const quoted = rows.map((row) =>
      row
        .split(',')
        .map((cell) => `" ${cell} "`)
        .join(','),
    );
    expectTheBars(await read(`\u{feff}${quoted.join('\r\n')}\r\n\r\n\r\n`));
    expectTheBars(await read(`\n\n${csv(HEADER, (ms) => ms).replaceAll('\n', '\n\n')}`));
    const utf16 = Buffer.from(`\u{feff}${csv(HEADER, (ms) => ms)}`, 'utf16le');
    expectTheBars(readBars(await readSource(utf16)));
  });

  it('is read from Binance klines with and without a header', async () => {
    const after = (ms: number): string => `,${ms + HOUR - 1},1234.5,77,5.5,600.5,0`;
    const rows = TIMES.map((ms, row) => `${[ms, ...OHLCV[row]].join(',')}${after(ms)}`);
    const header =
      'open_time,open,high,low,close,volume,close_time,quote_volume,count,' +
      'taker_buy_volume,taker_buy_quote_volume,ignore';
    for (const text of [rows.join('\n'), [header, ...rows].join('\n')]) {
      const bars = await read(text);
      expectTheBars(bars);
      expect(bars.report.series).toEqual(['quote_volume', 'count', 'taker_buy_volume', 'taker_buy_quote_volume']);
      expect(bars.report.ignored).toEqual(['close_time', 'ignore']);
    }
    expectTheBars(await read([header, ...rows].join('\n'), { timeIs: 'close' }));
  });

  it('is read from yfinance in its old and its three-line form', async () => {
    const old = [
      'Date,Open,High,Low,Close,Adj Close,Volume',
      '2024-01-02,1,2,0.5,1.5,1.4,100',
      '2024-01-03,1.5,2,1,1.75,1.6,50',
    ];
    const now = [
      'Price,Close,High,Low,Open,Volume',
      'Ticker,AAPL,AAPL,AAPL,AAPL,AAPL',
      'Date,,,,,',
      '2024-01-02,1.5,2,0.5,1,100',
      '2024-01-03,1.75,2,1,1.5,50',
    ];
    for (const lines of [old, now]) {
      const { columns, report } = await read(lines.join('\n'));
      expect([...columns.open, ...columns.close]).toEqual([1, 1.5, 1.5, 1.75]);
      expect(report).toMatchObject({ timeframe: '1d', bars: 2, gaps: 0 });
    }
    expect((await read(old.join('\n'))).report.series).toEqual(['Adj Close']);
  });

  it('reports a missing volume and reads 0', async () => {
    const { columns, report } = await read('time,open,high,low,close\n0,1,1,1,1\n60,1,1,1,1');
    expect([...columns.volume]).toEqual([0, 0]);
    expect(report.notes).toEqual(['The file has no volume column: volume is 0 in every bar.']);
  });

  it('keeps extra numeric columns as series with their holes, and names what it drops', async () => {
    const rows = TIMES.map((ms, row) => [ms, ...OHLCV[row], row === 1 ? '' : row, `x${row}`, '', 7].join(','));
    const text = [`${HEADER},Prediction,note,empty,volume`, ...rows].join('\n');
    const { columns, report } = await read(text);
    expect([...columns.series]).toEqual([
      ['Prediction', Float64Array.of(0, NaN, 2, 3)],
      ['volume_2', Float64Array.of(7, 7, 7, 7)],
    ]);
    expect(report.ignored).toEqual(['note', 'empty']);
  });

  it('is read with thousands of columns', async () => {
    const names = Array.from({ length: 5000 }, (_, at) => `f${at}x`);
    const rows = TIMES.map((ms, row) => [ms, ...OHLCV[row], ...names.map((_, at) => at)].join(','));
    const { columns } = await read([[HEADER, ...names].join(','), ...rows].join('\n'));
    expect(columns.series.size).toBe(5000);
    expect(columns.series.get('f4999x')![3]).toBe(4999);
  });

  it('raises a high that rounding left inside the body to the body, and says so', async () => {
    const { columns, report } = await read(`${HEADER}\n${T0},1,1.2999999999999998,1,1.3,1\n${T0 + 60_000},1,2,1,1,1`);
    expect(columns.high[0]).toBe(1.3);
    expect(report.notes[0]).toContain('1 bar has its high or low inside the body by rounding');
  });
});

describe('every format', () => {
  it('gives the same snapshot, byte for byte', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candlepool-formats-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const text = csv('timestamp,open,high,low,close,volume', (ms) => ms);
    const rows = TIMES.map((ms, row) => [ms, ...OHLCV[row]]);
    const keys = ['time', 'open', 'high', 'low', 'close', 'volume'];
    const objects = rows.map((row) => Object.fromEntries(row.map((cell, at) => [keys[at], cell])));
    const arrays = Object.fromEntries(keys.map((key, at) => [key, Float64Array.from(rows, (row) => row[at])]));
    const table = tableFromArrays({ ...arrays, time: BigInt64Array.from(TIMES, BigInt) });
    const files: Record<string, string | Uint8Array> = {
      'X-1h.csv': text,
      'X-1h.csv.gz': gzipSync(text),
      'misnamed.parquet': gzipSync(text),
      'ccxt.json': JSON.stringify(rows),
      'ccxt.json.gz': gzipSync(JSON.stringify(rows)),
      'objects.json': JSON.stringify(objects),
      'rows.jsonl': rows.map((row) => JSON.stringify(row)).join('\n'),
      'objects.jsonl': `${objects.map((bar) => JSON.stringify(bar)).join('\r\n')}\r\n`,
      'split.json': JSON.stringify({
        columns: keys.toReversed(),
        index: [0, 1, 2, 3],
        data: rows.map((row) => row.toReversed()),
      }),
      'X.csv.zst': zstdCompressSync(text),
      'X.zip': zipOf({ 'X-1h.csv': text }),
      'columns.json': JSON.stringify(
        Object.fromEntries(
          keys.slice(1).map((key, at) => [key, Object.fromEntries(rows.map((row) => [row[0], row[at + 1]]))]),
        ),
      ),
      'index.json': JSON.stringify(
        Object.fromEntries(objects.map(({ time, ...bar }) => [new Date(time).toISOString(), bar])),
      ),
      'table.json': JSON.stringify({ schema: { fields: keys.map((name) => ({ name })) }, data: objects }),
      'lists.json': JSON.stringify(Object.fromEntries(keys.map((key, at) => [key, rows.map((row) => row[at])]))),
      'X.arrow': tableToIPC(table, 'file'),
      'X.arrows': tableToIPC(table, 'stream'),
    };
    const hashes = new Set<string>();
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content);
      const snapshot = await readBarsFile(join(folder, name), { symbol: 'X' });
      expectTheBars({ columns: openSnapshot(snapshot) });
      hashes.add(snapshot.meta.sha256);
    }
    expect(hashes.size).toBe(1);
  });

  const written = readdirSync(FIXTURES).filter((name) => !name.endsWith('.py'));
  it.each(written)('is read as pyarrow writes it: %s', async (name) => {
    const { snapshot, report } = await readBarsFileWithReport(join(FIXTURES, name), { symbol: 'X' });
    const bars = openSnapshot(snapshot);
    expectTheBars({ columns: bars });
    expect([...bars.series]).toEqual([['prediction', Float64Array.of(NaN, 0.5, -0.5, 0.25)]]);
    expect(report).toMatchObject({ timeframe: '1h', gaps: 1, missingBars: 1, ignored: ['note'] });
  });

  it('may have null volumes, as ccxt writes them', async () => {
    const { columns } = await read(JSON.stringify(TIMES.map((ms, row) => [ms, ...OHLCV[row].slice(0, 4), null])));
    expect([...columns.volume]).toEqual([0, 0, 0, 0]);
  });
});

describe('a bars file', () => {
  it('takes symbol and timeframe from its name if nothing else states them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candlepool-names-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const one = `${HEADER}\n${T0},1,1,1,1,1\n`;
    const names: readonly (readonly [string, string, string])[] = [
      ['BTCUSDT-4h.csv', 'BTCUSDT', '4h'],
      ['BTCUSDT-1m-2024-01.csv', 'BTCUSDT', '1m'],
      ['SYN-BTC-15m.csv.gz', 'SYN-BTC', '15m'],
      ['ETH_1D.csv', 'ETH', '1d'],
    ];
    for (const [name, symbol, timeframe] of names) {
      writeFileSync(join(folder, name), one);
      const { meta } = await readBarsFile(join(folder, name));
      expect(meta).toMatchObject({ symbol, timeframe });
      expect(meta.instrument).toMatchObject({ tradesAllDay: true, qtyStep: 1e-8, tickSize: null, minNotional: 0 });
    }
    const { meta } = await readBarsFile(join(folder, 'BTCUSDT-4h.csv'), {
      instrument: { qtyStep: 1, tradesAllDay: false },
    });
    expect(meta.instrument).toMatchObject({ base: 'BTC', quote: 'USDT', qtyStep: 1, tradesAllDay: false });
  });

  it('is named on the command line alone or with its series', () => {
    expect(parseBarsArgument('a/b-1h.csv')).toEqual({ path: 'a/b-1h.csv' });
    expect(parseBarsArgument('BTCUSDT:1m=x.csv')).toEqual({ symbol: 'BTCUSDT', timeframe: '1m', path: 'x.csv' });
    expect(parseBarsArgument('./a=b.csv')).toEqual({ path: './a=b.csv' });
    expect(() => parseBarsArgument('BTCUSDT:45m=x.csv')).toThrow('"45m" is not a stored timeframe');
  });

  it('has one hash for the same content, whatever reads it', async () => {
    const path = join(FIXTURES, 'lz4.feather');
    const [first, second] = await Promise.all([
      readBarsFile(path, { symbol: 'X' }),
      readBarsFile(path, { symbol: 'X' }),
    ]);
    expect(first.meta).toEqual(second.meta);
    expect(readFileSync(path).length).toBeGreaterThan(0);
  });
});
