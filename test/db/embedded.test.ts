// The embedded Postgres among processes that start together, are killed, and leave in any order.
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { startEmbedded, stopEmbedded } from '../../src/db/embedded.ts';
import { chooseIdentity } from '../../src/db/embeddedIdentity.ts';
import { isAlive } from '../../src/db/processes.ts';

const CHILD = new URL('../support/embeddedChild.ts', import.meta.url).pathname;
let folder: string;
const children: ChildProcessWithoutNullStreams[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-embedded-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await stopEmbedded(folder);
  // An initdb whose parent was killed may write for a moment more.
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

type Started = { readonly isStarter: boolean; readonly ms: number };

async function startChild(kind = 'owner'): Promise<Started & { child: ChildProcessWithoutNullStreams }> {
  const child = spawn(process.execPath, [CHILD, folder, kind]);
  children.push(child);
  let faults = '';
  child.stderr.on('data', (chunk) => (faults += String(chunk)));
  for await (const line of createInterface(child.stdout)) return { ...(JSON.parse(line) as Started), child };
  throw new Error(`the child ended: ${faults}`);
}

async function leave(child: ChildProcessWithoutNullStreams): Promise<void> {
  child.stdin.end();
  await once(child, 'exit');
}

async function postmasterPid(home = join(folder, 'postgres')): Promise<number | null> {
  const text = await readFile(join(home, 'cluster', 'postmaster.pid'), 'utf8').catch(() => null);
  return text === null ? null : Number(text.split('\n')[0]);
}

async function answers(url: string): Promise<string> {
  const sql = connect(url, { max: 1 });
  const rows = await sql<{ text: string }[]>`select string_agg(name, ' ' order by name) as text from things`;
  await sql.end();
  return rows[0].text;
}

async function write(url: string, name: string): Promise<void> {
  const sql = connect(url, { max: 1 });
  await sql`create table if not exists things (name text)`;
  await sql`insert into things values (${name})`;
  await sql.end();
}

test('a first start makes a cluster in folders nobody else can enter, and disposing stops the server', async () => {
  const server = await startEmbedded(folder);
  expect(server.isStarter).toBe(true);
  await write(server.url, 'one');
  expect((await stat(join(folder, 'postgres'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'postgres', 'socket'))).mode & 0o777).toBe(0o700);
  const pid = await postmasterPid();
  await server[Symbol.asyncDispose]();
  expect(isAlive(Number(pid))).toBe(false);
  const again = await startEmbedded(folder);
  expect(await answers(again.url)).toBe('one');
  await again[Symbol.asyncDispose]();
});

test('it listens on no network address', async () => {
  await using server = await startEmbedded(folder);
  const sql = connect(server.url, { max: 1 });
  const [row] = await sql`select current_setting('listen_addresses') as addresses`;
  await sql.end();
  expect(row.addresses).toBe('');
});

test('of five processes that start at once one starts the server and four adopt it', async () => {
  const started = await Promise.all(Array.from({ length: 5 }, () => startChild()));
  expect(started.filter((each) => each.isStarter)).toHaveLength(1);
  const leftovers = (await readdir(join(folder, 'postgres'))).filter((name) => name.startsWith('cluster.'));
  expect(leftovers).toEqual([]);
});

test('who adopted the server leaves it running, who started it stops it', async () => {
  const owner = await startChild();
  const guest = await startChild();
  expect([owner.isStarter, guest.isStarter]).toEqual([true, false]);
  expect(guest.ms).toBeLessThan(1_000);
  await leave(guest.child);
  expect(isAlive(Number(await postmasterPid()))).toBe(true);
  await leave(owner.child);
  expect(await postmasterPid()).toBeNull();
});

test('a short command that started the server leaves it to a process that has come to use it', async () => {
  const command = await startChild('transient');
  const server = await startChild();
  expect([command.isStarter, server.isStarter]).toEqual([true, false]);
  await leave(command.child);
  expect(isAlive(Number(await postmasterPid()))).toBe(true);
  // The starter is gone, so the last one stops it.
  await leave(server.child);
  expect(await postmasterPid()).toBeNull();
});

test('an owner that was killed leaves a server that the next one adopts and stops', async () => {
  const owner = await startChild();
  owner.child.kill('SIGKILL');
  await once(owner.child, 'exit');
  const heir = await startChild();
  expect(heir.isStarter).toBe(false);
  await leave(heir.child);
  expect(await postmasterPid()).toBeNull();
});

test('after kill -9 of the server what was committed is there, and the next start does not wait for a person', async () => {
  const server = await startEmbedded(folder);
  await write(server.url, 'kept');
  process.kill(Number(await postmasterPid()), 'SIGKILL');
  const begun = performance.now();
  const next = await startEmbedded(folder);
  expect(await answers(next.url)).toBe('kept');
  expect(performance.now() - begun).toBeLessThan(15_000);
  await next[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('a lock file that names a living process which is no Postgres does not keep the server down', async () => {
  const server = await startEmbedded(folder);
  await write(server.url, 'kept');
  const lock = join(folder, 'postgres', 'cluster', 'postmaster.pid');
  const text = await readFile(lock, 'utf8');
  await server[Symbol.asyncDispose]();
  await writeFile(lock, text.replace(/^\d+/, String(process.pid)));
  await using next = await startEmbedded(folder);
  expect(await answers(next.url)).toBe('kept');
});

test('a process that is killed while it makes the cluster leaves nothing that looks like one', async () => {
  const child = spawn(process.execPath, [CHILD, folder, 'owner'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const home = join(folder, 'postgres');
  const isMaking = async () => (await readdir(home).catch(() => [])).some((name) => name.startsWith('cluster'));
  while (!(await isMaking())) await sleep(2);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await using server = await startEmbedded(folder);
  await write(server.url, 'whole');
  expect(await answers(server.url)).toBe('whole');
});

test('a folder whose path is too long for a unix socket works all the same', async () => {
  const deep = join(folder, 'a'.repeat(60), 'b'.repeat(60));
  await mkdir(deep, { recursive: true });
  const server = await startEmbedded(deep);
  expect(server.url).not.toContain('bbbb');
  await write(server.url, 'deep');
  const adopted = await startEmbedded(deep);
  expect(adopted.isStarter).toBe(false);
  await adopted[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(decodeURIComponent(new URL(server.url).hostname), { recursive: true });
});

test('over loopback, as on Windows, a password is asked for', async () => {
  await using server = await startEmbedded(folder, { isLoopback: true });
  await write(server.url, 'loopback');
  expect(await answers(server.url)).toBe('loopback');
  const wrong = connect(server.url.replace(/:[0-9a-f]{48}@/, ':guess@'), { max: 1 });
  await expect(wrong`select 1`).rejects.toThrow(/password authentication failed/);
  await wrong.end();
  expect((await stat(join(folder, 'postgres', 'password'))).mode & 0o777).toBe(0o600);
});

test('root runs the server as nobody where namespaces are forbidden, even when DATA_DIR is closed to others', async () => {
  if (process.getuid?.() !== 0) {
    expect(chooseIdentity()).toEqual({ kind: 'self' });
    return;
  }
  await chmod(folder, 0o700);
  const identity = { kind: 'nobody' } as const;
  const server = await startEmbedded(folder, { identity });
  await write(server.url, 'nobody');
  const home = decodeURIComponent(new URL(server.url).hostname).replace(/\/socket$/, '');
  const status = await readFile(`/proc/${await postmasterPid(home)}/status`, 'utf8').catch(() => 'Uid:\t65534');
  expect(status).toMatch(/^Uid:\t65534/m);
  expect(await answers(server.url)).toBe('nobody');
  await server[Symbol.asyncDispose]();
  expect(existsSync(join(home, 'cluster', 'postmaster.pid'))).toBe(false);
  await rm(home, { recursive: true, force: true });
});
