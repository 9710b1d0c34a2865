// docs/operations.md as an operator follows it, in a checkout of its own with the default DATA_DIR: every command is
// run as written, and every address, metric and file that the page names exists.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import { makeCheckout } from './support/checkout.ts';
import { createTestDatabase, withDatabase } from './support/database.ts';
import { cleanEnvironment } from './support/environment.ts';
import { answersOk, eventually } from './support/eventually.ts';
import { freePort } from './support/freePort.ts';
import { printedPattern, runShell, shellBlocks } from './support/shellBlocks.ts';
import type { ShellBlock } from './support/shellBlocks.ts';

const PAGE = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
const SECTIONS = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), shellBlocks(section)]),
);
const blocksOf = (...headings: string[]): ShellBlock[] => headings.flatMap((heading) => SECTIONS.get(heading)!);
/** The page has the default port, which may be taken where tests run. */
const DEFAULT_PORT = /\b8080\b/g;
const START_MS = 180_000;

let folder: string;
let port: string;
let env: Record<string, string>;
let server: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-operations-'));
  makeCheckout(folder);
  port = String(await freePort());
  // No DATA_DIR: the page must hold for its default.
  env = { PORT: port, WORKER_THREADS: '1' };
  server = spawn('npm', ['start'], { cwd: folder, env: cleanEnvironment(env), stdio: 'ignore', detached: true });
  await eventually(() => answersOk(`http://127.0.0.1:${port}/readyz`), { ms: START_MS });
}, START_MS + 10_000);
afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});
async function stop(): Promise<void> {
  if (server === undefined) return;
  const ended = once(server, 'exit');
  // Ctrl-C reaches every process of the terminal's group.
  process.kill(-server.pid!, 'SIGINT');
  await ended;
  server = undefined;
}

const run = new Set<ShellBlock>();
/** Runs the blocks with this port, and with this database where they name one. @returns what each has printed */
async function runBlocks(blocks: readonly ShellBlock[], more: Record<string, string> = {}): Promise<string[]> {
  expect(blocks.length).toBeGreaterThan(0);
  const adapted = blocks.map(({ commands, printed }) => ({
    commands: commands
      .replaceAll(DEFAULT_PORT, port)
      .replace(/^export DATABASE_URL=.*$/m, `export DATABASE_URL='${more.DATABASE_URL}'`),
    printed,
  }));
  const printed = await runShell(adapted, { cwd: folder, env: { ...env, ...more } });
  for (const [index, block] of adapted.entries())
    if (block.printed !== null) expect(printed[index], block.commands).toMatch(printedPattern(block.printed));
  for (const block of blocks) run.add(block);
  return printed;
}
/** What a command prints, for what the page does not show. */
const candlepool = async (args: string, more: Record<string, string> = {}): Promise<string> =>
  (
    await runShell([{ commands: `bin/candlepool ${args}\n`, printed: null }], { cwd: folder, env: { ...env, ...more } })
  )[0];

const clientVersion = Number(/(\d+)\./.exec(String(spawnSync('pg_dump', ['--version']).stdout))?.[1] ?? 0);
/** .ci/run installs them. */
const hasPostgresTools = clientVersion >= 18;
const isOfDatabase = ({ commands }: ShellBlock): boolean => commands.includes('"$DATABASE_URL"');

describe('docs/operations.md', { timeout: 600_000 }, () => {
  it('names metrics that the running service has', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    const named = [...PAGE.matchAll(/`((?:candlepool|nodejs)_\w+[a-z])`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !text.includes(name))).toEqual([]);
  });

  it('names addresses that the running service answers', async () => {
    const named = [...PAGE.matchAll(/`(?:GET )?(\/[a-z][\w./]*)`/g)].map(([, path]) => path);
    expect(named.length).toBeGreaterThan(6);
    const statuses = await Promise.all(
      // A folder of addresses stands for one that lies in it.
      named.map(async (path) => {
        const asked = { '/public/': '/public/v1', '/workspaces/': '/workspaces/none/api-keys' }[path] ?? path;
        return [path, (await fetch(`http://127.0.0.1:${port}${asked}`)).status] as const;
      }),
    );
    expect(statuses.filter(([, status]) => ![200, 401].includes(status))).toEqual([]);
  });

  it('names files that exist', () => {
    const named = [...PAGE.matchAll(/`(src\/[\w/.]+)`/g)].map(([, path]) => path);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('runs on one machine: health, metrics, retention and limits', async () => {
    const [start] = blocksOf('One machine');
    expect(start.commands).toBe('npm ci\nnpm start\n');
    run.add(start);
    await runBlocks(blocksOf('Health', 'Metrics and alerts', 'Retention', 'Limits'));
  });

  it('runs with the service stopped: backup and restore of a folder', async () => {
    expect(await candlepool('workspace list')).toContain('\tsmall\tplus\t');
    const before = await candlepool('data list --json');
    await stop();
    const printed = await runBlocks(blocksOf('Backup and restore').filter((block) => !isOfDatabase(block)));
    // The workspace that the commands of "Limits" have made, and the market data.
    expect(printed.at(-1)).toContain('\tsmall\tplus\t');
    expect(await candlepool('data list --json', { DATA_DIR: 'restored' })).toBe(before);
    expect(existsSync(join(folder, '.candlepool', 'postgres', 'cluster'))).toBe(true);
  });

  it('backs up and restores a folder that DATA_DIR names', async () => {
    const blocks = blocksOf('Backup and restore').filter((block) => !isOfDatabase(block));
    await rm(join(folder, 'restored'), { recursive: true });
    await rename(join(folder, '.candlepool'), join(folder, 'elsewhere'));
    const printed = await runBlocks(blocks, { DATA_DIR: 'elsewhere' });
    expect(printed.at(-1)).toContain('\tsmall\tplus\t');
    await rename(join(folder, 'elsewhere'), join(folder, '.candlepool'));
  });

  it('runs on many machines, and after an upgrade', async () => {
    await using database = await createTestDatabase();
    expect(blocksOf('Many machines')[0].commands).toContain('export DATABASE_URL=postgresql://');
    await runBlocks([...blocksOf('Many machines'), ...blocksOf('Upgrade')], { DATABASE_URL: database.url });
  });

  it.runIf(hasPostgresTools)('runs with PostgreSQL’s client tools: backup and restore of a database', async () => {
    await using database = await createTestDatabase();
    const blocks = blocksOf('Backup and restore').filter(isOfDatabase);
    expect(blocks).toHaveLength(2);
    const original = { DATABASE_URL: database.url };
    await candlepool('workspace create --name kept --tier pro', original);
    const csv = 'time,open,high,low,close,volume\n2020-01-02,1,2,1,2,5\n2020-01-03,2,3,1,2,5\n2020-01-06,2,3,1,2,5\n';
    writeFileSync(join(folder, 'KEPT-1d.csv'), csv);
    await candlepool('data import KEPT-1d.csv --symbol KEPT --timeframe 1d', original);
    const before = await candlepool('data list --json', original);
    await runBlocks([blocks[0]], original);
    const restored = `${new URL(database.url).pathname.slice(1)}_restored`;
    await database.sql.unsafe(`create database ${restored}`);
    // A host that has none of the files: what was imported comes from the database.
    const target = { DATABASE_URL: withDatabase(database.url, restored), DATA_DIR: join(folder, 'fresh') };
    await runBlocks([blocks[1]], target);
    expect(await candlepool('workspace list', target)).toContain('\tkept\tpro\t');
    expect(before).toContain('"KEPT"');
    expect(await candlepool('data list --json', target)).toBe(before);
    expect(await candlepool('data export --symbol KEPT --timeframe 1d', target)).toContain('2020-01-06');
    await database.sql.unsafe(`drop database ${restored} with (force)`);
  });

  it('has no command that is not run', () => {
    const skipped = [...SECTIONS.values()].flat().filter((block) => !run.has(block));
    expect(skipped.filter((block) => !isOfDatabase(block) || hasPostgresTools)).toEqual([]);
    // Commands stand in blocks that this test runs, not in indented ones that it would overlook.
    expect(PAGE).not.toMatch(/^ {4}\S/m);
  });
});
