import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import type { Timeframe } from '../../src/engine/bars/bars.ts';
import { TIMEFRAME_MS } from '../../src/engine/bars/bars.ts';
import { readBars } from '../../src/market/import/barsTable.ts';
import { openCatalog } from '../../src/market/catalog.ts';
import type { StoredCatalog } from '../../src/market/catalog.ts';
import { exportChunks } from '../../src/market/exportBars.ts';
import type { ExportFormat } from '../../src/market/exportBars.ts';
import { MarketDataError } from '../../src/market/import/importError.ts';
import type { BarsTable } from '../../src/market/import/importReport.ts';
import { importSeries } from '../../src/market/import/importSeries.ts';
import type { ImportRequest, ImportedSeries } from '../../src/market/import/importSeries.ts';
import { importShipped } from '../../src/market/shipped.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';
import { counted } from '../../src/market/formatting.ts';
import { randomColumns } from '../support/bars.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

const START = Date.UTC(2024, 0, 1);

let database: TestDatabase;
let folder: string;
let catalog: StoredCatalog;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.sql`truncate series, snapshots, workspace_series, workspace_snapshots`;
  folder = await mkdtemp(join(tmpdir(), 'candlepool-import-'));
  catalog = openCatalog(database.sql, folder);
  return () => rm(folder, { recursive: true });
});

/** One walk of hours, of which every file is a part. */
const HOURS = randomColumns({ count: 300 });

/** A file of the hours from `first` to before `end`, with some closes and an extra column changed. */
function hours(
  first: number,
  end: number,
  change: { volume?: Record<number, number>; signal?: number } = {},
): Promise<BarsTable> {
  const header = `time,open,high,low,close,volume${change.signal === undefined ? '' : ',signal'}`;
  const lines = Array.from({ length: end - first }, (_, at) => {
    const row = first + at;
    const volume = change.volume?.[row] ?? HOURS.volume[row];
    const cells = [HOURS.time[row], HOURS.open[row], HOURS.high[row], HOURS.low[row], HOURS.close[row], volume];
    return [...cells, ...(change.signal === undefined ? [] : [change.signal])].join(',');
  });
  return table([header, ...lines].join('\n'), '1h');
}
const table = async (text: string | Uint8Array, timeframe?: Timeframe): Promise<BarsTable> =>
  readBars(await readSource(typeof text === 'string' ? Buffer.from(text) : text), { timeframe });

const run = async (
  bars: BarsTable | Promise<BarsTable>,
  onExisting: ImportRequest['onExisting'] = 'refuse',
  given: ImportRequest['given'] = {},
): Promise<ImportedSeries> => importSeries(catalog, { symbol: 'AAA', bars: await bars, given, onExisting });

async function refusalOf(imported: Promise<unknown>): Promise<MarketDataError> {
  const error: unknown = await imported.catch((thrown: unknown) => thrown);
  if (error instanceof MarketDataError) return error;
  throw new Error(`expected a refusal, got ${String(error)}`);
}
async function storedCloses(sha256?: string): Promise<number[]> {
  const name = sha256 ?? (await catalog.find('AAA', '1h'))!.sha256;
  const [snapshot] = await catalog.open([name]);
  return [...openSnapshot(snapshot).close];
}
const closes = (first: number, end: number): number[] => [...HOURS.close.subarray(first, end)];

describe('a second import', () => {
  it('is rejected, naming both ranges, and changes nothing', async () => {
    await run(hours(0, 100));
    const { code, message } = await refusalOf(run(hours(50, 60)));
    expect(code).toBe('SERIES_EXISTS');
    expect(message).toContain('AAA 1h is already stored: 100 bars, 2024-01-01 to 2024-01-05T04:00Z.');
    expect(message).toContain('The new series has 10 bars, 2024-01-03T02:00Z to 2024-01-03T12:00Z.');
    expect(message).toContain('--append');
    expect(await storedCloses()).toEqual(closes(0, 100));
  });

  it('replaces the first on request, whose snapshot stays readable', async () => {
    const first = await run(hours(0, 100));
    await run(hours(50, 60), 'replace');
    expect(await storedCloses()).toEqual(closes(50, 60));
    expect(await storedCloses(first.entry.sha256)).toEqual(closes(0, 100));
  });

  it.each([
    ['after', 100, 150],
    ['before', 0, 50],
    ['around', 0, 200],
    ['inside', 60, 70],
    ['far after', 250, 300],
  ])('is appended %s the first', async (_, first, end) => {
    await run(hours(50, 100));
    const { report, entry } = await run(hours(first, end), 'append');
    const rows = Array.from({ length: 300 }, (__, row) => row).filter(
      (row) => (row >= 50 && row < 100) || (row >= first && row < end),
    );
    expect(await storedCloses()).toEqual(rows.map((row) => HOURS.close[row]));
    expect(entry).toMatchObject({ bars: rows.length, start: START + rows[0] * 3_600_000 });
    const common = end - first + 50 - rows.length;
    expect(report.notes).toEqual([
      `Added ${counted(rows.length - 50, 'bar')} to the 50 stored ones; bars in both: ${common}, in agreement.`,
    ]);
  });

  it('is not appended if it disagrees, and the message names time and values', async () => {
    await run(hours(0, 100));
    const { code, message, total } = await refusalOf(run(hours(90, 120, { volume: { 95: 7, 96: 8 } }), 'append'));
    expect(code).toBe('OVERLAP_DISAGREES');
    expect(total).toBe(2);
    expect(message).toContain(`2024-01-04T23:00Z: volume is 7 in the file and ${HOURS.volume[95]} in the stored bars`);
    expect(await storedCloses()).toEqual(closes(0, 100));
  });

  it('is not appended if it is off the grid of the first', async () => {
    await run(hours(0, 10));
    const late = await table(`time,open,high,low,close\n${START + 1_800_000},1,1,1,1\n${START + 5_400_000},1,1,1,1`);
    const { code, message } = await refusalOf(run(late, 'append'));
    expect(code).toBe('STEP_NOT_MULTIPLE');
    expect(message).toContain('not a whole number of 1h bars apart');
  });

  it('keeps the extra columns of both when appended', async () => {
    await run(hours(0, 3, { signal: 1 }));
    await run(hours(2, 5), 'append');
    const [snapshot] = await catalog.open([(await catalog.find('AAA', '1h'))!.sha256]);
    expect([...openSnapshot(snapshot).series.get('signal')!]).toEqual([1, 1, 1, NaN, NaN]);
    const { message } = await refusalOf(run(hours(0, 1, { signal: 2 }), 'append'));
    expect(message).toContain('signal is 2 in the file and 1 in the stored bars');
  });

  it('needs no flag for another timeframe, nor, with --append, an existing series', async () => {
    await run(hours(0, 100), 'append');
    expect(await storedCloses()).toEqual(closes(0, 100));
    await run(table(`time,open,high,low,close\n${START},1,1,1,1\n${START + TIMEFRAME_MS['1d']},1,1,1,1`));
    expect((await catalog.list()).map(({ timeframe }) => timeframe)).toEqual(['1h', '1d']);
  });

  it('is rejected if another import came first', async () => {
    const { entry } = await run(hours(0, 10));
    await run(hours(0, 20), 'replace');
    const bars = await hours(0, 30);
    const { code } = await refusalOf(catalog.add('AAA', bars, entry.instrument, entry));
    expect(code).toBe('SERIES_CHANGED');
    expect(await storedCloses()).toEqual(closes(0, 20));
  });

  it('infers the calendar again from the whole series', async () => {
    const day = (at: number): string => `${START + at * TIMEFRAME_MS['1d']},1,1,1,1`;
    const header = 'time,open,high,low,close';
    const days = (...at: number[]): Promise<BarsTable> => table([header, ...at.map(day)].join('\n'), '1d');
    expect((await run(days(0, 1, 2, 3, 4))).entry.instrument).toMatchObject({
      tradesAllDay: true,
      calendarBasis: 'assumed',
    });
    const { entry } = await run(days(4, 7, 8), 'append');
    expect(entry.instrument).toMatchObject({ tradesAllDay: false, calendarBasis: 'closed_days' });
    const stated = await run(days(9), 'append', { periodsPerYear: 365 });
    expect(stated.entry.instrument).toMatchObject({ tradesAllDay: true, calendarBasis: 'given' });
  });
});

describe('an import of finer bars', () => {
  const minutes = (first: number, end: number): Promise<BarsTable> => {
    const time = (row: number): number => START + row * 900_000;
    const { open, high, low, close } = HOURS;
    const prices = (row: number): string => [open, high, low, close].map((values) => values[row]).join(',');
    const lines = Array.from(
      { length: end - first },
      (_, at) => `${time(first + at)},${prices(Math.floor((first + at) / 4))}`,
    );
    return table(['time,open,high,low,close', ...lines].join('\n'), '15m');
  };

  it('says that it covers only part', async () => {
    await run(hours(0, 100));
    const { report } = await run(minutes(40, 80));
    expect(report.notes).toContainEqual(
      'The 15m bars (2024-01-01T10:00Z to 2024-01-01T20:00Z) cover only a part of the 1h bars (2024-01-01 to ' +
        '2024-01-05T04:00Z): runs on 1h use them to look inside bars, and resample no other timeframe from them.',
    );
    expect((await catalog.find('AAA', '4h'))?.timeframe).toBe('1h');
  });

  it('says nothing if it covers the whole, and neither does the coarser one', async () => {
    await run(minutes(0, 400));
    const { report } = await run(hours(0, 100));
    expect(report.notes).toEqual([]);
    expect((await catalog.find('AAA', '4h'))?.timeframe).toBe('15m');
  });
});

describe('an import of finer or coarser bars that contradict each other', () => {
  /** The days of HOURS, from the `first` to before the `end`. */
  function days(first: number, end: number): Promise<BarsTable> {
    const lines = Array.from({ length: end - first }, (_, at) => {
      const rows = (values: Float64Array): Float64Array => values.subarray(24 * (first + at), 24 * (first + at + 1));
      const { time, open, high, low, close } = HOURS;
      const prices = [rows(open)[0], Math.max(...rows(high)), Math.min(...rows(low)), rows(close)[23]];
      return [rows(time)[0], ...prices].join(',');
    });
    return table(['time,open,high,low,close', ...lines].join('\n'), '1d');
  }
  /** Hours whose prices are multiplied on the first `wrong` days. */
  function wrongHours(wrong: number, factor: number): Promise<BarsTable> {
    const lines = Array.from({ length: 240 }, (_, row) => {
      const { open, high, low, close } = HOURS;
      const prices = [open, high, low, close].map((values) => values[row] * (row < 24 * wrong ? factor : 1));
      return [HOURS.time[row], ...prices].join(',');
    });
    return table(['time,open,high,low,close', ...lines].join('\n'), '1h');
  }
  const told = ({ report }: ImportedSeries): string | undefined =>
    report.notes.find((note) => note.includes('contradict'));

  it.each(['finer', 'coarser'])(
    'says so when the %s ones come second: the first, the cause, and what runs do',
    async (second) => {
      const [first, last] =
        second === 'finer' ? [days(0, 10), wrongHours(10, 1.3)] : [wrongHours(10, 1.3), days(0, 10)];
      expect(told(await run(first))).toBeUndefined();
      const note = told(await run(last))!;
      expect(note).toContain(
        'The 1h bars contradict 10 of the 10 1d bars that they lie in. The first opens at 2024-01-01T00:00Z: its ' +
          'high is ',
      );
      expect(note).toContain(
        'adjusted prices beside raw ones, 1h to 1d ratio 1.30. Runs on 1d neither drill into the 1h bars nor ' +
          'resample from them.',
      );
    },
  );

  it('says which bars of a series that is good otherwise are not drilled into', async () => {
    await run(days(0, 10));
    const note = told(await run(wrongHours(2, 0.9)))!;
    expect(note).toContain('The 1h bars contradict 2 of the 10 1d bars');
    expect(note).toContain('Runs on 1d do not drill into the contradicted ones.');
  });

  it('says nothing when they agree', async () => {
    await run(days(0, 10));
    expect(told(await run(hours(0, 240)))).toBeUndefined();
  });
});

describe('a removed series', () => {
  it('leaves the list, and can still be opened by what pinned it', async () => {
    const { entry } = await run(hours(0, 10));
    expect(await catalog.remove('AAA', '1h')).toBe(true);
    expect(await catalog.list()).toEqual([]);
    expect(await catalog.find('AAA', '1h')).toBeUndefined();
    expect(await storedCloses(entry.sha256)).toEqual(closes(0, 10));
    expect(await catalog.remove('AAA', '1h')).toBe(false);
    await run(hours(0, 20));
    expect(await storedCloses()).toEqual(closes(0, 20));
  });

  it('does not return with the shipped ones', async () => {
    await importShipped(catalog);
    await catalog.remove('SPX', '1d');
    expect(await importShipped(catalog)).toEqual([]);
    expect((await catalog.list()).some(({ symbol }) => symbol === 'SPX')).toBe(false);
  });
});

describe('an exported series', () => {
  it.each(['csv', 'json', 'arrow'] as const)(
    'can be imported again bar for bar from %s',
    async (format: ExportFormat) => {
      const { entry } = await run(hours(0, 300, { signal: 0.5 }));
      const [snapshot] = await catalog.open([entry.sha256]);
      const file = Buffer.concat([...exportChunks(snapshot, format)].map((chunk) => Buffer.from(chunk)));
      const again = await run(table(file), 'replace');
      expect(again.entry.sha256).toBe(entry.sha256);
      expect(again.report.series).toEqual(['signal']);
    },
  );

  it('has gaps where the extra column has them', async () => {
    await run(hours(0, 1, { signal: 1 }));
    const { entry } = await run(hours(1, 2), 'append');
    const [snapshot] = await catalog.open([entry.sha256]);
    const [header, rows] = [...exportChunks(snapshot, 'csv')].map(String);
    expect(header).toBe('time,open,high,low,close,volume,signal\n');
    expect(rows.split('\n').map((row) => row.split(',').at(-1))).toEqual(['1', '', '']);
  });
});
