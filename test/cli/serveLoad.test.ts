// candlepool serve under load from its start: the processes that stand by leave the processor to those that work.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { readyUrl, runCommand, startCommand } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { childrenOf } from '../support/processes.ts';

/** Longer than the five seconds after which processes stand by that find no work. */
const LOADED_MS = 8_000;

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

const workers = (): number => childrenOf(Number(server.pid), 'worker').length;

it('starts no second worker while the first has work, and one as soon as it has none', async () => {
  const queue = await queueOf(url);
  let queued = 0;
  const until = performance.now() + LOADED_MS;
  while (performance.now() < until) {
    await queue(queued);
    queued += BATCH;
    expect(workers(), `after ${queued} backtests`).toBe(1);
  }
  expect(await eventually(() => workers() === 2, { what: 'a worker that stands by' })).toBe(true);
});

/** Backtests per request. */
const BATCH = 200;

/** A function that runs a batch of backtests of docs/examples, from the number of the first on, to its end. */
async function queueOf(base: string): Promise<(first: number) => Promise<void>> {
  const json = async <T>(...args: string[]) => JSON.parse((await runCommand([...args, '--json'], env())).stdout) as T;
  const { id } = await json<{ id: string }>('workspace', 'create', '--name', 'w', '--tier', 'pro');
  const { apiKey } = await json<{ apiKey: string }>('keys', 'create', '--workspace', id, '--name', 'k');
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
