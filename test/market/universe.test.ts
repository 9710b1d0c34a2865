// The synthetic universe: the same bytes on every host, prices that behave like those of a market, and the ways in
// which catalogs offer it.
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import type { Bars } from '../../src/engine/bars/bars.ts';
import { findOutliers } from '../../src/engine/bars/outliers.ts';
import { inferCalendar } from '../../src/market/calendar.ts';
import { openCatalog } from '../../src/market/catalog.ts';
import type { StoredCatalog } from '../../src/market/catalog.ts';
import { importSeries } from '../../src/market/import/importSeries.ts';
import { openShippedData } from '../../src/market/shipped.ts';
import { MEMBERS } from '../../src/market/universe/members.ts';
import { offerUniverse } from '../../src/market/universe/offerUniverse.ts';
import {
  describeUniverseEntry,
  listUniverse,
  universeBars,
  universeSnapshot,
} from '../../src/market/universe/universe.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

const FILE = join(ROOT, 'data', 'universe.json');
const barsOf = (symbol: string): Bars => openSnapshot(universeSnapshot(symbol));
const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

describe('the synthetic universe', () => {
  it('gives the bytes that data/universe.json names, on every host', () => {
    const made = MEMBERS.map(({ symbol }) => {
      const { bars, start, end, gaps, missingBars } = universeBars(symbol).report;
      const { sha256 } = universeSnapshot(symbol).meta;
      return { symbol, bars, start, end, gaps, missingBars, sha256 };
    });
    const text = `[\n${made.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`;
    if (process.env.UPDATE_DOCS) writeFileSync(FILE, text);
    expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(made);
  });

  it('has at least forty instruments with eleven common years, all of which say that they are synthetic', () => {
    const common = listUniverse().filter(({ start, end }) => start < Date.UTC(2012, 1) && end > Date.UTC(2023, 11, 29));
    expect(common.length).toBeGreaterThanOrEqual(37);
    expect(listUniverse().length).toBeGreaterThanOrEqual(40);
    for (const { symbol, synthetic, instrument } of listUniverse()) {
      expect(symbol).toMatch(/^SYN-/);
      expect([synthetic, instrument.synthetic, instrument.quote]).toEqual([true, true, 'USD']);
    }
    for (const { symbol, description } of MEMBERS) expect(description, symbol).toMatch(/^Synthetic .*\.$/);
  });

  it('begins late, ends early and has a gap where its descriptions say so', () => {
    const special = MEMBERS.filter(({ description }) => /\d{4}/.test(description));
    expect(special.length).toBe(10);
    for (const { symbol, description } of special) {
      const { time } = barsOf(symbol);
      const [date, until] = [...description.matchAll(/\d{4}-\d\d-\d\d/g)].map(([text]) => text);
      if (description.includes('begins')) expect(day(time[0]), symbol).toBe(date);
      else if (description.includes('ends')) expect(day(time.at(-1)!), symbol).toBe(date);
      else expect([...time].some((at) => at >= Date.parse(date) && at <= Date.parse(until))).toBe(false);
    }
  });

  it('has sound bars without outliers, on a calendar that its bars show', () => {
    for (const { symbol, instrument } of listUniverse()) {
      const { time, open, high, low, close, volume, length } = barsOf(symbol);
      for (let row = 0; row < length; row++) {
        const isSound =
          low[row] > 0 &&
          low[row] <= Math.min(open[row], close[row]) &&
          high[row] >= Math.max(open[row], close[row]) &&
          volume[row] > 0;
        if (!isSound) throw new Error(`${symbol} on ${day(time[row])}`);
      }
      const { columns } = universeBars(symbol);
      expect(findOutliers(columns), symbol).toEqual([]);
      const { tradesAllDay, basis, daysPerYear } = inferCalendar(time, '1d');
      expect({ tradesAllDay, calendarBasis: basis }).toEqual({
        tradesAllDay: instrument.tradesAllDay,
        calendarBasis: instrument.calendarBasis,
      });
      expect(daysPerYear).toBe(tradesAllDay ? 365 : 252);
    }
  });
});

/** Returns of the days on which both have a bar and had one at their bar before. */
function returnsOf(symbol: string): Map<number, number> {
  const { time, close } = barsOf(symbol);
  return new Map([...time].slice(1).map((at, row) => [at, close[row + 1] / close[row] - 1]));
}

function correlation(first: string, second: string): number {
  const [a, b] = [returnsOf(first), returnsOf(second)];
  const pairs = [...a].flatMap(([at, value]) => (b.has(at) ? [[value, b.get(at)!]] : []));
  const mean = (place: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[place], 0) / pairs.length;
  const [meanA, meanB] = [mean(0), mean(1)];
  const sum = (of: (pair: number[]) => number): number => pairs.reduce((total, pair) => total + of(pair), 0);
  const covariance = sum(([x, y]) => (x - meanA) * (y - meanB));
  return covariance / Math.sqrt(sum(([x]) => (x - meanA) ** 2) * sum(([, y]) => (y - meanB) ** 2));
}

describe('its prices', () => {
  it('are correlated by the market, more within a sector, and not with gold', () => {
    const within = correlation('SYN-TECH-01', 'SYN-TECH-02');
    const across = correlation('SYN-TECH-01', 'SYN-HEALTH-02');
    expect(across).toBeGreaterThan(0.2);
    expect(within).toBeGreaterThan(across + 0.1);
    expect(Math.abs(correlation('SYN-MARKET-FUND', 'SYN-GOLD-FUND'))).toBeLessThan(0.1);
    expect(correlation('SYN-COIN-01', 'SYN-COIN-02')).toBeGreaterThan(0.5);
  });

  it('differ in volatility as bonds, funds, companies and coins do', () => {
    const deviation = (symbol: string): number => {
      const values = [...returnsOf(symbol).values()];
      return Math.sqrt((values.reduce((sum, value) => sum + value * value, 0) / values.length) * 252);
    };
    const ranked = ['SYN-BOND-FUND', 'SYN-MARKET-FUND', 'SYN-TECH-01', 'SYN-TECH-03', 'SYN-COIN-01'].map(deviation);
    expect(ranked).toEqual(ranked.toSorted((a, b) => a - b));
    expect(ranked[0]).toBeLessThan(0.08);
    expect(ranked[4]).toBeGreaterThan(0.4);
  });

  it('of a pair return to their usual ratio', () => {
    const [a, b] = [barsOf('SYN-CONSUMER-01'), barsOf('SYN-CONSUMER-02')];
    const ratios = [...a.close].map((close, row) => b.close[row] / close);
    const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
    expect(Math.max(...ratios) / mean).toBeLessThan(1.25);
    expect(Math.min(...ratios) / mean).toBeGreaterThan(0.8);
    const sides = ratios.map((ratio) => ratio > mean);
    expect(sides.filter((side, row) => row > 0 && side !== sides[row - 1]).length).toBeGreaterThan(50);
  });

  it('of coins move on weekends as well', () => {
    const weekends = [...barsOf('SYN-COIN-01').time].filter((at) => [0, 6].includes(new Date(at).getUTCDay()));
    expect(weekends.length).toBeGreaterThan(1000);
    expect(barsOf('SYN-COIN-01').time[1] - barsOf('SYN-COIN-01').time[0]).toBe(DAY_MS);
  });
});

describe('the universe in a catalog over Postgres', () => {
  let database: TestDatabase;
  let folder: string;
  let stored: StoredCatalog;
  let catalog: StoredCatalog;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    await database.sql`truncate series, snapshots, workspace_series, workspace_snapshots`;
    folder = await mkdtemp(join(tmpdir(), 'candlepool-universe-'));
    stored = openCatalog(database.sql, folder);
    catalog = offerUniverse(stored);
    return () => rm(folder, { recursive: true });
  });
  const storedSymbols = async (): Promise<string[]> => (await stored.list()).map(({ symbol }) => symbol);

  it('is listed from the start, and stored series by series when it is read', async () => {
    expect(await catalog.list()).toEqual(listUniverse());
    expect(await catalog.find('SYN-TECH-01', '1d')).toEqual(listUniverse().find((one) => one.symbol === 'SYN-TECH-01'));
    expect(await storedSymbols()).toEqual([]);
    const [read] = await catalog.readable('SYN-TECH-01', '1d');
    expect(read).toMatchObject({ symbol: 'SYN-TECH-01', sha256: universeSnapshot('SYN-TECH-01').meta.sha256 });
    const [opened] = await catalog.open([universeSnapshot('SYN-COIN-01').meta.sha256]);
    expect(opened.meta).toEqual(universeSnapshot('SYN-COIN-01').meta);
    expect(await storedSymbols()).toEqual(['SYN-COIN-01', 'SYN-TECH-01']);
    const listed = (await catalog.list()).map(({ symbol, sha256 }) => [symbol, sha256]);
    expect(listed).toEqual(listUniverse().map(({ symbol, sha256 }) => [symbol, sha256]));
  });

  it('is stored once by processes that read it at the same time', async () => {
    const other = offerUniverse(openCatalog(database.sql, folder));
    await Promise.all([catalog, other, catalog].map((each) => each.readable('SYN-TECH-02', '1d')));
    expect(await storedSymbols()).toEqual(['SYN-TECH-02']);
  });

  it('loses the series that an operator removes, and gives way to bars of the same symbol', async () => {
    expect(await catalog.remove('SYN-TECH-01', '1d')).toBe(true);
    expect((await catalog.list()).map(({ symbol }) => symbol)).not.toContain('SYN-TECH-01');
    expect(await catalog.readable('SYN-TECH-01', '1d')).toEqual([]);
    const bars = universeBars('SYN-GOLD-FUND');
    const request = { symbol: 'SYN-BOND-FUND', bars, given: {} } as const;
    await expect(importSeries(catalog, { ...request, onExisting: 'refuse' })).rejects.toThrow('is already stored');
    const { entry } = await importSeries(catalog, { ...request, onExisting: 'replace' });
    const [listed] = (await catalog.list()).filter(({ symbol }) => symbol === 'SYN-BOND-FUND');
    expect(listed.sha256).toBe(entry.sha256);
    expect([describeUniverseEntry(listed), describeUniverseEntry(listUniverse()[0])]).toEqual([
      null,
      'Synthetic fund that behaves like one of government bonds.',
    ]);
  });
});

it('is part of the shipped data without a database, beside the files', async () => {
  const shipped = await openShippedData();
  const entries = await shipped.list();
  expect(entries.filter(({ synthetic }) => synthetic)).toEqual(listUniverse());
  expect(entries.filter(({ synthetic }) => !synthetic).map(({ symbol }) => symbol)).toContain('SPX');
  const [snapshot] = await shipped.snapshots('SYN-COIN-05', '1d');
  expect(await shipped.open([snapshot.meta.sha256])).toEqual([snapshot]);
});
