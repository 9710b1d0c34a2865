// candlepool serve under load from its start: the processes that stand by leave the processor to those that work.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, socketUrl } from '../../src/db/connect.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { readyUrl, startCommand } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { childrenOf } from '../support/processes.ts';
import { makeKey, makeTenant } from '../support/tenants.ts';

/** Longer than the five seconds after which processes stand by that find no work, and the ten after one has died. */
const LOADED_MS = { first: 8_000, again: 13_000 };

let folder: string;
let server: ChildProcessWithoutNullStreams;
let url: string;
const env = () => ({ DATA_DIR: folder, WORKER_THREADS: '1', LOG_LEVEL: 'warn', RATE_LIMITS: 'off' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-load-'));
  server = startCommand(['serve', '--port', '0', '--json'], env());
  url = await readyUrl(server);
});
afterAll(async () => {
  server.kill('SIGKILL');
  await stopEmbedded(folder);
  await rm(folder, { recursive: true, force: true });
});

const workers = (): number[] => childrenOf(Number(server.pid), 'worker');

it('starts no second worker while the first has work, and one as soon as it has none', async () => {
  const queue = await queueOf(url);
  await queue(0);
  // On a busy machine, one may have begun to stand by before there was work. It dies, and another would follow.
  const [, early] = workers();
  if (early !== undefined) process.kill(early, 'SIGKILL');
  await eventually(() => workers().length === 1);
  let queued = BATCH;
  const until = performance.now() + (early === undefined ? LOADED_MS.first : LOADED_MS.again);
  while (performance.now() < until) {
    await queue(queued);
    queued += BATCH;
    expect(workers(), `after ${queued} backtests`).toHaveLength(1);
  }
  expect(await eventually(() => workers().length === 2, { what: 'a worker that stands by' })).toBe(true);
});

/** Backtests per request. */
const BATCH = 200;

/** A function that runs a batch of backtests of docs/examples, from the number of the first on, to its end. */
async function queueOf(base: string): Promise<(first: number) => Promise<void>> {
  // Not by commands: on a busy machine they take so long that a process stands by before the load begins.
  const sql = connect(socketUrl(join(folder, 'postgres', 'socket'), 'candlepool', 'postgres'), { max: 1 });
  const apiKey = await makeKey(sql, await makeTenant(sql, 'pro'));
  await sql.end({ timeout: 1 });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const post = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(`${base}/public/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  };
  const read = async (name: string) => JSON.parse(await readFile(`docs/examples/${name}.json`, 'utf8')) as object;
  const [strategy, config] = [await read('strategy'), await read('config')];
  const { id: strategyId } = await post<{ id: string }>('/strategies', strategy);
  const { id: strategyVersionId } = await post<{ id: string }>(`/strategies/${strategyId}/versions/finalize`, {
    ...strategy,
    name: undefined,
    description: undefined,
  });
  return async (first) => {
    const items = Array.from({ length: BATCH }, (_, index) => ({
      strategyVersionId,
      config: { ...config, initialBalance: 10_000 + first + index },
    }));
    const { data } = await post<{ data: { id: string }[] }>('/backtests/batch', { items });
    await fetch(`${base}/public/v1/backtests/${data.at(-1)!.id}?wait=30`, { headers });
  };
}
