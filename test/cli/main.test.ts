// The command line as a whole: help, wrong calls, wrong surroundings, and how each of them ends.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { describeVariables, readConfig, ROOT } from '../../src/config.ts';
import { formatTable } from '../../src/cli/output.ts';
import { waitForDatabase } from '../../src/db/availability.ts';
import type { Log } from '../../src/log.ts';
import { callCommand, runCommand, startCommand } from '../support/command.ts';
import { freePort } from '../support/freePort.ts';

it('names every command of src/cli under --help without loading them', async () => {
  const { code, stdout } = await runCommand(['--help']);
  expect(code).toBe(0);
  for (const name of [
    'serve',
    'api',
    'worker',
    'migrate',
    'workspace',
    'member',
    'token',
    'keys',
    'data',
    'validate',
  ]) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(existsSync(join(ROOT, 'src', 'cli', `${name}.ts`))).toBe(true);
  }
});

it.each([[['serve', '--help']], [['help', 'serve']]])('shows the options of serve for %j', async (args) => {
  const { code, stdout } = await callCommand(args);
  expect(code).toBe(0);
  expect(stdout).toContain('--port <port>');
});

it.each([[['nonsense']], [['serve', '--port', '70000']], [['serve', '--nonsense']], [['keys', 'list']]])(
  'exits with 2 for the invalid call %j, with nothing on stdout',
  async (args) => {
    const { code, stdout, stderr } = await callCommand(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
  },
);

it.each(['worker', 'sweep', 'robustness'])('gives %s as many threads as WORKER_THREADS may name', async (command) => {
  const { code, stderr } = await callCommand([command, '--threads', '513']);
  expect(code).toBe(2);
  expect(stderr).toContain('Give a whole number from 1 to 512.');
  expect(() => readConfig({ WORKER_THREADS: '513' })).toThrow('WORKER_THREADS=513');
  expect(readConfig({ WORKER_THREADS: '512' }).workerThreads).toBe(512);
});

it('prints the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(await callCommand(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
});

it.each([[['backtset']], [['backtset', '--help']], [['help', 'backtset']]])(
  'answers the unknown command of %j with the one it is like',
  async (args) => {
    const { code, stdout, stderr } = await callCommand(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: unknown command 'backtset'\n\(Did you mean backtest\?\)/);
  },
);

it('reports an invalid call in JSON with --json', async () => {
  const { code, stderr } = await callCommand(['keys', 'list', '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: 'USAGE', message: expect.stringContaining('--workspace') },
  });
});

it.each(['backtest', 'sweep'])('describes %s without loading Postgres and its queue', async (command) => {
  const code = `import { registerHooks } from 'node:module';
    const refused = /node_modules.(graphile-worker|pg)[^a-z-]/;
    const load = (url, context, next) => { if (refused.test(url)) throw new Error(url); return next(url, context); };
    registerHooks({ load });`;
  const { stdout, stderr } = await runCommand([command, '--help'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('--strategy <file>');
});

it('names every invalid environment variable at once, with exit code 2', async () => {
  const { code, stderr } = await runCommand(['workspace', 'list'], {
    PORT: 'x',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'file:x',
  });
  expect(code).toBe(2);
  for (const name of ['PORT=x: give a whole number from 0 to 65535', 'LOG_LEVEL=loud', 'DATABASE_URL=file:x'])
    expect(stderr).toContain(name);
});

it('says what an invalid environment variable may be', async () => {
  const { stderr } = await runCommand(['serve'], { PORT: '99999', WARM_UP: 'maybe', PUBLIC_URL: 'here' });
  expect(stderr).toContain(
    'PORT=99999: give a whole number from 0 to 65535; PUBLIC_URL=here: give an address that begins with http:// or ' +
      'https://; WARM_UP=maybe: give one of on, off. Correct or unset them;',
  );
});

it.each([
  ['https://example.com/?tenant=1', 'PUBLIC_URL=https://example.com/?tenant=1: give an address without ? and #'],
  ['https://example.com/#top', 'PUBLIC_URL=https://example.com/#top: give an address without ? and #'],
  ['https://me:secret@example.com', 'PUBLIC_URL=https://…@example.com: leave out the user and the password'],
  ['https://example.com/public/v1', 'PUBLIC_URL=https://example.com/public/v1: end the address before /public'],
  ['ftp://example.com', 'PUBLIC_URL=ftp://example.com: give an address that begins with http:// or https://'],
  ['https://', 'PUBLIC_URL=https://: give an address that begins with http:// or https://'],
  ['example.com/candlepool', 'PUBLIC_URL=example.com/candlepool: give an address that begins with http:// or https://'],
])('refuses to start with PUBLIC_URL=%s, and says what is wrong', async (PUBLIC_URL, message) => {
  const { code, stderr } = await runCommand(['serve'], { PUBLIC_URL });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

it('answers mcp without a key as wrong usage', async () => {
  const { code, stderr } = await runCommand(['mcp'], { CANDLEPOOL_API_KEY: '' });
  expect([code, stderr]).toEqual([2, expect.stringContaining('Set CANDLEPOOL_API_KEY or pass --key')]);
});

it('names a database that does not answer in a sentence, with exit code 1', async () => {
  const { code, stderr } = await runCommand(['workspace', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:1/x' });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Nothing answers at 127.0.0.1:1. Check that the database is running and that DATABASE_URL is right.',
  );
  expect(stderr).not.toContain('    at ');
});

it('names the address at once when serve is started without its database, and never the password', async () => {
  const url = `postgres://u:secret@127.0.0.1:${await freePort()}/x`;
  const server = startCommand(['serve', '--port', '0'], { DATABASE_URL: url });
  const [first] = (await once(createInterface(server.stderr), 'line')) as [string];
  server.kill('SIGTERM');
  await once(server, 'exit');
  expect(JSON.parse(first)).toMatchObject({
    reason:
      `Nothing answers at ${new URL(url).host}. ` +
      'Check that the database is running and that DATABASE_URL is right.',
    msg: 'the database does not answer, trying for 15 more seconds',
  });
  expect(first).not.toMatch(/secret|stack/);
});

it('gives up on a database that does not answer within the time of a start', async () => {
  const url = `postgres://u:secret@127.0.0.1:${await freePort()}/x`;
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Log;
  const waiting = waitForDatabase(url, new AbortController().signal, log, 300);
  await expect(waiting).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(warnings).toHaveLength(1);
});

it.each([
  ['postgres://u:sec#ret@127.0.0.1/x', 'postgres://…@127.0.0.1/x: write characters such as # / ? @ % of a password'],
  ['postgres://u:sec%ret@127.0.0.1/x', 'postgres://…@127.0.0.1/x: write characters such as # / ? @ % of a password'],
  ['mysql://u:sec@ret@host/x', 'mysql://…@host/x: must begin with postgres:// or postgresql://'],
])('refuses DATABASE_URL=%s without a stack or its password', async (url, message) => {
  const { code, stderr } = await callCommand(['migrate'], { DATABASE_URL: url });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: Environment: DATABASE_URL=${message}`)]);
  expect(stderr).not.toMatch(/sec|    at /);
});

it('does not print a METRICS_TOKEN that is too short', async () => {
  const { stderr } = await callCommand(['migrate'], { METRICS_TOKEN: 'hunter2' });
  expect(stderr).toContain('METRICS_TOKEN=…: must have at least 16 characters');
});

it.each(['serve', 'api'])('names a host that is not of this machine before %s starts anything', async (command) => {
  const { code, stderr } = await runCommand([command, '--host', '203.0.113.1', '--port', '0']);
  expect([code, stderr]).toEqual([
    1,
    'error: 203.0.113.1 is not an address of this machine. Give 127.0.0.1, or 0.0.0.0 for every network, as --host ' +
      'or HOST.\n',
  ]);
});

it('migrates an embedded database that it starts and stops itself, and says what it did', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-migrate-'));
  try {
    const files = (await readdir(join(ROOT, 'migrations'))).filter((name) => name.endsWith('.sql')).toSorted();
    const first = await runCommand(['migrate', '--json'], { DATA_DIR: folder });
    const functions = (await readdir(join(ROOT, 'src', 'db', 'functions'))).map((name) => name.replace(/\.sql$/, ''));
    expect(JSON.parse(first.stdout)).toEqual({ applied: files, functions: functions.toSorted() });
    expect(existsSync(join(folder, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
    const second = await callCommand(['migrate'], { DATA_DIR: folder });
    expect(second.stdout).toBe('The schema is already current.\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('treats an empty variable as absent', () => {
  expect(readConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ databaseUrl: undefined, port: 8080 });
});

it('describes every variable, for the table of the README', () => {
  for (const { name, meaning } of describeVariables()) expect([name, meaning.length > 10]).toEqual([name, true]);
});

it('aligns a table on a terminal, and prints one line per row without titles in a pipe', () => {
  const columns = [
    { title: 'name', value: (row: { name: string; count: number | null }) => row.name },
    { title: 'count', value: (row: { name: string; count: number | null }) => row.count, align: 'right' as const },
  ];
  const rows = [
    { name: 'a\tb', count: 7 },
    { name: 'long name', count: null },
  ];
  expect(formatTable(columns, rows, false)).toBe('a b\t7\nlong name\t\n');
  expect(formatTable(columns, rows, true).split('\n').slice(1)).toEqual(['a\tb            7', 'long name      –', '']);
});

it('breaks the list of scopes at 80 columns', async () => {
  const { stdout } = await runCommand(['keys', 'create', '--help']);
  expect(stdout).toContain('workspace_read');
  for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
});
