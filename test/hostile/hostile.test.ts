// Hostile tenants against a real service, and their neighbor. `npm run test:hostile` runs it for minutes, times the
// neighbor and prints a table; the short form counts only, for on a busy machine a time says nothing.
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CROSSING } from '../support/sweeps.ts';
import type { FromAttackers } from './attackProcess.ts';
import type { Tally } from './attacks.ts';
import type { OpenApi } from './largeBodies.ts';
import { readMetric, startService, type Service, type Tenant } from './service.ts';

const isLong = process.env.CANDLEPOOL_HOSTILE !== undefined;
const SECONDS = isLong ? Number(process.env.CANDLEPOOL_HOSTILE) : 12;
const SEED = Number(process.env.CANDLEPOOL_SEED ?? 20_261_122);
const MIB = 1024 * 1024;
/** Heap and bodies of the API with its second thread; threads and columns of a worker with two threads. */
const MAX_BYTES = { api: 1_500 * MIB, worker: 2_500 * MIB };

let service: Service;
let tenants: { free: Tenant; pro: Tenant; neighbor: Tenant };
beforeAll(async () => {
  service = await startService({ WARM_UP: isLong ? 'on' : 'off' });
  tenants = {
    free: await service.tenant('free'),
    pro: await service.tenant('pro'),
    neighbor: await service.tenant('plus'),
  };
}, 300_000);
afterAll(() => service[Symbol.asyncDispose]());

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
const call = async (path: string, body?: object) => {
  const response = await fetch(`${service.url}/public/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': tenants.neighbor.key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const timed = async (work: () => Promise<{ status: number }>): Promise<{ ms: number; status: number }> => {
  const begun = performance.now();
  const { status } = await work();
  return { ms: performance.now() - begun, status };
};

/** A sweep of 100 variants, from its request to its result. */
async function smallSweep(strategyVersionId: string, initialBalance: number): Promise<{ status: number }> {
  const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance };
  const space = { fast: { min: 2, max: 11 }, slow: { min: 20, max: 29 } };
  const queued = await call('/sweeps', { strategyVersionId, config, space, method: 'grid' });
  if (queued.status !== 201) return queued;
  const done = await call(`/sweeps/${queued.body.id as string}?wait=60`);
  return { status: done.body.status === 'completed' ? 200 : 599 };
}

it(
  'hostile tenants get no answer of 500 or more, and stay within memory',
  async () => {
    const openapi = (await (await fetch(`${service.url}/public/v1/openapi.json`)).json()) as OpenApi;
    const copied = await call('/system-strategies/golden_cross/copy', {});
    const ready = await call(`/strategies/${copied.body.id as string}/versions/finalize`, { version: 1 });
    const crossing = { settings: {}, strategyAst: CROSSING };
    const made = await call('/strategies', { name: 'crossing', ...crossing });
    const swept = await call(`/strategies/${made.body.id as string}/versions/finalize`, crossing);
    const pidsBefore = [service.pidOf('api'), service.pidOf('worker')];
    const attackers = fork(new URL('./attackProcess.ts', import.meta.url), { detached: true });
    const prepared = Promise.withResolvers<void>();
    const tallied = Promise.withResolvers<Record<string, Tally>>();
    attackers.on('message', (message: FromAttackers) =>
      message === 'ready' ? prepared.resolve() : tallied.resolve(message),
    );
    attackers.once('exit', (code) => {
      const error = new Error(`The attackers ended with code ${code}; what they printed says why.`);
      prepared.reject(error);
      tallied.reject(error);
    });
    const { free, pro } = tenants;
    attackers.send({ url: service.url, openapi, free, pro, signer: service.signer, seed: SEED });
    await prepared.promise;
    const end = performance.now() + SECONDS * 1_000;
    const isOver = (): boolean => performance.now() > end;
    const most = { api: 0, worker: 0, loopDelay: 0 };
    const reads: { ms: number; status: number }[] = [];
    const runs: { ms: number; status: number }[] = [];
    const sweeps: { ms: number; status: number }[] = [];
    await Promise.all([
      (async () => {
        while (!isOver()) {
          reads.push(await timed(() => call('/workspace')));
          await sleep(20);
        }
      })(),
      (async () => {
        for (let balance = 10_000; !isOver(); balance++) {
          const run = async () => {
            const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: balance };
            const queued = await call('/backtests', { strategyVersionId: ready.body.id, config });
            if (queued.status !== 201) return queued;
            const done = await call(`/backtests/${queued.body.id as string}?wait=60`);
            return { status: done.body.status === 'completed' ? 200 : 599 };
          };
          runs.push(await timed(run));
          await sleep(500);
        }
      })(),
      (async () => {
        for (let balance = 10_000; !isOver(); balance++) {
          sweeps.push(await timed(() => smallSweep(swept.body.id as string, balance)));
          await sleep(500);
        }
      })(),
      (async () => {
        while (!isOver()) {
          for (const command of ['api', 'worker'] as const)
            most[command] = Math.max(most[command], service.residentBytes(command));
          most.loopDelay = Math.max(most.loopDelay, await readMetric(service.url, 'nodejs_eventloop_lag_p99_seconds'));
          await sleep(1_000);
        }
      })(),
    ]);
    attackers.send('stop');
    const tallies = await tallied.promise;
    const sortedReads = reads.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const sortedRuns = runs.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const sortedSweeps = sweeps.map(({ ms }) => ms).toSorted((a, b) => a - b);
    if (isLong) printTable(tallies, { reads: sortedReads, runs: sortedRuns, sweeps: sortedSweeps }, most);

    const faults = Object.entries(tallies).flatMap(([name, { faults: found }]) =>
      found.map((fault) => `${name}: ${fault}`),
    );
    expect(faults, `seed ${SEED}`).toEqual([]);
    expect(reads.filter(({ status }) => status !== 200)).toEqual([]);
    expect(runs.filter(({ status }) => status !== 200)).toEqual([]);
    expect(sweeps.filter(({ status }) => status !== 200)).toEqual([]);
    // No process died.
    expect([service.pidOf('api'), service.pidOf('worker')]).toEqual(pidsBefore);
    expect(most.api).toBeLessThan(MAX_BYTES.api);
    expect(most.worker).toBeLessThan(MAX_BYTES.worker);
    for (const { statuses } of Object.values(tallies))
      expect(Object.keys(statuses).every((status) => Number(status) < 500)).toBe(true);
    if (!isLong) return;
    expect(percentile(sortedReads, 0.99)).toBeLessThan(100);
    expect(percentile(sortedRuns, 0.5)).toBeLessThan(1_000);
    expect(percentile(sortedRuns, 0.99)).toBeLessThan(2_000);
    expect(percentile(sortedSweeps, 0.99)).toBeLessThan(5_000);
    expect(most.loopDelay).toBeLessThan(0.1);
  },
  (SECONDS + 600) * 1_000,
);

function printTable(
  tallies: Record<string, Tally>,
  { reads, runs, sweeps }: Readonly<Record<'reads' | 'runs' | 'sweeps', readonly number[]>>,
  most: { api: number; worker: number; loopDelay: number },
): void {
  const row = (name: string, value: string): string => `${name.padEnd(48)} ${value}`;
  const times = (sorted: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => `${percentile(sorted, share).toFixed(0)} ms`).join(' / ');
  const lines = [
    `seed ${SEED}, ${SECONDS} s; the attackers share its machine, at the lowest priority (nice 19)`,
    ...Object.entries(tallies).map(([name, { statuses }]) =>
      row(
        name,
        Object.entries(statuses)
          .map(([status, count]) => `${status}×${count}`)
          .join(' '),
      ),
    ),
    row(`neighbor: ${reads.length} GET /workspace, p50 / p99 / max`, times(reads)),
    row(`neighbor: ${runs.length} small backtests, p50 / p99 / max`, times(runs)),
    row(`neighbor: ${sweeps.length} small sweeps, p50 / p99 / max`, times(sweeps)),
    row(
      'API: most memory, event loop delay p99',
      `${(most.api / MIB).toFixed(0)} MiB, ${(most.loopDelay * 1000).toFixed(0)} ms`,
    ),
    row('worker: most memory', `${(most.worker / MIB).toFixed(0)} MiB`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
