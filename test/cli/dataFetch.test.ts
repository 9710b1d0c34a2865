// `data fetch` as a command: what it refuses, and, in a long run with ccxt installed, half a million bars through
// kills, limits and cut connections.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openSnapshot } from '../../src/engine/bars/arrow.ts';
import { readBarsFile } from '../../src/market/import/barsFile.ts';
import { callCommand, runCommand, startCommand } from '../support/command.ts';
import type { CommandResult } from '../support/command.ts';
import { startLocalExchange } from '../support/downloads/localExchange.ts';
import type { WireBar } from '../support/downloads/localExchange.ts';
import { installedPackages } from '../support/downloads/packageDoubles.ts';
import { isLong } from '../support/scale.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-fetch-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fetchBars = (...args: string[]): Promise<CommandResult> => callCommand(['data', 'fetch', ...args]);

describe('data fetch', () => {
  it.each([
    [['--symbol', 'SPY'], 'Give either --exchange, such as --exchange binance, or --source yahoo.'],
    [['--symbol', 'A,B', '--source', 'yahoo', '--as', 'C'], '--as renames one symbol.'],
    [
      ['--symbol', 'A', '--source', 'yahoo', '--since', '2021-01-01', '--until', '2020-01-01'],
      '--since must be before',
    ],
    [['--symbol', 'A/B', '--exchange', 'binance', '--adjusted'], '--adjusted belongs to --source yahoo'],
    [['--symbol', 'A', '--source', 'yahoo', '--since', 'yesterday'], 'Give a date or a time in UTC'],
    [['--symbol', 'A', '--source', 'yahoo', '--url', 'localhost'], 'Give an address that begins with http'],
    [['--symbol', 'A', '--source', 'google'], 'Choose one of: yahoo.'],
    [['--source', 'yahoo'], '--symbol'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await fetchBars(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

const isInstalled = isLong && (await installedPackages()) !== null;

it.runIf(isInstalled)('names the timeframes of a source that lacks one, and keeps quiet in a pipe', async () => {
  const { code, stderr } = await runCommand([
    'data',
    'fetch',
    '--source',
    'yahoo',
    '--symbol',
    'SPY',
    '--timeframe',
    '4h',
  ]);
  expect(stderr).toBe(
    'error: yahoo has no 4h bars. It has 1m, 5m, 15m, 30m, 1h, 1d; runs make 4h bars out of 1h bars.\n',
  );
  expect(code).toBe(2);
});

it.runIf(isInstalled)('downloads several symbols, and goes on after one without bars', async () => {
  const start = Date.UTC(2024, 0, 1);
  const bars = Array.from({ length: 50 }, (_, row): WireBar => [start + row * 86_400_000, 10, 12, 9, 11, row + 1]);
  await using exchange = await startLocalExchange();
  exchange.now = start + 40.5 * 86_400_000;
  exchange.bars.set('BTCUSDT', bars).set('NEWUSDT', []).set('ETHUSDT', bars.slice(10));
  const into = mkdtempSync(join(folder, 'several-'));
  const symbols = ['--symbol', 'BTC/USDT,NEW/USDT', '--symbol', 'ETHUSDT', '--exchange', 'binance'];
  const command = [
    'data',
    'fetch',
    ...symbols,
    '--since',
    '2023-12-01',
    '--data',
    into,
    '--url',
    exchange.url,
    '--json',
  ];
  const { code, stdout, stderr } = await runCommand(command);
  const told = stdout
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(told).toMatchObject([
    { symbol: 'BTCUSDT', timeframe: '1d', bars: 40, added: 40 },
    { symbol: 'ETHUSDT', timeframe: '1d', bars: 30, added: 30 },
  ]);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: 'NO_ROWS', message: 'binance has no 1d bars of NEW/USDT in that time.' },
  });
  expect(code).toBe(1);
});

it.runIf(isInstalled)('downloads 500,000 bars with ccxt, killed and cut twice, told to wait five times', async () => {
  const start = Date.UTC(2020, 0, 1);
  const bars = Array.from({ length: 500_000 }, (_, row): WireBar => {
    const cents = 10_000 + (row % 7_919);
    return [start + row * 60_000, ...[cents, cents + 2, cents - 1, cents + 1].map((price) => price / 100), row / 4];
  });
  await using exchange = await startLocalExchange();
  exchange.bars.set('BTCUSDT', bars);
  exchange.now = start + 500_000 * 60_000 + 30_000;
  const faultAt = new Map<number, (typeof exchange.faults)[number]>([
    [20, 'rate limit'], [90, 'cut'], [130, 'rate limit'], [200, 'rate limit'], [260, 'cut'], [310, 'rate limit'],
    [400, 'rate limit'],
  ]); // prettier-ignore
  exchange.faults.push(...Array.from({ length: 500 }, (_, request) => faultAt.get(request) ?? null));
  const args = ['data', 'fetch', '--exchange', 'binance', '--symbol', 'BTC/USDT', '--timeframe', '1m'];
  const command = [...args, '--since', '2020-01-01', '--data', folder, '--url', exchange.url];
  for (const killedAt of [110, 290]) {
    const child = startCommand(command);
    while (exchange.asked.length < killedAt) await wait(20);
    child.kill('SIGKILL');
    await once(child, 'close');
    const [journal] = readdirSync(join(folder, '.downloads'));
    expect(statSync(join(folder, '.downloads', journal)).size).toBeGreaterThan(killedAt * 1000 * 20);
  }
  const { code, stdout, stderr } = await runCommand(command);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Imported BTCUSDT 1m: 500000 bars');
  expect(exchange.faults.filter((fault) => fault !== null)).toEqual([]);
  const stored = openSnapshot(await readBarsFile(join(folder, 'BTCUSDT-1m.csv')));
  expect(stored.length).toBe(bars.length);
  const columns = [stored.time, stored.open, stored.high, stored.low, stored.close, stored.volume];
  expect(bars.findIndex((bar, row) => bar.some((value, at) => columns[at][row] !== value))).toBe(-1);
  expect(existsSync(join(folder, '.downloads')) && readdirSync(join(folder, '.downloads'))).toEqual([]);
});
