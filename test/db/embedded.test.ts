// The embedded Postgres among processes that start together, are killed, and leave in any order.
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, socketUrl } from '../../src/db/connect.ts';
import { removeEmbedded, startEmbedded, stopEmbedded } from '../../src/db/embedded.ts';
import { chooseIdentity } from '../../src/db/embeddedCluster.ts';
import { isAlive } from '../../src/db/processes.ts';
import { eventually } from '../support/eventually.ts';

const CHILD = new URL('../support/embeddedChild.ts', import.meta.url).pathname;
let folder: string;
const children: ChildProcessWithoutNullStreams[] = [];

const makeFolder = async (): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-embedded-'));
};
// An initdb whose parent was killed may write for a moment more.
const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 10 });
const stopAll = async (): Promise<void> => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await stopEmbedded(folder);
};

interface Started {
  readonly isStarter: boolean;
  readonly ms: number;
}

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

describe('a server of a new cluster', () => {
  beforeEach(makeFolder);
  afterEach(async () => {
    await stopAll();
    await removeFolder();
  });

  it('trusts everybody who reaches its socket and nobody on the network, in folders of its own', async () => {
    await using server = await startEmbedded(folder);
    expect(server.isStarter).toBe(true);
    const rules = (await readFile(join(folder, 'postgres', 'cluster', 'pg_hba.conf'), 'utf8'))
      .split('\n')
      .filter((line) => /^(local|host)/.test(line));
    expect(rules.filter((line) => line.startsWith('host') && !line.trim().endsWith('reject'))).toEqual([]);
    expect(rules.some((line) => line.startsWith('local'))).toBe(true);
    for (const path of [folder, join(folder, 'postgres')]) expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it('creates a cluster in private folders on first start, and stops the server when disposed', async () => {
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

  it('closes a DATA_DIR that it makes to other users', async () => {
    const made = join(folder, 'data');
    await using _server = await startEmbedded(made);
    expect((await stat(made)).mode & 0o777).toBe(chooseIdentity().kind === 'nobody' ? 0o711 : 0o700);
  });

  it('starts the server in one of five processes that start at once, and lets the other four adopt it', async () => {
    const started = await Promise.all(Array.from({ length: 5 }, () => startChild()));
    expect(started.filter((each) => each.isStarter)).toHaveLength(1);
    const leftovers = (await readdir(join(folder, 'postgres'))).filter((name) => name.startsWith('cluster.'));
    expect(leftovers).toEqual([]);
  });

  it('keeps committed data after kill -9 of the server, and starts again without manual help', async () => {
    const server = await startEmbedded(folder);
    await write(server.url, 'kept');
    process.kill(Number(await postmasterPid()), 'SIGKILL');
    const next = await startEmbedded(folder);
    expect(await answers(next.url)).toBe('kept');
    await next[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('starts despite a lock file that names a live process other than Postgres', async () => {
    const server = await startEmbedded(folder);
    await write(server.url, 'kept');
    const lock = join(folder, 'postgres', 'cluster', 'postmaster.pid');
    const text = await readFile(lock, 'utf8');
    await server[Symbol.asyncDispose]();
    await writeFile(lock, text.replace(/^\d+/, String(process.pid)));
    await using next = await startEmbedded(folder);
    expect(await answers(next.url)).toBe('kept');
  });

  it('leaves nothing that looks like a cluster when killed while creating it', async () => {
    const child = spawn(process.execPath, [CHILD, folder, 'owner'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const home = join(folder, 'postgres');
    const isMaking = async () => (await readdir(home).catch(() => [])).some((name) => name.startsWith('cluster'));
    await eventually(isMaking);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using server = await startEmbedded(folder);
    await write(server.url, 'whole');
    expect(await answers(server.url)).toBe('whole');
  });

  it('works in a folder whose path is too long for a Unix socket', async () => {
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

  it('requires a password over loopback, as on Windows', async () => {
    await using server = await startEmbedded(folder, { isLoopback: true });
    await write(server.url, 'loopback');
    expect(await answers(server.url)).toBe('loopback');
    const wrong = connect(server.url.replace(/:[0-9a-f]{48}@/, ':guess@'), { max: 1 });
    await expect(wrong`select 1`).rejects.toThrow(/password authentication failed/);
    await wrong.end();
    expect((await stat(join(folder, 'postgres', 'password'))).mode & 0o777).toBe(0o600);
  });

  it('runs as nobody under root where namespaces are forbidden, even if DATA_DIR is closed to others', async () => {
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
    await startEmbedded(folder, { identity });
    await removeEmbedded(folder, { identity });
    expect(existsSync(home)).toBe(false);
  });
});

// One cluster for all of them: making it takes longer than most of what they do.
describe('a server of a cluster that exists', () => {
  beforeAll(makeFolder);
  afterEach(stopAll);
  afterAll(removeFolder);

  it('listens on no network address', async () => {
    await using server = await startEmbedded(folder);
    const sql = connect(server.url, { max: 1 });
    const [row] = await sql`select current_setting('listen_addresses') as addresses`;
    await sql.end();
    expect(row.addresses).toBe('');
  });

  it('leaves the server to the process that started it', async () => {
    const owner = await startChild();
    const guest = await startChild();
    expect([owner.isStarter, guest.isStarter]).toEqual([true, false]);
    await leave(guest.child);
    expect(isAlive(Number(await postmasterPid()))).toBe(true);
    await leave(owner.child);
    expect(await postmasterPid()).toBeNull();
  });

  it('is not stopped by the process that started it while another uses it, but by the last one', async () => {
    const first = await startChild();
    const second = await startChild();
    expect([first.isStarter, second.isStarter]).toEqual([true, false]);
    await leave(first.child);
    expect(isAlive(Number(await postmasterPid()))).toBe(true);
    await leave(second.child);
    expect(await postmasterPid()).toBeNull();
  });

  it('is stopped by the later of two processes that leave at the same time', async () => {
    const both = [await startChild(), await startChild()];
    await Promise.all(both.map(({ child }) => leave(child)));
    expect(await postmasterPid()).toBeNull();
  });

  it.each(['the process that started it', 'another, when that process is dead'])(
    'a killed server is started again by %s',
    async (who) => {
      const starter = await startChild(who.startsWith('the') ? 'watcher' : 'owner');
      const others = who.startsWith('the') ? [] : [await startChild('watcher')];
      if (others.length > 0) starter.child.kill('SIGKILL');
      const killed = Number(await postmasterPid());
      process.kill(killed, 'SIGKILL');
      const sql = connect(socketUrl(join(folder, 'postgres', 'socket'), 'candlepool', 'postgres'), { max: 1 });
      await eventually(
        async () => (await sql`select 1`.catch(() => [])).length === 1 && (await postmasterPid()) !== killed,
      );
      await sql.end({ timeout: 1 });
      for (const { child } of others.length > 0 ? others : [starter]) await leave(child);
      expect(await postmasterPid()).toBeNull();
    },
  );

  it('lets the next process adopt and stop the server of a killed owner', async () => {
    const owner = await startChild();
    owner.child.kill('SIGKILL');
    await once(owner.child, 'exit');
    const heir = await startChild();
    expect(heir.isStarter).toBe(false);
    await leave(heir.child);
    expect(await postmasterPid()).toBeNull();
  });
});
