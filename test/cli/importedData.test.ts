// Imported data on the command line: backtest, explain and indicator read the catalog under DATA_DIR, and say which
// import they read.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, CROSS_GRAPH } from '../../src/cli/demoStrategies.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { isAlive } from '../../src/db/processes.ts';
import { readyUrl, callCommand, startCommand } from '../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
const at = (name: string): string => join(folder, name);
const env = { DATA_DIR: at('data'), WORKER_THREADS: '1', LOG_LEVEL: 'error' };
const run = (...args: string[]) => callCommand(args, env);
const postmaster = at('data/postgres/cluster/postmaster.pid');

/** Daily bars with a price that rises and falls, so that means cross. */
function dailyCsv(base: number): string {
  const rows = Array.from({ length: 600 }, (_, day) => {
    const close = base + 10 * Math.sin(day / 20);
    const date = new Date(Date.UTC(2015, 0, 1 + day)).toISOString().slice(0, 10);
    return `${date},${close},${close + 1},${close - 1},${close},1000`;
  });
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`;
}
const writeConfig = (symbol: string): string => {
  writeFileSync(at(`${symbol}.json`), JSON.stringify(configOf(symbol, '1d')));
  return at(`${symbol}.json`);
};
const backtest = (symbol: string, ...more: string[]) =>
  run('backtest', '--strategy', at('strategy.json'), '--config', writeConfig(symbol), ...more);

beforeAll(async () => {
  writeFileSync(at('strategy.json'), JSON.stringify(CROSS_GRAPH));
  writeFileSync(at('SPY-1d.csv'), dailyCsv(100));
  const { code, stderr } = await run('data', 'import', at('SPY-1d.csv'));
  expect([code, stderr]).toEqual([0, '']);
});
afterAll(async () => {
  await stopEmbedded(at('data'));
  rmSync(folder, { recursive: true, force: true });
});

const IMPORTED = /SPY 1d: imported from SPY-1d\.csv on \d{4}-\d\d-\d\dT\d\d:\d\dZ \(snapshot [0-9a-f]{12}\)/;

describe('an imported series', () => {
  it('can be backtested without a running server, and the database is stopped again', async () => {
    const { code, stdout, stderr } = await backtest('SPY');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('SPY 1d, 600 bars');
    expect(stdout).toMatch(IMPORTED);
    expect(existsSync(postmaster)).toBe(false);
  });

  it('is named in JSON by its hash, its file and its time of import', async () => {
    const { stdout } = await backtest('SPY', '--json');
    const { bars } = JSON.parse(stdout) as { bars: readonly Record<string, string>[] };
    const shown = JSON.parse((await run('data', 'show', '--symbol', 'SPY', '--timeframe', '1d', '--json')).stdout) as {
      sha256: string;
    };
    expect(bars).toEqual([
      {
        symbol: 'SPY',
        timeframe: '1d',
        storedTimeframe: '1d',
        sha256: shown.sha256,
        origin: 'import',
        file: 'SPY-1d.csv',
        importedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ]);
  });

  it('is read by indicator, which says so on stderr, and by explain', async () => {
    const indicator = await run('indicator', '--symbol', 'SPY', '--timeframe', '1d', '--name', 'sma');
    expect(indicator.code).toBe(0);
    expect(indicator.stdout.trim().split('\n')).toHaveLength(601);
    expect(indicator.stderr).toMatch(IMPORTED);
    const explained = await run('explain', '--strategy', at('strategy.json'), '--symbol', 'SPY', '--timeframe', '1d');
    expect([explained.code, explained.stdout]).toEqual([0, expect.stringMatching(IMPORTED)]);
  });

  it('replaces a shipped one for runs', async () => {
    writeFileSync(at('SPX-1d.csv'), dailyCsv(2000));
    expect((await run('data', 'import', at('SPX-1d.csv'), '--replace')).code).toBe(0);
    const { stdout } = await backtest('SPX');
    expect(stdout).toContain('SPX 1d, 600 bars');
    expect(stdout).toContain('SPX 1d: imported from SPX-1d.csv on');
  });

  it('is read from the database of a running server, which keeps running', async () => {
    const server: ChildProcessWithoutNullStreams = startCommand(['serve', '--port', '0', '--json'], env);
    try {
      const url = await readyUrl(server);
      const pid = Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
      expect((await backtest('SPY')).stdout).toMatch(IMPORTED);
      const indicator = await run('indicator', '--symbol', 'SPY', '--timeframe', '1d', '--name', 'sma', '--json');
      expect(JSON.parse(indicator.stdout)).toMatchObject({ bars: { file: 'SPY-1d.csv' } });
      expect(isAlive(pid)).toBe(true);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    } finally {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
  });
});

describe('a shipped series', () => {
  it('needs no database and creates none', async () => {
    const empty = { ...env, DATA_DIR: at('absent') };
    const args = ['backtest', '--strategy', at('strategy.json'), '--config', writeConfig('AAPL')];
    const { code, stdout } = await callCommand(args, empty);
    expect([code, stdout]).toEqual([0, expect.stringContaining('AAPL 1d: shipped with Candlepool (AAPL-1d.csv.gz)')]);
    expect(existsSync(at('absent'))).toBe(false);
  });

  it('does not start an existing database if nothing else was imported for its symbol', async () => {
    const log = at('data/postgres/server.log');
    const before = statSync(log).mtimeMs;
    const { code, stdout } = await backtest('AAPL');
    expect([code, stdout]).toEqual([0, expect.stringContaining('AAPL 1d: shipped with Candlepool')]);
    expect(existsSync(postmaster)).toBe(false);
    expect(statSync(log).mtimeMs).toBe(before);
  });
});

it('answers an unknown series with an error that names the command that lists them', async () => {
  const { code, stderr } = await backtest('NOWHERE');
  expect(code).toBe(1);
  expect(stderr).toContain('There are no 1d bars of NOWHERE, nor finer ones to make them from.');
  expect(stderr).toContain('candlepool data list" shows the stored series.');
});

it.each([
  ['AAPLE', 'Did you mean AAPL?'],
  ['eurusd', 'Did you mean EURUSD?'],
  ['SPPY', 'Did you mean SPY?'],
  ['EURUSDT', 'Did you mean EURUSD?'],
])('answers the misspelled symbol %s with the one that was meant', async (symbol, hint) => {
  const { code, stderr } = await backtest(symbol);
  expect([code, stderr]).toEqual([1, expect.stringContaining(hint)]);
  const shown = await callCommand(['data', 'show', '--symbol', symbol, '--timeframe', '1d'], env);
  expect([shown.code, shown.stderr]).toEqual([
    1,
    expect.stringContaining(`There is no stored series ${symbol} 1d. ${hint}`),
  ]);
});

it('says at which timeframes a series is stored that does not exist at the one asked for', async () => {
  const { stderr } = await callCommand(['data', 'show', '--symbol', 'SPX', '--timeframe', '1h'], env);
  expect(stderr).toContain('There is no stored series SPX 1h. SPX is stored at 1d.');
});

it('names the files of a folder that has no file of the series', async () => {
  mkdirSync(at('bars'));
  writeFileSync(at('bars/ABC-1d.csv'), '');
  const { code, stderr } = await backtest('ABD', '--data', at('bars'));
  expect([code, stderr]).toEqual([1, expect.stringContaining(`Did you mean ABC? ${at('bars')} has ABC 1d.`)]);
});

it('refuses --instrument without --bars, because it describes a file', async () => {
  const { code, stderr } = await backtest('SPY', '--instrument', '{"qtyStep":1}');
  expect([code, stderr]).toEqual([2, expect.stringContaining('Give the file with --bars.')]);
});
