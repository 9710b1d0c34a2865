// The command line as a whole: help, wrong calls, wrong surroundings, and how each of them ends.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeVariables, readConfig, ROOT } from '../../src/config.ts';
import { formatTable } from '../../src/cli/output.ts';
import { runCommand } from '../support/command.ts';

test('--help names every command of src/cli and loads none of them', async () => {
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

test.each([[['serve', '--help']], [['help', 'serve']]])('%j shows the options of serve', async (args) => {
  const { code, stdout } = await runCommand(args);
  expect(code).toBe(0);
  expect(stdout).toContain('--port <port>');
});

test.each([[['nonsense']], [['serve', '--port', '70000']], [['serve', '--nonsense']], [['keys', 'list']]])(
  '%j is a wrong call: exit code 2, nothing on stdout',
  async (args) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
  },
);

test('with --json a wrong call is told in JSON', async () => {
  const { code, stderr } = await runCommand(['keys', 'list', '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: 'USAGE', message: expect.stringContaining('--workspace') },
  });
});

test('a wrong environment names every variable at once, exit code 2', async () => {
  const { code, stderr } = await runCommand(['workspace', 'list'], {
    PORT: 'x',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'file:x',
  });
  expect(code).toBe(2);
  for (const name of ['PORT=x', 'LOG_LEVEL=loud', 'DATABASE_URL=file:x']) expect(stderr).toContain(name);
});

test('a database that does not answer is told in words, exit code 1', async () => {
  const { code, stderr } = await runCommand(['workspace', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:1/x' });
  expect(code).toBe(1);
  expect(stderr).toContain('Nothing answers at 127.0.0.1:1. Is the database running, and DATABASE_URL right?');
  expect(stderr).not.toContain('    at ');
});

test('migrate says what it did, on an embedded database it starts and stops itself', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-migrate-'));
  try {
    const files = (await readdir(join(ROOT, 'migrations'))).filter((name) => name.endsWith('.sql')).toSorted();
    const first = await runCommand(['migrate', '--json'], { DATA_DIR: folder });
    expect(JSON.parse(first.stdout)).toEqual({ applied: files });
    expect(existsSync(join(folder, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
    const second = await runCommand(['migrate'], { DATA_DIR: folder });
    expect(second.stdout).toBe('Nothing to do: the schema is current.\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('an empty variable counts as absent', () => {
  expect(readConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ databaseUrl: undefined, port: 8080 });
});

test('every variable is described, for the table of the README', () => {
  for (const { name, meaning } of describeVariables()) expect([name, meaning.length > 10]).toEqual([name, true]);
});

test('a table is aligned on a terminal, and in a pipe one line a row without titles', () => {
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
