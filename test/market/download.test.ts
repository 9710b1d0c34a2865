// Downloads against a local exchange that speaks the wire formats of Binance and Yahoo: what is stored equals what the
// exchange has, whatever fails on the way.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import type { Timeframe } from '../../src/engine/bars/bars.ts';
import { ccxtSource, storedSymbol } from '../../src/market/download/ccxtSource.ts';
import { downloadSeries } from '../../src/market/download/downloadSeries.ts';
import type { Downloaded, DownloadRequest } from '../../src/market/download/downloadSeries.ts';
import { folderTarget } from '../../src/market/download/downloadTarget.ts';
import { loadOptional } from '../../src/market/download/optionalPackage.ts';
import { yahooSource } from '../../src/market/download/yahooSource.ts';
import { readBarsFile } from '../../src/market/import/barsFile.ts';
import { startLocalExchange } from '../support/downloads/localExchange.ts';
import type { WireBar } from '../support/downloads/localExchange.ts';
import { DOUBLES, installedPackages } from '../support/downloads/packageDoubles.ts';
import { isLong } from '../support/scale.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const START = Date.UTC(2020, 0, 1);

let exchange: Awaited<ReturnType<typeof startLocalExchange>>;
let packages = DOUBLES;
let folder: string;
let waits: number[];
beforeAll(async () => {
  exchange = await startLocalExchange();
  if (isLong) packages = (await installedPackages()) ?? DOUBLES;
});
afterAll(() => exchange[Symbol.asyncDispose]());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candlepool-download-'));
  waits = [];
  exchange.bars.set('BTCUSDT', minutes(5_000));
  exchange.now = START + 5_000 * MINUTE + 20_000;
  exchange.asked.length = 0;
  exchange.faults.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Bars with eight decimals, as Binance writes them, whose volumes name their rows. */
const minutes = (count: number): readonly WireBar[] =>
  Array.from({ length: count }, (_, row) => {
    const price = (Math.round(1e8 * (100 + 10 * Math.sin(row / 70))) + row) / 1e8;
    return [START + row * MINUTE, price, price + 1.5, price - 0.25, price + 0.5, row];
  });

const REQUEST: DownloadRequest = { since: START, isReplacing: false, given: {} };
interface Asked {
  readonly symbol?: string;
  readonly timeframe?: Timeframe;
  readonly of?: 'binance' | 'yahoo';
  readonly request?: Partial<DownloadRequest>;
  /** Ends the command on that wait, as a signal would. */
  readonly killedAtWait?: number;
}

async function download({
  symbol = 'BTC/USDT',
  timeframe = '1m',
  of = 'binance',
  ...rest
}: Asked = {}): Promise<Downloaded> {
  const source =
    of === 'yahoo'
      ? yahooSource(packages.yahoo, exchange.url)
      : ccxtSource(packages.ccxt, { exchange: of, symbols: [symbol], url: exchange.url });
  const patience = {
    wait: async (ms: number) => {
      if (waits.push(ms) === rest.killedAtWait) throw new Error('killed');
    },
    now: () => exchange.now,
    onPage: () => {},
  };
  const market = await source.market(symbol, timeframe);
  return downloadSeries(source, market, await folderTarget(folder), { ...REQUEST, ...rest.request }, patience);
}

/** The bars of the file that a download has written. */
async function stored(name = 'BTCUSDT-1m.csv'): Promise<number[][]> {
  const { time, open, high, low, close, volume } = openSnapshot(await readBarsFile(join(folder, name)));
  return Array.from(time, (at, row) => [at, open[row], high[row], low[row], close[row], volume[row]]);
}
const ended = (): readonly WireBar[] =>
  exchange.bars.get('BTCUSDT')!.filter(([time]) => time + MINUTE <= exchange.now - 5_000);
const journals = (): string[] => readdirSync(join(folder, '.downloads'));

describe('a download from an exchange', () => {
  it('equals the bars of the exchange, through limits, bans, errors and cut connections', async () => {
    exchange.faults.push('rate limit', null, 'cut', 'half an answer', 'half an answer', 'ban', null, 'server error');
    const { added } = await download();
    expect(added).toBe(5_000);
    expect(await stored()).toEqual(ended());
    expect(waits).toEqual([3_000, 1_000, 2_000, 4_000, 120_000, 1_000]);
    expect(journals()).toEqual([]);
  });

  it('waits as long as Retry-After says, and doubles its own waits', async () => {
    exchange.faults.push('server error', 'server error', 'server error', 'rate limit');
    await download();
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it('goes on after its last row when it was killed, and asks for nothing twice', async () => {
    exchange.faults.push(null, null, 'server error');
    await expect(download({ killedAtWait: 1 })).rejects.toThrow('killed');
    expect(readdirSync(folder)).toEqual(['.downloads']);
    const [journal] = journals();
    appendFileSync(join(folder, '.downloads', journal), '1577956800000,99.1,10');
    exchange.asked.length = 0;
    await download();
    expect(await stored()).toEqual(ended());
    expect(exchange.asked[0].searchParams.get('startTime')).toBe(String(START + 1_999 * MINUTE + 1));
    expect(exchange.asked).toHaveLength(3);
  });

  it('goes on with an older part that was cut when newer bars are stored', async () => {
    await download({ request: { since: START + 4_000 * MINUTE } });
    exchange.faults.push(null, 'server error');
    await expect(download({ killedAtWait: 1 })).rejects.toThrow('killed');
    await download({ request: { since: undefined } });
    expect(await stored()).toEqual(ended());
  });

  it('never stores the bar that is open, and adds it when it has ended', async () => {
    exchange.now = START + 10 * MINUTE + 59_999;
    await download();
    expect((await stored()).at(-1)?.[0]).toBe(START + 9 * MINUTE);
    exchange.now = START + 11 * MINUTE + 4_999;
    expect((await download()).added).toBe(0);
    exchange.now = START + 13 * MINUTE + 5_000;
    expect((await download({ request: { since: undefined } })).added).toBe(3);
    expect(await stored()).toEqual(ended());
  });

  it('stores months of the calendar, but not the one that has not ended', async () => {
    const months = Array.from({ length: 30 }, (_, at): WireBar => [Date.UTC(2020, at, 1), 10, 12, 9, 11, at + 1]);
    exchange.bars.set('BTCUSDT', months);
    exchange.now = Date.UTC(2022, 0, 31);
    await download({ timeframe: '1M' });
    expect(await stored('BTCUSDT-1M.csv')).toEqual(months.slice(0, 24));
    exchange.now = Date.UTC(2022, 3, 1) + 5_000;
    expect((await download({ timeframe: '1M', request: { since: undefined } })).added).toBe(3);
    expect(await stored('BTCUSDT-1M.csv')).toEqual(months.slice(0, 27));
  });

  it('asks again for the last bar that is stored when bars begin at half past', async () => {
    const HOUR = 60 * MINUTE;
    const hours = (last: number) =>
      Array.from({ length: 20 }, (_, at): WireBar => [START + (at + 0.5) * HOUR, 10, 12, 9, at === 14 ? last : 11, 1]);
    exchange.bars.set('BTCUSDT', hours(11));
    exchange.now = START + 10.75 * HOUR;
    await download({ timeframe: '1h' });
    exchange.now = START + 15.75 * HOUR;
    expect((await download({ timeframe: '1h' })).added).toBe(5);
    exchange.now = START + 18.75 * HOUR;
    exchange.bars.set('BTCUSDT', hours(11.5));
    await expect(download({ timeframe: '1h' })).rejects.toThrow(/BTCUSDT 1h is stored with close .* Give --replace/);
  });

  it('stops at --until', async () => {
    await download({ request: { until: START + 100 * MINUTE } });
    expect(await stored()).toEqual(ended().slice(0, 100));
  });

  it('reports a hole that the exchange has, and steps over empty answers', async () => {
    exchange.bars.set('BTCUSDT', [...minutes(1_200), ...minutes(5_000).slice(1_300)]);
    exchange.faults.push(null, 'empty answer');
    const { imported } = await download({ request: { since: START - 30 * DAY } });
    expect(await stored()).toEqual(ended());
    expect(imported?.report.notes).toContain(
      'binance has no bars from 2020-01-01T20:00Z to 2020-01-01T21:40Z: 100 bars.',
    );
    expect(imported?.report.notes).toContain('The first 1m bar of binance is the one of 2020-01-01.');
  });

  it('says where a symbol ends that is not traded any more', async () => {
    exchange.now += 10 * DAY;
    const { imported } = await download();
    expect(imported?.report.notes).toContain('binance has no bars after 2020-01-04T11:20Z.');
  });

  it('refuses stored bars that the exchange contradicts before it goes on, and replaces them if asked', async () => {
    await download({ request: { until: START + 100 * MINUTE } });
    exchange.bars.set(
      'BTCUSDT',
      minutes(5_000).map(([time, ...prices]) => [time, ...prices.map((price) => price! * 2)]),
    );
    await expect(download()).rejects.toThrow(/BTCUSDT 1m is stored with open .* Give --replace/);
    expect(await stored()).toHaveLength(100);
    expect(exchange.asked.length).toBeLessThan(4);
    await download({ request: { isReplacing: true } });
    expect(await stored()).toEqual(ended());
  });

  it('gives up when the exchange asks for hours, and says until when', async () => {
    exchange.faults.push(null, 'long ban');
    await expect(download()).rejects.toThrow('It asks for no request before 2020-01-04T13:20:20Z.');
    expect(journals()).toHaveLength(1);
  });

  it('gives up after nine tries', async () => {
    exchange.faults.push(...Array.from({ length: 9 }, () => 'server error' as const));
    await expect(download()).rejects.toThrow(/503.* 9 tries failed/s);
    expect(waits).toHaveLength(8);
  });

  it('names what was probably meant by an unknown symbol, exchange or package', async () => {
    await expect(download({ symbol: 'BTC/USTD' })).rejects.toThrow(
      'binance has no symbol BTC/USTD. Did you mean BTC/USDT?',
    );
    expect(() => ccxtSource(packages.ccxt, { exchange: 'binanc', symbols: [] })).toThrow('Did you mean binance?');
    await expect(loadOptional('candlepool-has-no-such-package', 'A download')).rejects.toThrow(
      /A download needs the package .* not installed.*npm install --no-save/s,
    );
    await expect(download({ request: { since: undefined } })).rejects.toThrow(
      'Nothing is stored of BTCUSDT 1m. Give --since',
    );
  });

  it('asks for nothing more than is absent, in the file that is there', async () => {
    writeFileSync(join(folder, 'BTCUSDT-1m.json'), JSON.stringify(ended().slice(0, 4_990)));
    expect((await download({ request: { since: undefined } })).added).toBe(10);
    expect(readdirSync(folder).toSorted()).toEqual(['.downloads', 'BTCUSDT-1m.json']);
    expect(await stored('BTCUSDT-1m.json')).toEqual(ended());
    expect(exchange.asked).toHaveLength(1);
  });
});

it.each([
  ['BTC/USDT', 'BTCUSDT'],
  ['BTC/USDT:USDT', 'BTCUSDT-PERP'],
  ['BTC/USD:BTC', 'BTCUSD-PERP'],
  ['BTC/USDT:USDT-240329', 'BTCUSDT-240329'],
  ['ETH/USD:ETH-240329-3000-C', 'ETHUSD-240329-3000-C'],
])('stores %s as %s', (symbol, name) => expect(storedSymbol(symbol)).toBe(name));

describe('a download from Yahoo', () => {
  /** Sessions of New York around a change of clocks, stamped at their open. */
  const sessions = (days: readonly string[]): WireBar[] =>
    days.map((day, at) => {
      const open = Date.parse(`${day}T14:30:00Z`) - (day >= '2024-03-10' ? 3_600_000 : 0);
      return [open, 100 + at, 101 + at, 99 + at, 100.5 + at, 1_000 + at];
    });
  const DAYS = ['2024-03-06', '2024-03-07', '2024-03-08', '2024-03-11', '2024-03-12', '2024-03-13'];
  const asDays = (bars: readonly WireBar[]): unknown =>
    bars.map(([time, ...rest]) => [Math.floor(time / DAY) * DAY, ...rest]);
  beforeEach(() => {
    exchange.bars.set('SPY', sessions(DAYS));
    exchange.now = Date.parse('2024-03-20T00:00:00Z');
  });

  it('puts sessions on their days, with dividends and the adjusted close', async () => {
    exchange.faults.push(null, 'rate limit', 'cut', 'half an answer');
    await download({ of: 'yahoo', symbol: 'SPY', timeframe: '1d', request: { since: undefined } });
    expect(await stored('SPY-1d.csv')).toEqual(asDays(exchange.bars.get('SPY')!));
    expect(waits).toEqual([3_000, 2_000, 4_000]);
    const { series } = openSnapshot(await readBarsFile(join(folder, 'SPY-1d.csv')));
    expect(series.get('Dividends')?.[0]).toBe(1.5);
    expect(series.get('Adj Close')?.[0]).toBe(50.25);
  });

  it('adds days, and refuses those of another scale, as after a split', async () => {
    exchange.bars.set('SPY', sessions(DAYS.slice(0, 4)));
    const spy = { of: 'yahoo', symbol: 'SPY', timeframe: '1d' } as const;
    await download(spy);
    exchange.bars.set('SPY', sessions(DAYS));
    expect((await download(spy)).added).toBe(2);
    expect(await stored('SPY-1d.csv')).toEqual(asDays(exchange.bars.get('SPY')!));
    exchange.bars.set(
      'SPY',
      sessions([...DAYS, '2024-03-14']).map(([time, ...rest]) => [time, ...rest.map((value) => value! / 4)]),
    );
    await expect(download(spy)).rejects.toThrow(/or were adjusted since. Give --replace/);
  });

  it('scales the bars to the adjusted close, and stores symbols with a dot', async () => {
    exchange.bars.set('7203.T', exchange.bars.get('SPY')!);
    const toyota = { of: 'yahoo', symbol: '7203.T', timeframe: '1d' } as const;
    expect((await download(toyota)).added).toBe(6);
    expect((await download(toyota)).added).toBe(0);
    await download({ of: 'yahoo', symbol: 'SPY', timeframe: '1d', request: { adjusted: true } });
    expect((await stored('SPY-1d.csv'))[0].slice(1)).toEqual([50, 50.5, 49.5, 50.25, 2_000]);
  });

  it('refuses a day without prices, and leaves it out if asked, without a second download', async () => {
    exchange.bars.set('SPY', [
      ...sessions(DAYS).slice(0, 5),
      [...sessions(DAYS)[5].slice(0, 1), null, null, null, null, null] as never,
    ]);
    const spy = { of: 'yahoo', symbol: 'SPY', timeframe: '1d' } as const;
    await expect(download(spy)).rejects.toThrow('--drop-na');
    await download({ ...spy, request: { dropNa: true } });
    expect(await stored('SPY-1d.csv')).toHaveLength(5);
  });

  it('asks for weeks of minutes, and names a symbol that Yahoo does not have', async () => {
    const now = Math.floor(Date.now() / DAY) * DAY;
    const bars = Array.from({ length: 20 * 24 }, (_, at): WireBar => [
      now - 20 * DAY + at * 60 * MINUTE,
      1,
      2,
      0.5,
      1.5,
      1,
    ]);
    exchange.bars.set('SPY', bars);
    exchange.now = Date.now();
    await download({ of: 'yahoo', symbol: 'SPY', request: { since: now - 20 * DAY } });
    expect(await stored('SPY-1m.csv')).toEqual(bars);
    await expect(download({ of: 'yahoo', symbol: 'NONE' })).rejects.toThrow(
      'Yahoo does not give bars of NONE: No data found',
    );
  });
});

it('keeps the file of a series readable as text', async () => {
  await download({ request: { until: START + 2 * MINUTE } });
  expect(readFileSync(join(folder, 'BTCUSDT-1m.csv'), 'utf8').split('\n')[0]).toBe('time,open,high,low,close,volume');
});
