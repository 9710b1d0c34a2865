// The files that `candlepool backtest` writes: what the API has, in the format of the extension, whole or not at all.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, CROSS_GRAPH } from '../../src/cli/demoStrategies.ts';
import { writeOutputs } from '../../src/cli/outputFiles.ts';
import { ROOT } from '../../src/config.ts';
import { callCommand } from '../support/command.ts';
import { cleanEnvironment } from '../support/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
const at = (name: string): string => join(folder, name);
const INPUTS = ['backtest', '--strategy', at('strategy.json'), '--config', at('config.json')];
beforeAll(() => {
  writeFileSync(at('strategy.json'), JSON.stringify(CROSS_GRAPH));
  writeFileSync(at('config.json'), JSON.stringify(configOf('SPX', '1d')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Row = Readonly<Record<string, unknown>>;
const csvRows = (name: string): string[][] =>
  readFileSync(at(name), 'utf8')
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
const arrow = (name: string) => tableFromIPC(readFileSync(at(name)));

describe('backtest', () => {
  it('writes each artifact in the format of its extension, all from one run', async () => {
    const names = ['r.html', 't.csv', 'e.arrow', 'o.feather', 's.json'];
    const [report, trades, equity, orders, signals] = names.map(at);
    const options = [
      '--report',
      report,
      '--trades',
      trades,
      '--equity',
      equity,
      '--orders',
      orders,
      '--signals',
      signals,
    ];
    const { code, stdout, stderr } = await callCommand([...INPUTS, ...options, '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const result = JSON.parse(stdout) as { summaryJson: Row; trades: readonly Row[] };
    expect(result.trades.length).toBeGreaterThan(0);

    const [header, ...rows] = csvRows('t.csv');
    const column = (name: string): string[] => rows.map((row) => row[header.indexOf(name)]);
    expect(column('pnl').map(Number)).toEqual(result.trades.map((trade) => trade.pnl));
    expect(column('entryTime').map(Number)).toEqual(result.trades.map((trade) => trade.entryTime));

    const equityColumn = arrow('e.arrow').getChild('equity')!;
    expect(equityColumn.get(equityColumn.length - 1)).toBe(result.summaryJson.finalEquity);
    expect(arrow('o.feather').numRows).toBeGreaterThanOrEqual(result.trades.length);
    const signalRows = JSON.parse(readFileSync(signals, 'utf8')) as readonly Row[];
    expect(signalRows.length).toBe(arrow('e.arrow').numRows);
    const page = readFileSync(report, 'utf8');
    expect(page).toMatch(/^<!doctype html>/i);
    expect(page).toContain('Two means');
  });

  it('heads the report with the name in the request body', async () => {
    writeFileSync(at('body.json'), JSON.stringify({ name: 'Golden goose', signalGraph: CROSS_GRAPH }));
    const { code } = await callCommand([...INPUTS, '--strategy', at('body.json'), '--report', at('named.html')]);
    expect(code).toBe(0);
    expect(readFileSync(at('named.html'), 'utf8')).toContain('<title>Golden goose: backtest of SPX</title>');
  });

  it.runIf(existsSync('/dev/full'))('says that the disk is full when its output goes to a file on it', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(join(ROOT, 'bin', 'candlepool'), INPUTS, {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
      env: cleanEnvironment(),
    });
    closeSync(full);
    expect([status, stderr]).toEqual([
      1,
      'error: The disk is full: the output could not be written. Free some space.\n',
    ]);
  });

  it('counts one bar in the singular', async () => {
    writeFileSync(at('one.csv'), 'time,open,high,low,close,volume\n2024-01-01,1,1,1,1,1\n');
    const { stdout } = await callCommand([...INPUTS, '--bars', `SPX:1d=${at('one.csv')}`]);
    expect(stdout).toContain('SPX 1d, 1 bar, 0 trades\n');
  });

  it('prints which files it wrote, and leaves no temporary ones', async () => {
    mkdirSync(at('said'));
    const { stdout } = await callCommand([...INPUTS, '--trades', at('said/t.json'), '--out', at('said/out')]);
    const written = ['daily.csv', 'strategy.json', 'summary.json', 'trades.json'];
    for (const name of ['said/t.json', ...written.map((each) => `said/out/${each}`)])
      expect(stdout).toContain(`wrote ${at(name)}\n`);
    expect(readdirSync(at('said')).toSorted()).toEqual(['out', 't.json']);
    expect(readdirSync(at('said/out')).toSorted()).toEqual(written);
  });

  it('keeps the labels of the run in its result, and has none without them', async () => {
    const labels = { name: 'Base case', tags: ['spx', 'candidate'], note: 'Before costs.' };
    const options = ['--name', labels.name, '--tags', 'spx, candidate', '--note', labels.note, '--out', at('labeled')];
    const labeled = JSON.parse((await callCommand([...INPUTS, ...options, '--json'])).stdout) as Row;
    const plain = JSON.parse((await callCommand([...INPUTS, '--json'])).stdout) as Row;
    expect(labeled).toEqual({ labels, ...plain });
    expect(JSON.parse(readFileSync(at('labeled/summary.json'), 'utf8'))).toMatchObject({ labels });
  });

  it.each([
    ['the same tag twice', ['--tags', 'a,a'], 'Give up to 20 different tags of 1 to 40 characters'],
    ['an empty name', ['--name', ' '], 'Give 1 to 200 characters.'],
    ['an unknown extension', ['--trades', at('t.xlsx')], '.json, .csv, .arrow, .feather'],
    ['no extension', ['--equity', at('equity')], '.json, .csv, .arrow, .feather'],
    ['a report that is not a page', ['--report', at('r.pdf')], '.html'],
    ['a folder that does not exist', ['--trades', at('absent/t.csv')], `There is no folder ${at('absent')}`],
    ['a folder in place of a file', ['--trades', at('folder.csv')], `${at('folder.csv')} is a folder`],
    ['one file for two artifacts', ['--trades', at('x.csv'), '--equity', at('x.csv')], 'named for two files'],
  ])('refuses %s before it runs: exit code 2', async (_, options, message) => {
    mkdirSync(at('folder.csv'), { recursive: true });
    const { code, stdout, stderr } = await callCommand([...INPUTS, ...options]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('refuses an --out that cannot be created', async () => {
    const { code, stdout, stderr } = await callCommand([...INPUTS, '--out', '/proc/x']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'error: The folder /proc/x cannot be created: the file system does not allow folders there. Choose another ' +
        'folder with --out.\n',
    );
  });

  it('writes nothing when the run fails', async () => {
    writeFileSync(at('empty.json'), JSON.stringify({ ...configOf('SPX', '1d'), range: { start: '2100-01-01' } }));
    const inputs = ['backtest', '--strategy', at('strategy.json'), '--config', at('empty.json')];
    const { code, stderr } = await callCommand([...inputs, '--trades', at('none.csv')]);
    expect(code).toBe(1);
    expect(stderr).toContain('The range holds no 1d bars of SPX');
    expect(existsSync(at('none.csv'))).toBe(false);
  });
});

describe('writing several files', () => {
  it('keeps the existing files when one of them cannot be written', async () => {
    writeFileSync(at('kept.csv'), 'before');
    const files = [
      { path: at('kept.csv'), content: 'after' },
      { path: at('absent/b.csv'), content: 'after' },
    ];
    await expect(writeOutputs(files)).rejects.toThrow('ENOENT');
    expect(readFileSync(at('kept.csv'), 'utf8')).toBe('before');
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });
});

it('names the file that cannot be written, not the temporary one', async () => {
  const path = at('absent/trades.csv');
  await expect(writeOutputs([{ path, content: '' }])).rejects.toMatchObject({ code: 'ENOENT', path });
});
