// Hints of the command line: misspelled options get their suggestion, and commands are named as they can be typed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commandName, databaseCommandName, quotedJson, serveCommandWith } from '../../src/cli/invocation.ts';
import { readLaunch, ROOT } from '../../src/config.ts';
import { callCommand } from '../support/command.ts';
import { startOnTerminal } from '../support/terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a misspelled option', () => {
  it.each([
    [['backtest', '--stratgy', 'a.json', '--config', 'b.json'], '--strategy'],
    [['backtest', '--strategy', 'a.json', '--confg', 'b.json'], '--config'],
    [['validate', '--strateg', 'a.json'], '--strategy'],
    [['keys', 'list', '--workspce', '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f'], '--workspace'],
    [['data', 'show', '--symbl', 'SPX', '--timeframe', '1d'], '--symbol'],
  ])('is answered with the intended one: %j', async (args, meant) => {
    const { code, stdout, stderr } = await callCommand(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('unknown option');
    expect(stderr).toContain(`(Did you mean ${meant}?)`);
  });

  it('is suggested in JSON too', async () => {
    const { stderr } = await callCommand(['validate', '--stratgy', 'a.json', '--json']);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'USAGE', message: expect.stringContaining('--strategy?') },
    });
  });
});

it.each([
  [['validate', 'a.json'], '"a.json" stands without an option. Write --strategy a.json.'],
  [
    ['backtest', 'a.json', 'my config.json'],
    '"a.json" and "my config.json" stand without an option. Write --strategy a.json --config "my config.json".',
  ],
  [['data', 'show', 'SPX'], '"SPX" stands without an option. Write --symbol SPX --timeframe <timeframe>.'],
  [['validate', '--strategy', 'a.json', 'b'], '"b" stands without an option; remove it, or name the option.'],
])('says which options the arguments of %j belong to', async (args, message) => {
  const { code, stderr } = await callCommand(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${message}\n`)]);
});

it('names all missing required options at once', async () => {
  const { code, stderr } = await callCommand(['backtest']);
  expect(code).toBe(2);
  expect(stderr).toContain('error: --strategy <file> and --config <file> are required.');
});

it('quotes JSON as the shell of the system reads it', () => {
  expect(quotedJson('{"length":14}', 'linux')).toBe(`'{"length":14}'`);
  expect(quotedJson('{"length":14}', 'win32')).toBe('"{\\"length\\":14}"');
});

describe('the name of the command', () => {
  const launch = {
    npmCommand: undefined,
    npmScript: undefined,
    searchPath: '/usr/bin:/bin',
    dataDir: undefined,
    hasDatabaseUrl: false,
  };

  it('is the path from the current folder to bin/candlepool', () => {
    expect(commandName(launch, ROOT)).toBe('bin/candlepool');
    expect(commandName(launch, join(ROOT, 'bin'))).toBe('./candlepool');
    expect(commandName(launch, '/')).toBe(join(ROOT, 'bin', 'candlepool').slice(1));
    expect(commandName(launch, join(dirname(ROOT), 'elsewhere'))).toBe(join(ROOT, 'bin', 'candlepool'));
  });

  it('is candlepool where PATH leads to it, and npx candlepool under npx', () => {
    symlinkSync(join(ROOT, 'bin', 'candlepool'), join(folder, 'candlepool'));
    expect(commandName({ ...launch, searchPath: `/bin:${folder}` }, '/')).toBe('candlepool');
    expect(commandName({ ...launch, npmCommand: 'exec' }, '/')).toBe('npx candlepool');
  });

  it('is npm start for the server, if npm started it', () => {
    const script = 'exec node scripts/node24.mjs src/main.ts serve';
    const environment = {
      npm_command: 'start',
      npm_lifecycle_event: 'start',
      npm_lifecycle_script: script,
      PATH: '/bin',
    };
    expect(serveCommandWith('--port 0', 'serve', readLaunch(environment))).toBe('npm start -- --port 0');
    expect(readLaunch({ ...environment, npm_lifecycle_script: 'other' })).toMatchObject({ npmScript: undefined });
    expect(serveCommandWith('--port 0', 'api', launch)).toMatch(/bin\/candlepool api --port 0$/);
  });

  it('is preceded by DATA_DIR where it needs the database, so that another shell finds the same one', () => {
    expect(databaseCommandName(launch, ROOT)).toBe('bin/candlepool');
    expect(databaseCommandName({ ...launch, dataDir: '/srv/pool' }, ROOT)).toBe('DATA_DIR=/srv/pool bin/candlepool');
    expect(databaseCommandName({ ...launch, dataDir: "my pool's" }, ROOT)).toBe(
      `DATA_DIR='${join(ROOT, "my pool'\\''s")}' bin/candlepool`,
    );
    expect(readLaunch({ DATA_DIR: '/srv/pool' }).dataDir).toBe('/srv/pool');
    expect(readLaunch({ DATA_DIR: '/srv/pool', DATABASE_URL: 'postgres://db/pool' }).dataDir).toBeUndefined();
    expect(readLaunch({ DATA_DIR: '' }).dataDir).toBeUndefined();
  });

  it('is preceded by DATABASE_URL where that is set, without its password, and fails in a shell that has none', () => {
    const hosted = readLaunch({ DATABASE_URL: 'postgres://pool:secret@db/pool' });
    const command = databaseCommandName({ ...launch, hasDatabaseUrl: hosted.hasDatabaseUrl }, ROOT);
    expect(command).toBe('DATABASE_URL=${DATABASE_URL:?} bin/candlepool');
    const typed = (env: NodeJS.ProcessEnv) =>
      spawnSync('/bin/sh', ['-c', command.replace('bin/candlepool', 'printenv DATABASE_URL')], {
        env,
        encoding: 'utf8',
      });
    expect(typed({ PATH: process.env.PATH }).stderr).toContain('DATABASE_URL');
    expect(typed({ PATH: process.env.PATH, DATABASE_URL: 'postgres://a b/$c' }).stdout).toBe('postgres://a b/$c\n');
  });

  it('appears in help, in hints and in errors', async () => {
    const name = commandName(readLaunch());
    expect((await callCommand(['--help'])).stdout).toContain(`Usage: ${name} [options] [command]`);
    expect((await callCommand(['validate'])).stderr).toContain(`(${name} validate --help describes the options)`);
  });
});

it.each([40, 60, 100])('wraps the help of every command to a terminal of %d columns', async (columns) => {
  for (const command of ['sweep', 'data import', 'backtest']) {
    const run = startOnTerminal([process.execPath, 'src/main.ts', ...command.split(' '), '--help'], {}, columns);
    expect(await run.ended).toBe(0);
    const lines = run.screen().split(/\r?\n/);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.length > columns && !line.startsWith('Usage:'))).toEqual([]);
  }
});
