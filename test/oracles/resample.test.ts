// Bars that Binance itself published, against ours made from its minutes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Bars, Timeframe } from '../../src/engine/bars/bars.ts';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import { resample } from '../../src/engine/bars/resample.ts';
import { readBarsFile, readBarsFileWithReport } from '../../src/market/import/barsFile.ts';
import { listGaps } from '../../src/market/gaps.ts';

const shared = process.env.CANDLEPOOL_SHARED ?? '';
const path = (name: string): string => {
  const found = join(shared, 'data', name);
  if (!existsSync(found))
    throw new Error(`${found} is not there: set CANDLEPOOL_SHARED to the folder of other engines' numbers.`);
  return found;
};
const read = new Map<string, Promise<Bars>>();
function bars(name: string): Promise<Bars> {
  const reading = read.get(name) ?? readBarsFile(path(name)).then(openSnapshot);
  read.set(name, reading);
  return reading;
}
const NAMES = ['time', 'open', 'high', 'low', 'close', 'volume'] as const;

/** Rows of the exchange's bars in the span of ours. */
function sameSpan(published: Bars, ours: Bars): Record<string, number[]> {
  const first = published.time.indexOf(ours.time[0]);
  const end = published.time.indexOf(ours.time[ours.length - 1]) + 1;
  return Object.fromEntries(NAMES.map((name) => [name, [...published[name].subarray(first, end)]]));
}

describe.each(['BTCUSDT', 'SOLUSDT'])('the resampling of %s', (symbol) => {
  it.each(['15m', '1h', '4h', '1d'] as const)(
    'gives the exchange’s %s bars from minutes, with volume to the last digit',
    async (timeframe) => {
      const ours = resample(await bars(`${symbol}-1m.csv.gz`), timeframe);
      const published = sameSpan(await bars(`${symbol}-${timeframe}.csv.gz`), ours);
      for (const name of NAMES) expect([...ours[name]], name).toEqual(published[name]);
      expect(ours.length).toBeGreaterThan(60);
    },
  );
  it.each([
    ['15m', '1h'],
    ['1h', '4h'],
    ['4h', '1d'],
    ['15m', '1d'],
  ] as const)('gives from %s bars the exchange’s %s bars', async (from, to) => {
    const ours = resample(await bars(`${symbol}-${from}.csv.gz`), to);
    const published = sameSpan(await bars(`${symbol}-${to}.csv.gz`), ours);
    for (const name of NAMES) expect([...ours[name]], name).toEqual(published[name]);
  });
});

describe("Binance's outage of 2023-03-24", () => {
  const at = (clock: string): number => Date.parse(`2023-03-24T${clock}Z`);

  it('is one gap of 80 minutes, reported and not filled', async () => {
    const { report } = await readBarsFileWithReport(path('BTCUSDT-1m.csv.gz'));
    expect(report).toMatchObject({ bars: 260_560, gaps: 1, missingBars: 80 });
    const minutes = await bars('BTCUSDT-1m.csv.gz');
    expect(listGaps(minutes.time, '1m')).toEqual([{ from: at('12:40'), to: at('14:00'), missingBars: 80 }]);
  });

  it('follows 72 flat minutes without volume', async () => {
    const { time, high, low, volume } = await bars('BTCUSDT-1m.csv.gz');
    const first = time.indexOf(at('11:28'));
    const flat = Array.from(
      { length: 72 },
      (_, row) => volume[first + row] === 0 && high[first + row] === low[first + row],
    );
    expect(flat.every(Boolean)).toBe(true);
    expect(time[first + 71]).toBe(at('12:39'));
    expect(volume[first - 1]).toBeGreaterThan(0);
  });

  it('makes the hour of 12:00 flat and partial, and the hour of 13:00 absent', async () => {
    const hours = resample(await bars('BTCUSDT-1m.csv.gz'), '1h');
    const row = hours.time.indexOf(at('12:00'));
    expect([hours.volume[row], hours.high[row] - hours.low[row]]).toEqual([0, 0]);
    expect(hours.time[row + 1]).toBe(at('14:00'));
    expect(hours.partialBars).toBe(1);
  });
});

it.each(['BTCUSDT-1h', 'SPY-1d', 'SPY-1h', 'EURUSD-1h', 'GOOG-1d', 'SOLUSDT-15m', 'BTCUSD-coinbase-1d'])(
  'reads %s as one snapshot from CSV and from Parquet',
  async (name) => {
    const [csv, parquet] = await Promise.all([
      readBarsFile(path(`${name}.csv.gz`)),
      readBarsFile(path(`${name}.parquet`)),
    ]);
    expect(csv.meta.sha256).toBe(parquet.meta.sha256);
  },
);

it('imports incomplete bars unchanged and counts their 34 missing days', async () => {
  const { report } = await readBarsFileWithReport(path('BTCUSD-coinbase-1d.csv.gz'));
  expect(report).toMatchObject({ bars: 1318, missingBars: 34 });
});

it('resamples half-hour sessions to days of their own date', async () => {
  const timeframe: Timeframe = '1d';
  const market = createMarket([await readBarsFile(path('SPY-1h.csv.gz'))], 'SPY', timeframe);
  const published = await bars('SPY-1d.csv.gz');
  for (const time of market.base.time) expect(published.time.includes(time), new Date(time).toISOString()).toBe(true);
});
