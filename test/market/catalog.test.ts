import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMarket } from '../../src/engine/bars/market.ts';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import type { Timeframe } from '../../src/engine/bars/bars.ts';
import { readBars } from '../../src/market/import/barsTable.ts';
import type { BarsTable } from '../../src/market/import/importReport.ts';
import { openCatalog } from '../../src/market/catalog.ts';
import type { StoredCatalog } from '../../src/market/catalog.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { importShipped, openShippedData, readShippedSeries } from '../../src/market/shipped.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';
import { synthesizeBars } from '../../src/market/synth.ts';
import { randomColumns } from '../support/bars.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let folder: string;
let catalog: StoredCatalog;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.sql`truncate series, snapshots, workspace_series, workspace_snapshots`;
  folder = await mkdtemp(join(tmpdir(), 'candlepool-catalog-'));
  catalog = openCatalog(database.sql, folder);
  return () => rm(folder, { recursive: true });
});

/** Random bars by way of the import, as a file would give them. */
async function barsOf(timeframe: Timeframe, count: number, seed = 1): Promise<BarsTable> {
  const { time, open, high, low, close, volume } = randomColumns({ timeframe, count, seed });
  const rows = Array.from(time, (at, row) => [at, open[row], high[row], low[row], close[row], volume[row]]);
  return readBars(await readSource(Buffer.from(JSON.stringify(rows))), { timeframe });
}
/** Adds a series, or puts it in place of the one there is. */
async function add(symbol: string, timeframe: Timeframe, count: number, seed = 1): Promise<string> {
  const current = (await catalog.list()).find((entry) => entry.symbol === symbol && entry.timeframe === timeframe);
  const bars = await barsOf(timeframe, count, seed);
  return (await catalog.add(symbol, bars, makeInstrument(symbol), current)).sha256;
}

describe('the catalog', () => {
  it('lists what was imported, by symbol and finest timeframe first', async () => {
    await add('BBB', '1h', 24);
    await add('AAA', '1d', 10);
    await add('AAA', '5m', 100);
    await add('SYN-X', '1h', 3);
    const list = await catalog.list();
    expect(list.map((entry) => `${entry.symbol} ${entry.timeframe} ${entry.bars}`)).toEqual([
      'AAA 5m 100',
      'AAA 1d 10',
      'BBB 1h 24',
      'SYN-X 1h 3',
    ]);
    expect(list.map((entry) => entry.synthetic)).toEqual([false, false, false, true]);
    expect(list[2]).toMatchObject({ start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 0, 2), gaps: 0, missingBars: 0 });
    expect((await catalog.instruments()).map((instrument) => instrument.symbol)).toEqual(['AAA', 'BBB', 'SYN-X']);
  });

  it('returns exactly the bars that were imported', async () => {
    const bars = await barsOf('1h', 50);
    await catalog.add('AAA', bars, { ...makeInstrument('AAA'), qtyStep: 3 });
    const [snapshot] = await catalog.snapshots('AAA', '1h');
    const market = createMarket([snapshot], 'AAA', '1h');
    expect([...market.base.close]).toEqual([...bars.columns.close]);
    expect(market.instrument.qtyStep).toBe(3);
  });

  it('moves the pointer with an import and keeps the old snapshot for those who pinned it', async () => {
    const old = await add('AAA', '1h', 10);
    const now = await add('AAA', '1h', 20, 2);
    expect(now).not.toBe(old);
    expect((await catalog.find('AAA', '1h'))?.sha256).toBe(now);
    const [pinned] = await catalog.open([old]);
    expect(openSnapshot(pinned).length).toBe(10);
    const [{ count }] = await database.sql`select count(*)::int as count from snapshots`;
    expect(count).toBe(2);
  });

  it('does not create a snapshot for equal data', async () => {
    const first = await add('AAA', '1h', 10);
    expect(await add('AAA', '1h', 10)).toBe(first);
    const [{ count }] = await database.sql`select count(*)::int as count from snapshots`;
    expect(count).toBe(1);
  });

  it('can return to data it had before', async () => {
    const first = await add('AAA', '1h', 10);
    await add('AAA', '1h', 20);
    await add('AAA', '1h', 10);
    expect((await catalog.find('AAA', '1h'))?.sha256).toBe(first);
  });

  it('gives a run every series of the symbol, and names them without opening them', async () => {
    const names: string[] = [];
    for (const [timeframe, count] of [
      ['1m', 2880],
      ['5m', 50],
      ['1h', 48],
      ['1d', 2],
    ] as const) {
      names.push(await add('AAA', timeframe, count));
    }
    const timeframes = (await catalog.snapshots('AAA', '1h')).map((snapshot) => snapshot.meta.timeframe);
    expect(timeframes).toEqual(['1m', '5m', '1h', '1d']);
    expect((await catalog.readable('AAA', '4h')).map((entry) => entry.sha256)).toEqual(names);
    expect((await catalog.find('AAA', '15m'))?.timeframe).toBe('1m');
  });

  it('resamples from the finest series that covers the coarser ones', async () => {
    await add('AAA', '1h', 48);
    expect((await catalog.find('AAA', '4h'))?.timeframe).toBe('1h');
    await add('AAA', '1m', 100);
    expect((await catalog.find('AAA', '4h'))?.timeframe).toBe('1h');
    await add('AAA', '1m', 2880);
    expect((await catalog.find('AAA', '4h'))?.timeframe).toBe('1m');
  });

  it('returns nothing for what it cannot serve', async () => {
    await add('AAA', '1h', 10);
    expect(await catalog.find('AAA', '15m')).toBeUndefined();
    expect(await catalog.snapshots('AAA', '15m')).toEqual([]);
    expect(await catalog.snapshots('BBB', '1h')).toEqual([]);
  });

  it('sees an import of another process within a second, and queries Postgres no more often', async () => {
    let now = 0;
    const other = openCatalog(database.sql, folder, { now: () => now });
    expect(await other.list()).toEqual([]);
    await add('AAA', '1h', 10);
    expect(await other.list()).toEqual([]);
    now = 1000;
    expect((await other.list()).map((entry) => entry.symbol)).toEqual(['AAA']);
  });

  it('names a missing snapshot and where it should be', async () => {
    const sha256 = await add('AAA', '1h', 10);
    await rm(join(folder, 'snapshots', `${sha256}.arrow`));
    await expect(catalog.open([sha256])).rejects.toThrow(`The snapshot ${sha256} is not in DATA_DIR`);
  });

  it('never opens a damaged file', async () => {
    const sha256 = await add('AAA', '1h', 10);
    await writeFile(join(folder, 'snapshots', `${sha256}.arrow`), 'something else');
    await expect(catalog.open([sha256])).rejects.toThrow('its content does not hash to its name');
  });
});

describe('the shipped data', () => {
  it('is imported once, and does not replace what an operator imported under the same name', async () => {
    const own = await add('SPX', '1d', 10);
    const added = await importShipped(catalog);
    expect(added.map((entry) => entry.symbol)).toEqual(['AAPL', 'EURUSD', 'GOOG', 'IBM', 'MSFT', 'NASDAQ']);
    expect((await catalog.find('SPX', '1d'))?.sha256).toBe(own);
    expect(await importShipped(catalog)).toEqual([]);
  });

  it('is the same without a database, snapshot for snapshot', async () => {
    await importShipped(catalog);
    const withDatabase = (await catalog.list()).map((entry) => `${entry.symbol} ${entry.timeframe} ${entry.sha256}`);
    const files = await openShippedData();
    const read = (await files.list()).filter((entry) => !entry.synthetic);
    expect(read.map((entry) => `${entry.symbol} ${entry.timeframe} ${entry.sha256}`)).toEqual(withDatabase);
    expect((await readShippedSeries()).length).toBe(withDatabase.length);
    const [snapshot] = await files.snapshots('EURUSD', '4h');
    expect(createMarket([snapshot], 'EURUSD', '4h').base.isResampled).toBe(true);
    expect(await files.open([snapshot.meta.sha256])).toEqual([snapshot]);
    expect((await files.readable('EURUSD', '4h')).map((entry) => entry.timeframe)).toEqual(['1h']);
  });
});

it('marks synthetic bars as synthetic in the catalog', async () => {
  const entry = await catalog.add(
    'SYN-BTC',
    synthesizeBars({ symbol: 'SYN-BTC', days: 2, seed: 1 }),
    makeInstrument('SYN-BTC'),
  );
  expect(entry).toMatchObject({ timeframe: '1m', synthetic: true });
  const market = createMarket(await catalog.snapshots('SYN-BTC', '1h'), 'SYN-BTC', '1h');
  expect(market.fine?.timeframe).toBe('1m');
  expect(market.instrument.synthetic).toBe(true);
});
