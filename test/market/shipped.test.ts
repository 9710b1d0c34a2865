import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import { SHIPPED_FOLDER, openShippedData, readShippedSeries } from '../../src/market/shipped.ts';

describe('the folder data/', () => {
  it('holds the series that data/series.json and data/README.md name, hash for hash', async () => {
    const series = await readShippedSeries();
    const readme = await readFile(join(SHIPPED_FOLDER, 'README.md'), 'utf8');
    for (const { file, sha256, csvSha256, source, bars } of series) {
      const content = await readFile(join(SHIPPED_FOLDER, file));
      expect(createHash('sha256').update(content).digest('hex'), file).toBe(sha256);
      expect(createHash('sha256').update(gunzipSync(content)).digest('hex'), file).toBe(csvSha256);
      const [row] = readme.split('\n').filter((line) => line.includes(`\`${file}\``));
      for (const part of [sha256, source.package, source.version, source.path, bars.toLocaleString('en-US')])
        expect(row).toContain(part);
    }
    const files = (await readdir(SHIPPED_FOLDER)).filter((name) => name.endsWith('.gz'));
    expect(files.sort()).toEqual(series.map(({ file }) => file).sort());
  });

  it('is small', async () => {
    const sizes = await Promise.all((await readShippedSeries()).map(({ file }) => stat(join(SHIPPED_FOLDER, file))));
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(1_500_000);
  });

  it('holds series that pass every check of an import, with the stated number of bars', async () => {
    const data = await openShippedData();
    const entries = (await data.list()).filter(({ synthetic }) => !synthetic);
    const stated = new Map((await readShippedSeries()).map(({ symbol, bars }) => [symbol, bars]));
    expect(new Map(entries.map(({ symbol, bars }) => [symbol, bars]))).toEqual(stated);
    for (const { instrument } of entries) {
      expect(instrument).toMatchObject({
        tradesAllDay: false,
        qtyStep: 1e-8,
        tickSize: null,
        minNotional: 0,
        quote: 'USD',
      });
    }
  });

  it.each([
    ['AAPL', '2000-06-21'],
    ['AAPL', '2005-02-28'],
    ['MSFT', '2003-02-18'],
  ])('adjusts prices and volume for the split of %s on %s', async (symbol, day) => {
    const [snapshot] = await (await openShippedData()).snapshots(symbol, '1d');
    const { time, open, close, volume } = openSnapshot(snapshot);
    const row = time.indexOf(Date.parse(day));
    expect(open[row] / close[row - 1]).toBeCloseTo(1, 1);
    const mean = (from: number): number => volume.subarray(from, from + 20).reduce((sum, value) => sum + value, 0) / 20;
    expect(mean(row) / mean(row - 20)).toBeGreaterThan(0.5);
    expect(mean(row) / mean(row - 20)).toBeLessThan(2);
  });
});

describe("a user's own folder", () => {
  it('is read on request, one file per series, by file name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'candlepool-own-'));
    const bars = 'time,open,high,low,close\n2024-01-01,1,1,1,1\n2024-01-02,1,1,1,1\n';
    await writeFile(join(folder, 'XAU-1d.csv'), bars);
    await writeFile(join(folder, 'BAD-1d.csv'), 'no bars');
    await writeFile(join(folder, 'notes.txt'), 'not looked at');
    const data = await openShippedData(folder);
    expect((await data.find('XAU', '1d'))?.bars).toBe(2);
    await expect(data.list()).rejects.toThrow('not a table of bars');
    await rm(folder, { recursive: true });
    await expect(openShippedData(folder)).rejects.toThrow('There is no folder at');
  });
});
