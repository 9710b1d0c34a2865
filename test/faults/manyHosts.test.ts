// Many hosts: two API and two worker processes over one Postgres, each with a DATA_DIR of its own, so that no worker
// has the files of the market data.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { config } from '../support/backtestApi.ts';
import { readyUrl, startCommand } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/scale.ts';
import { CROSSING } from '../support/sweeps.ts';
import { makeKey, makeTenant } from '../support/tenants.ts';

const BACKTESTS = isLong ? 4_000 : 300;

let folder: string;
let database: TestDatabase;
const processes: ChildProcessWithoutNullStreams[] = [];
const urls: string[] = [];
const workers: ChildProcessWithoutNullStreams[] = [];
let apiKey: string;
let strategyVersionId: string;

const envOf = (host: string) => ({
  DATABASE_URL: database.url,
  DATA_DIR: join(folder, host),
  LOG_LEVEL: 'error',
  RATE_LIMITS: 'off',
});
function start(host: string, ...args: string[]): ChildProcessWithoutNullStreams {
  const child = startCommand([...args, '--json'], envOf(host));
  processes.push(child);
  return child;
}
async function startWorker(host: string): Promise<ChildProcessWithoutNullStreams> {
  const worker = start(host, 'worker', '--threads', isLong ? '2' : '1');
  await once(createInterface(worker.stdout), 'line');
  return worker;
}
/** Asks either API in turn. */
let asked = 0;
async function ask(path: string, body?: object): Promise<Response> {
  const url = urls[asked++ % urls.length];
  const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) };
  return fetch(`${url}/public/v1${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
}
// oxlint-disable-next-line typescript/no-explicit-any -- bodies of every shape
async function json(path: string, body?: object): Promise<any> {
  const response = await ask(path, body);
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return JSON.parse(text);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candlepool-hosts-'));
  database = await createTestDatabase();
  // One after the other: the first has the files of what it imports, the second finds everything imported.
  for (const host of ['first', 'second']) urls.push(await readyUrl(start(host, 'api', '--port', '0')));
  workers.push(...(await Promise.all(['third', 'fourth'].map(startWorker))));
  apiKey = await makeKey(database.sql, await makeTenant(database.sql, 'pro'));
  const payload = { settings: {}, strategyAst: CROSSING };
  const strategy = await json('/strategies', { name: 'crossing', ...payload });
  strategyVersionId = (await json(`/strategies/${strategy.id}/versions/finalize`, payload)).id;
});
afterAll(async () => {
  const running = processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ended);
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

it('runs a batch, each backtest once, though a worker is killed in the middle of it', async () => {
  const items = Array.from({ length: BACKTESTS }, (_, at) => ({
    strategyVersionId,
    config: { ...config({ params: { fast: 3 + (at % 20) } }), initialBalance: 10_000 + at },
  }));
  const ids = new Set<string>();
  for (let at = 0; at < items.length; at += 500) {
    const { data } = await json('/backtests/batch', { items: items.slice(at, at + 500) });
    for (const { id } of data as { id: string }[]) ids.add(id);
  }
  expect(ids.size).toBe(BACKTESTS);
  const countOf = async (status: string): Promise<number> =>
    (await json(`/backtests?status=${status}&limit=1`)).pagination.total as number;
  await eventually(async () => (await countOf('completed')) > 0);
  workers[0].kill('SIGKILL');
  workers[0] = await startWorker('fifth');
  await eventually(async () => (await countOf('completed')) === BACKTESTS, { what: 'all completed', ms: 600_000 });
  const [{ count, distinct }] = await database.sql<[{ count: number; distinct: number }]>`
    select count(*)::int as count, count(distinct config ->> 'initialBalance')::int as distinct from backtests`;
  expect([count, distinct]).toEqual([BACKTESTS, BACKTESTS]);
});

it('runs a sweep whose rows are those of the backtests of its rows', async () => {
  const space = { fast: { min: 2, max: 11 }, slow: { values: [30, 40, 50] } };
  const { id } = await json('/sweeps', { strategyVersionId, config: config(), space, method: 'grid' });
  const done = await eventually(async () => {
    const sweep = await json(`/sweeps/${id}?wait=10`);
    return ['completed', 'failed'].includes(sweep.status) && sweep;
  });
  expect(done).toMatchObject({ status: 'completed', error: null });
  const csv = await (await ask(`/sweeps/${id}/results?format=csv`)).text();
  expect(csv.trim().split('\n')).toHaveLength(31);
});

it('runs a sweep to the same rows when a host is lost in the middle of one of its shards', async () => {
  const space = { fast: { min: 1, max: 40 }, slow: { min: 41, max: 60 } };
  const start = async (): Promise<string> =>
    (await json('/sweeps', { strategyVersionId, config: config(), space, method: 'grid' })).id as string;
  const rowsOf = async (id: string): Promise<string> => {
    const done = await eventually(async () => {
      const sweep = await json(`/sweeps/${id}?wait=10`);
      return ['completed', 'failed'].includes(sweep.status) && sweep;
    });
    expect(done).toMatchObject({ status: 'completed', error: null });
    return (await ask(`/sweeps/${id}/results?format=csv`)).text();
  };
  const id = await start();
  const [{ pid }] = await eventually(async () => {
    const rows = await database.sql<{ pid: number }[]>`
      select pid from sweep_shards s join worker_processes w on w.id = s.claimed_by where s.sweep_id = ${id} limit 1`;
    return rows.length > 0 && rows;
  });
  const lost = workers.findIndex((worker) => worker.pid === pid);
  workers[lost].kill('SIGKILL');
  workers[lost] = await startWorker('sixth');
  const rows = await rowsOf(id);
  expect(rows.trim().split('\n')).toHaveLength(801);
  expect(rows).toBe(await rowsOf(await start()));
});

it.each(['trades', 'equity', 'signals', 'report'])('serves the %s of a backtest from either API', async (name) => {
  const { data } = await json('/backtests?limit=1&status=completed');
  const answers = await Promise.all(urls.map(() => ask(`/backtests/${data[0].id}/artifacts/${name}`)));
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(bodies[0].length).toBeGreaterThan(0);
  expect(bodies[1]).toBe(bodies[0]);
});

it('leaves on each host a copy of what it has read, and nothing else', () => {
  const filesOf = (host: string): string[] => {
    const path = join(folder, host, 'snapshots');
    return existsSync(path) ? readdirSync(path) : [];
  };
  expect(filesOf('first').length).toBeGreaterThan(3);
  expect(filesOf('second')).toEqual([]);
  // Everything above read one series.
  for (const host of ['fourth', 'fifth']) expect(filesOf(host).length).toBeLessThanOrEqual(3);
});
