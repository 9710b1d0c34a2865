// candlepool serve in a process of its own: it answers when it says so, survives its worker, and leaves nothing behind.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import nodeFlags from '../../src/cli/nodeFlags.json' with { type: 'json' };
import { connect, socketUrl } from '../../src/db/connect.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { isAlive } from '../../src/db/processes.ts';
import { answersOk, eventually } from '../support/eventually.ts';
import { readyUrl, runCommand, startCommand } from '../support/command.ts';
import { childrenOf } from '../support/processes.ts';

let folder: string;
let servers: ChildProcessWithoutNullStreams[] = [];

async function openFolder(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-serve-'));
  servers = [];
}
async function removeFolder(): Promise<void> {
  for (const server of servers) server.kill('SIGKILL');
  await stopEmbedded(folder);
  await rm(folder, { recursive: true, force: true });
}

const env = () => ({ DATA_DIR: folder, WORKER_THREADS: '1', LOG_LEVEL: 'warn' });
function start(...args: string[]): ChildProcessWithoutNullStreams {
  const server = startCommand(args, env());
  servers.push(server);
  return server;
}
async function exitOf(server: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Promise<number | null> {
  server.kill(signal);
  const [code] = (await once(server, 'exit')) as [number | null];
  return code;
}

const workerOf = (server: ChildProcessWithoutNullStreams, not = 0) => childOf(server, 'worker', not);
const childOf = (server: ChildProcessWithoutNullStreams, command: string, not = 0): Promise<number> =>
  eventually(() => childrenOf(Number(server.pid), command).find((pid) => pid !== not));
/** Two processes: the older one works, and the other stands by. */
const pairOf = (server: ChildProcessWithoutNullStreams, command: string): Promise<[working: number, standBy: number]> =>
  eventually(
    () => {
      const [working, standBy] = childrenOf(Number(server.pid), command);
      return working !== undefined && standBy !== undefined ? ([working, standBy] as const) : null;
    },
    { what: `a ${command} that stands by` },
  ).then((pids) => [...pids]);
const databaseOf = (dataDir: string) => {
  const sql = connect(socketUrl(join(dataDir, 'postgres', 'socket'), 'candlepool', 'postgres'), { max: 1 });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) });
};
const postmaster = () => join(folder, 'postgres', 'cluster', 'postmaster.pid');
/** null: the file is not there, or not written yet; it may vanish while it is read. */
const postmasterPid = (): number | null => {
  try {
    return Number(/^(\d+)\n/.exec(readFileSync(postmaster(), 'utf8'))?.[1] ?? NaN) || null;
  } catch {
    return null;
  }
};

// One server, in this order: each test leaves it working.
describe('candlepool serve', () => {
  let server: ChildProcessWithoutNullStreams;
  let url: string;
  beforeAll(async () => {
    await openFolder();
    server = start('serve', '--port', '0', '--json');
    url = await readyUrl(server);
  });
  afterAll(removeFolder);

  it('restarts a worker and an API that are killed before others stand by, the API on the same port', async () => {
    const [worker, api] = [await workerOf(server), await childOf(server, 'api')];
    process.kill(worker, 'SIGKILL');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    process.kill(api, 'SIGKILL');
    expect(await workerOf(server, worker)).not.toBe(worker);
    expect(await childOf(server, 'api', api)).not.toBe(api);
    await eventually(() => answersOk(`${url}/readyz`));
  });

  it('shares its database with commands', async () => {
    const made = await runCommand(['workspace', 'create', '--name', 'w', '--json'], env());
    const { id } = JSON.parse(made.stdout) as { id: string };
    const created = await runCommand(['keys', 'create', '--workspace', id, '--name', 'k', '--json'], env());
    const { apiKey } = JSON.parse(created.stdout) as { apiKey: string };
    expect(existsSync(postmaster())).toBe(true);
    const answer = await fetch(`${url}/public/v1/workspace`, { headers: { 'x-api-key': apiKey } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ workspace: { id, name: 'w' } });
    const data = await fetch(`${url}/public/v1/market-data`, { headers: { 'x-api-key': apiKey } });
    expect(JSON.stringify(await data.json())).toContain('EURUSD');
  });

  // Both wait for a process that is started only when the others have worked for seconds.
  it.concurrent('gives the place of a killed API to the one that stands by', async ({ expect }) => {
    const [working, standBy] = await pairOf(server, 'api');
    process.kill(working, 'SIGKILL');
    await eventually(() => answersOk(`${url}/healthz`));
    expect(await childOf(server, 'api')).toBe(standBy);
    // Another one follows it.
    const [next] = await pairOf(server, 'api');
    expect(next).toBe(standBy);
  });

  it.concurrent('starts another worker to stand by when that one is killed, and nothing else', async ({ expect }) => {
    const [working, standBy] = await pairOf(server, 'worker');
    process.kill(standBy, 'SIGKILL');
    await eventually(() => !isAlive(standBy));
    expect((await pairOf(server, 'worker'))[0]).toBe(working);
  });

  it('gives the place of a worker whose runner ended by itself to the one that stands by', async () => {
    const [, standBy] = await pairOf(server, 'worker');
    await using sql = databaseOf(folder);
    // Graphile stops itself when another host has migrated its tables to a schema that it does not know.
    await sql.notify('worker:migrate', '{"breaking":true,"migrationNumber":999}');
    const registered = () => sql<{ pid: number }[]>`select pid from worker_processes`;
    await eventually(async () => (await registered()).some(({ pid }) => pid === standBy), { what: 'the other worker' });
    // It took over what the first one was registered for, at once.
    expect(await eventually(async () => (await registered()).length === 1)).toBe(true);
  });

  it('restarts a killed Postgres, and requests and work continue', async () => {
    const killed = postmasterPid();
    process.kill(killed!, 'SIGKILL');
    await eventually(() => ![killed, null].includes(postmasterPid()), { what: 'another postmaster' });
    await eventually(() => answersOk(`${url}/readyz`));
    expect(await workerOf(server)).toBeGreaterThan(0);
  });

  const isLinux = process.platform === 'linux';
  it.runIf(isLinux)(
    'gives the worker a lower priority than the API, and starts each with its own Node flags',
    async () => {
      const worker = await workerOf(server);
      const nicenesses = (pid: number): number[] =>
        readdirSync(`/proc/${pid}/task`).map((thread) => {
          const [, fields] = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ');
          return Number(fields.split(' ')[16]);
        });
      await eventually(() => nicenesses(worker).filter((nice) => nice === 10).length > 0);
      expect(Math.min(...nicenesses(worker))).toBe(5);
      const api = await childOf(server, 'api');
      expect(nicenesses(api)[0]).toBe(0);
      // Between sessions, of which each of both has one, only the priority of the session counts.
      const sessionOf = (pid: number): string => readFileSync(`/proc/${pid}/autogroup`, 'utf8');
      if (existsSync('/proc/self/autogroup')) {
        await eventually(() => sessionOf(worker).endsWith(' nice 5\n'));
        expect(sessionOf(api)).toMatch(/ nice 0\n$/);
      }
      const argumentsOf = (pid: number): string[] => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      expect(argumentsOf(api)).toEqual(expect.arrayContaining(nodeFlags.api));
      expect(argumentsOf(worker)).toEqual(expect.arrayContaining(nodeFlags.worker));
    },
  );

  it.each(['serve', 'api'])(
    'keeps its port when another %s asks for it, which says so and makes no database',
    async (command) => {
      const { port } = new URL(url);
      const other = join(folder, 'other');
      const { code, stderr } = await runCommand([command, '--port', port], { ...env(), DATA_DIR: other });
      const message = `Port ${port} of 127.0.0.1 is in use. Choose another one, or let a free one be found: `;
      expect([code, stderr]).toEqual([1, expect.stringContaining(`error: ${message}`)]);
      expect(stderr).toMatch(new RegExp(`candlepool ${command} --port 0\n$`));
      expect(existsSync(other)).toBe(false);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    },
  );

  it('ends its worker after kill -9, and the next serve takes over the database', async () => {
    const worker = await workerOf(server);
    server.kill('SIGKILL');
    await eventually(() => !isAlive(worker));
    server = start('serve', '--port', '0', '--json');
    url = await readyUrl(server);
    expect(existsSync(postmaster())).toBe(true);
  });

  it('ends with 0 on SIGTERM, and leaves no process and no database running', async () => {
    const worker = await workerOf(server);
    expect(await exitOf(server, 'SIGTERM')).toBe(0);
    expect(isAlive(worker)).toBe(false);
    expect(existsSync(postmaster())).toBe(false);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

describe('a command that starts the database', () => {
  beforeEach(openFolder);
  afterEach(removeFolder);

  it('prints the address and how to get a key without --json', async () => {
    const server = start('api', '--port', '0');
    let stdout = '';
    server.stdout.on('data', (chunk) => (stdout += String(chunk)));
    await eventually(() => stdout.includes('curl'));
    expect(stdout).toMatch(/Candlepool runs at http:\/\/127\.0\.0\.1:\d+/);
    expect(stdout).toContain('candlepool keys create --workspace <id> --name first');
    expect(await exitOf(server, 'SIGTERM')).toBe(0);
  });

  it.each([['serve', '--port', '0'], ['api', '--port', '0'], ['worker']])(
    'ends with 0 on SIGTERM while %s starts, and leaves no database running',
    async (...args) => {
      const server = start(...args);
      let output = '';
      server.stdout.on('data', (chunk) => (output += String(chunk)));
      server.stderr.on('data', (chunk) => (output += String(chunk)));
      await eventually(() => existsSync(join(folder, 'postgres')));
      expect(await exitOf(server, 'SIGTERM')).toBe(0);
      expect(output).toBe('');
      expect(existsSync(postmaster())).toBe(false);
    },
  );

  it('stops the database that a command started when the command receives SIGINT', async () => {
    const command = start('data', 'list');
    let output = '';
    command.stderr.on('data', (chunk) => (output += String(chunk)));
    await eventually(() => existsSync(postmaster()));
    expect(await exitOf(command, 'SIGINT')).toBe(130);
    expect(output).toBe('');
    expect(existsSync(postmaster())).toBe(false);
  });
});
