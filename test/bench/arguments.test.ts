// The command lines of the benches: wrong ones are refused at once, with what is wrong and how the bench is used.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { containing } from '../../bench/commandLine.ts';
import { SUITES } from '../../bench/suites.ts';
import { ROOT } from '../../src/config.ts';
import { callScript, type ScriptEnd } from '../support/scriptCall.ts';

const node = (...args: string[]): Promise<ScriptEnd> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 170_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
const run = (file: string, ...args: string[]): Promise<ScriptEnd> => node(join(ROOT, 'bench', file), ...args);
const call = (file: string, ...args: string[]): Promise<ScriptEnd> => callScript(join(ROOT, 'bench', file), args);
async function callOn(platform: NodeJS.Platform, file: string): Promise<ScriptEnd> {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...own, value: platform });
  return call(file).finally(() => Object.defineProperty(process, 'platform', own));
}

const folders: string[] = [];
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
  folders.push(folder);
  return folder;
}
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

it.each([
  ['10000', ['sma/10000']],
  ['1000', []],
  ['0000', []],
  ['sma/10', []],
  ['sma', ['sma/10000', 'sma/1000000', 'SMA 10/30, fees/20000']],
  ['SMA 10/30, fees', ['SMA 10/30, fees/20000']],
  ['10/30', ['SMA 10/30, fees/20000']],
  ['', ['sma/10000', 'sma/1000000', 'SMA 10/30, fees/20000']],
  ['.', []],
])('names tasks by a part of their names, with whole numbers: %s', (text, found) => {
  expect(['sma/10000', 'sma/1000000', 'SMA 10/30, fees/20000'].filter(containing(text))).toEqual(found);
});

describe('the command line of a bench', () => {
  it('is read by a process of its own as it is read here', async () => {
    for (const args of [['--help'], ['--foo']])
      expect(await run('fills.ts', ...args)).toEqual(await call('fills.ts', ...args));
  });

  it.each<[string, string[], string]>([
    ['run.ts', ['nosuch'], 'There is no suite "nosuch". There are indicators,'],
    ['run.ts', [''], 'There is no suite "". There are indicators,'],
    ['run.ts', ['compile', '--task', 'nosuch'], 'No task\'s name contains "nosuch". There are:\n  compile/check:'],
    ['run.ts', ['--task', 'nosuch'], 'No task\'s name contains "nosuch". There are:\n  indicators/sma/10000'],
    ['whole.ts', ['--foo'], "Unknown option '--foo'."],
    ['run.ts', ['--task'], "Option '--task <value>' argument missing."],
    ['compare.ts', ['HEAD', '--minutes', 'x'], '--minutes takes a number above 0, not "x".'],
    ['compare.ts', ['HEAD', '--limit', '-1'], "Option '--limit' argument is ambiguous."],
    ['compare.ts', ['HEAD', 'queue'], 'There is no comparable suite "queue". There are indicators,'],
    ['compare.ts', [], 'Say which revision to compare with.'],
    ['compare.ts', [''], 'Say which revision to compare with.'],
    ['compare.ts', ['HEAD', 'fills', '--task', 'nosuch'], 'No task\'s name contains "nosuch". There are:\n  fills/'],
    ['compare.ts', ['HEAD', '--task', '--short'], "Option '--task' argument is ambiguous.\nUsage:"],
    ['fills.ts', ['--task', 'nosuch'], 'No task\'s name contains "nosuch". There are:\n  fills/'],
    ['fills.ts', ['--task', '10000'], 'No task\'s name contains "10000". There are:\n  fills/'],
    ['profile.ts', ['nosuch/x'], 'There is no profilable suite "nosuch". There are indicators,'],
    ['profile.ts', ['fills/nosuch'], 'No task\'s name contains "fills/nosuch". There are:\n  fills/'],
    ['profile.ts', [''], 'Say which task to profile.'],
    ['profile.ts', ['fills/SMA', '10/30'], "Unexpected argument '10/30'."],
    ['profile.ts', ['fills', '--out', '/dev/null/x'], '--out takes a folder that can be written to: ENOTDIR'],
    ['profile.ts', ['fills', '--seconds', '0'], '--seconds takes a number above 0, not "0".'],
    ['queue.ts', ['--runs', 'abc'], '--runs takes a whole number above 0, not "abc".'],
    ['queue.ts', ['--foo'], "Unknown option '--foo'."],
    ['queue.ts', ['--against', '/nonexistent'], '--against takes the folder of another checkout'],
    ['queue.ts', ['--against', ROOT], '--against takes the folder of another checkout'],
    ['queue.ts', ['--task', 'nosuch'], 'No task\'s name contains "nosuch". There are:\n  queue/'],
    ['memory.ts', ['nosuch'], "Unexpected argument 'nosuch'."],
    ['memory.ts', ['--bars', '1000,abc'], '--bars takes a whole number above 0, not "abc".'],
    ['warmUp.ts', ['nosuch'], 'No kind contains "nosuch". There are: pairs of averages, a share;'],
    ['warmUp.ts', ['stop', 'target'], "Unexpected argument 'target'."],
    ['warmUp.ts', ['--tries', '0'], '--tries takes a whole number above 0, not "0".'],
    ['warmUp.ts', ['--runs', '100'], '--runs takes whole hundreds from 200 on.'],
    ['peers/peers.ts', ['--bars', '999'], '--bars takes 1000 or more, not 999.'],
    ['peers/peers.ts', ['--only', 'foo'], 'There is no part "foo". There are kernels, patterns, whole, portfolios.'],
  ])('%s refuses %j', async (file, args, message) => {
    const { code, stderr } = await call(file, ...args);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('\nUsage: ');
  });

  it.each([
    'run.ts',
    'compare.ts',
    'profile.ts',
    'peers/peers.ts',
    'memory.ts',
    'warmUp.ts',
    ...SUITES.map((name) => `${name}.ts`),
  ])('%s explains itself with --help', async (file) => {
    const { code, stdout, stderr } = await call(file, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: .*--/);
  });

  it.each(['queue.ts', 'memory.ts', 'warmUp.ts'])('%s is refused where there is no /proc', async (file) => {
    const { code, stderr } = await callOn('darwin', file);
    expect(code).toBe(2);
    expect(stderr).toContain('It reads /proc, which only Linux has: this is darwin.\nUsage: ');
  });
});

describe.concurrent('a bench', () => {
  it('of peers says how to name a Python when there is none', async () => {
    const { code, stderr } = await run('peers/peers.ts', '--python', '/nonexistent');
    expect(code).toBe(1);
    expect(stderr).toContain('/nonexistent cannot be run');
    expect(stderr).toContain('Give --python COMMAND');
    expect(stderr).not.toContain('    at ');
  });

  it.runIf(spawnSync('python3', ['--version']).status === 0)(
    'of peers says what a Python lacks, without a trace',
    async () => {
      const folder = temporaryFolder();
      const python = join(folder, 'python');
      // Without site-packages, wherever it runs.
      writeFileSync(python, '#!/bin/sh\nexec python3 -S "$@"\n', { mode: 0o755 });
      const { code, stderr } = await run('peers/peers.ts', '--python', python);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^No module named '\w+'\.\nThe Python of the peers ended .* Give --python COMMAND/);
    },
  );

  it('does not pass a comparison in which nothing was measured', async () => {
    const other = temporaryFolder();
    writeFileSync(join(other, 'package.json'), '{}');
    symlinkSync(join(ROOT, 'node_modules'), join(other, 'node_modules'));
    const { code, stderr } = await run('compare.ts', other, 'fills', '--short');
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('No task was measured');
  });

  it('does not compare with a checkout whose packages are not installed, and says how to install them', async () => {
    const other = temporaryFolder();
    writeFileSync(join(other, 'package.json'), '{}');
    const { code, stderr } = await run('compare.ts', other, 'fills', '--short');
    expect({ code, stderr }).toEqual({ code: 2, stderr: `${other} has no packages. Run "npm ci" there first.\n` });
  });

  it('says which revision cannot be compared with, why, and how to find one', async () => {
    const { code, stderr } = await run('compare.ts', 'nosuch', 'fills', '--short');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^nosuch is neither a checkout's folder nor a revision of this repository \(.*fatal: .*\)\./,
    );
    expect(stderr).toContain('Give one that "git log" shows;');
  });

  it('says that a run did not succeed whose memory is measured', async () => {
    const { code, stderr } = await run('memory.ts', '--bars', '9007199254740991');
    expect(code).toBe(1);
    expect(stderr).toContain('on 9007199254740991 bars failed; --bars takes fewer.');
  });
});
