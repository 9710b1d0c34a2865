// The command line as a whole: help, wrong calls, wrong surroundings, and how each of them ends.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeVariables, readConfig, ROOT } from '../../src/config.ts';
import { formatTable } from '../../src/cli/output.ts';
import { callCommand, runCommand } from '../support/command.ts';

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
    expect(JSON.parse(first.stdout)).toEqual({ applied: files });
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
