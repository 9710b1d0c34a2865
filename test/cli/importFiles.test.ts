// Many files at once: an import joins the files of a folder, a pattern or a zip archive, and runs that read files use
// every one of them or say why not.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, CROSS_GRAPH } from '../../src/cli/demoStrategies.ts';
import { callCommand, type CommandResult } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { DAYS, day, line, MINUTES, ohlcv, stamp, table } from '../support/imports/sourceBars.ts';
import type { SourceBar } from '../support/imports/sourceBars.ts';
import { zipOf } from '../support/imports/textShapes.ts';

let database: TestDatabase;
const folder = mkdtempSync(join(tmpdir(), 'candlepool-files-'));
const at = (...names: string[]): string => join(folder, ...names);
beforeAll(async () => {
  database = await createTestDatabase();
  writeFileSync(at('strategy.json'), JSON.stringify(CROSS_GRAPH));
  writeFileSync(at('SPY.json'), JSON.stringify(configOf('SPY', '1d')));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]): Promise<CommandResult> =>
  callCommand(args, { DATABASE_URL: database.url, DATA_DIR: at('data') });
const json = async (...args: string[]): Promise<Record<string, unknown>[]> => {
  const { code, stdout, stderr } = await run(...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>);
};
const HEADER = 'time,open,high,low,close,volume';
const csv = (bars: readonly SourceBar[], header = HEADER): string =>
  table(header, bars, (bar) => line([stamp(bar.time), ...ohlcv(bar)]));
/** The files of a folder with that name. */
function files(name: string, content: Readonly<Record<string, string | Uint8Array>>): string {
  mkdirSync(at(name), { recursive: true });
  for (const [file, text] of Object.entries(content)) writeFileSync(at(name, file), text);
  return at(name);
}
const thirds = [MINUTES.slice(0, 30), MINUTES.slice(30, 60), MINUTES.slice(60)];
const dumps = (symbol: string): Record<string, string> =>
  Object.fromEntries(thirds.map((bars, index) => [`${symbol}-1m-2023-0${index + 1}.csv`, csv(bars)]));

describe('an import of many files', () => {
  it.each([
    ['a folder', 'FOLDER', (symbol: string) => files(`in-${symbol}`, dumps(symbol))],
    ['a pattern', 'PATTERN', (symbol: string) => join(files(`in-${symbol}`, dumps(symbol)), '*-1m-*.csv')],
    [
      'a zip archive',
      'ZIP',
      (symbol: string) => join(files(`in-${symbol}`, { 'all.zip': zipOf(dumps(symbol)) }), 'all.zip'),
    ],
  ])('makes one series from %s', async (_, symbol, path) => {
    const [entry, ...others] = await json('data', 'import', path(symbol));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ symbol, timeframe: '1m', bars: MINUTES.length, gaps: 0 });
    expect(entry.notes).toContain('Joined 3 files.');
    const [exported] = [await run('data', 'export', '--symbol', symbol, '--timeframe', '1m', '--format', 'json')];
    const closes = (JSON.parse(exported.stdout) as { close: number }[]).map(({ close }) => close);
    expect(closes).toEqual(MINUTES.map(({ close }) => close));
  });

  it('joins files that overlap in agreement, and refuses those that do not, by name', async () => {
    const agreeing = files('AGREE', {
      'AGREE-1m-a.csv': csv(MINUTES.slice(0, 40)),
      'AGREE-1m-b.csv': csv(MINUTES.slice(35)),
    });
    const [entry] = await json('data', 'import', agreeing);
    expect(entry.bars).toBe(MINUTES.length);
    expect(entry.notes).toContain('Joined 2 files; bars in more than one: 5, in agreement.');
    const wrong = MINUTES.slice(35).map((bar) => ({ ...bar, volume: bar.volume + 1 }));
    const { code, stderr } = await run(
      'data',
      'import',
      files('DISAGREE', { 'X-1m-a.csv': csv(MINUTES.slice(0, 40)), 'X-1m-b.csv': csv(wrong) }),
    );
    expect(code).toBe(1);
    expect(stderr).toContain('X-1m-b.csv: 2023-03-14T14:05Z: volume is');
  });

  it('makes a series of each symbol, says which files are no bars, and writes nothing if one is refused', async () => {
    const bars = csv(DAYS.slice(0, 9));
    const path = files('MIXED', { 'AAA-1d.csv': bars, 'BBB-1d.csv': bars, 'notes.pdf': 'x' });
    const { stdout, stderr } = await run('data', 'import', path);
    expect(stdout).toContain('Imported AAA 1d: 9 bars');
    expect(stdout).toContain('Imported BBB 1d: 9 bars');
    expect(stderr).toContain('Not used: notes.pdf (its name is not that of a file of bars');
    const bad = files('BAD', { 'CCC-1d.csv': bars, 'DDD-1d.csv': bars.replace(/^(\d\S* \S*?),/m, '$1,x') });
    const refused = await run('data', 'import', bad);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('DDD-1d.csv: Row 1 (line 2)')]);
    expect((await run('data', 'list')).stdout).not.toContain('CCC');
    const again = await run('data', 'import', at('MIXED', 'AAA-1d.csv'), at('BAD', 'CCC-1d.csv'));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('AAA 1d is already stored')]);
    expect((await run('data', 'list')).stdout).not.toContain('CCC');
  });

  it('makes a series of each symbol in one file, or of the one that is named', async () => {
    const rows = ['S1', 'S2'].map((symbol) => csv(DAYS).trimEnd().replaceAll('\n', `,${symbol}\n`) + `,${symbol}`);
    const text = [`${HEADER},symbol`, ...rows.flatMap((part) => part.split('\n').slice(1))].join('\n');
    writeFileSync(at('two.csv'), text);
    const [only, ...none] = await json('data', 'import', at('two.csv'), '--symbol', 'S2');
    expect([only.symbol, none]).toEqual(['S2', []]);
    const both = await json('data', 'import', at('two.csv'), '--replace');
    expect(both.map(({ symbol, bars }) => [symbol, bars])).toEqual([
      ['S1', DAYS.length],
      ['S2', DAYS.length],
    ]);
  });

  it.each([
    ['no-such-*.csv', 'No file matches'],
    ['empty', 'There is no file of bars in'],
  ])('refuses %s', async (name, message) => {
    mkdirSync(at('empty'), { recursive: true });
    const { code, stderr } = await run('data', 'import', at(name));
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

describe('a run on files', () => {
  const backtest = (...args: string[]): Promise<CommandResult> =>
    run('backtest', '--strategy', at('strategy.json'), '--config', at('SPY.json'), ...args);
  const long = Array.from({ length: 20 }, (_, index) =>
    DAYS.map((bar) => ({ ...bar, time: bar.time + index * 49 * 86_400_000 })),
  ).flat();
  const dated = (bars: readonly SourceBar[]): string =>
    table(HEADER, bars, (bar) => line([day(bar.time), ...ohlcv(bar)]));

  it('uses every file of a series in a folder, and says which files it does not use', async () => {
    const parts = Array.from({ length: 7 }, (_, index) => long.slice(index * 100, (index + 1) * 100));
    const path = files('many', {
      ...Object.fromEntries(parts.map((bars, index) => [`SPY-1d-${index}.csv`, dated(bars)])),
      'README.md': '#',
    });
    const { code, stdout, stderr } = await backtest('--data', path);
    expect(code).toBe(0);
    expect(stdout).toContain(`SPY 1d, ${long.length} bars`);
    expect(stderr).toContain('Not used: README.md (');
  });

  it('finds a symbol in a file whose name does not show it', async () => {
    const text = dated(long).trimEnd().replaceAll('\n', ',SPY\n').replace('volume,SPY', 'volume,symbol');
    const { stdout } = await backtest('--data', files('unnamed', { 'download.csv': `${text},SPY\n` }));
    expect(stdout).toContain(`SPY 1d, ${long.length} bars`);
  });

  it('refuses bars of another symbol, by the name of the file', async () => {
    writeFileSync(at('GOOG-1d.csv'), dated(long));
    const { code, stderr } = await backtest('--bars', at('GOOG-1d.csv'));
    expect(code).toBe(1);
    expect(stderr).toContain(`GOOG-1d.csv holds bars of GOOG, by its name, and the run is on SPY.`);
    const way = /--bars (SPY:1d=\S+)\.\n/.exec(stderr)![1];
    expect((await backtest('--bars', way)).stdout).toContain(`SPY 1d, ${long.length} bars`);
  });

  it('answers the same series twice with a sentence', async () => {
    writeFileSync(at('SPY-1d.csv'), dated(long));
    const { code, stderr } = await backtest('--bars', at('SPY-1d.csv'), '--bars', at('SPY-1d.csv'));
    expect([code, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain('both hold SPY 1d. Give one of them');
  });

  it('warns of a file of closes alone', async () => {
    writeFileSync(
      at('closes.csv'),
      table('time,close', long, (bar) => line([day(bar.time), bar.close])),
    );
    const { code, stderr } = await backtest('--bars', at('closes.csv'));
    expect([code, stderr]).toEqual([0, expect.stringContaining('closes.csv: Warning: the file has one price per bar')]);
    const path = files('closes', {
      'SPY-1d.csv': table('time,close', long, (bar) => line([day(bar.time), bar.close])),
    });
    expect((await backtest('--data', path)).stderr).toContain('SPY-1d.csv: Warning: the file has one price per bar');
  });

  it('says where the options are that a refusal names', async () => {
    writeFileSync(at('slashes.csv'), dated(long).replaceAll(/(\d{4})-(\d\d)-(\d\d),/g, '01/02/$1,'));
    const { stderr } = await backtest('--bars', at('slashes.csv'));
    expect(stderr).toContain('--date-format DD/MM/YYYY or MM/DD/YYYY');
    expect(stderr).toContain('options of data import');
  });
});
