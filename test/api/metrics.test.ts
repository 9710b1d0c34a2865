// What an operator sees at /metrics and /health when things go wrong.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { registerWorker, takeOverDeadWorkers } from '../../src/db/workerProcesses.ts';
import { createBacktestApi, type BacktestApi } from '../support/backtestApi.ts';

let backtests: BacktestApi;
beforeAll(async () => {
  backtests = await createBacktestApi();
});
afterAll(() => backtests[Symbol.asyncDispose]());

const metric = async (name: string): Promise<number | undefined> => {
  const { text } = await backtests.api.send({ url: '/metrics' });
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
};

describe('/metrics', () => {
  it('counts crash suspects as queued, and by themselves, and their wait', async () => {
    const { sql } = backtests.api.services;
    const { id } = (await backtests.post()).body;
    await backtests.post();
    await sql`update backtest_queue set kills = 1 where id = ${id}`;
    await sql`update backtests set created_at = now() - interval '1 hour' where id = ${id}`;
    expect(await metric('candlepool_backtests{status="queued"}')).toBe(2);
    expect(await metric('candlepool_backtests{status="suspect"}')).toBe(1);
    expect(await metric('candlepool_oldest_due_seconds')).toBeGreaterThan(3_500);
    await sql`update backtest_queue set kills = 0 where id = ${id}`;
  });

  it('counts failures by their code', async () => {
    await backtests.withWorker();
    const failed = await backtests.run({ params: { act: 'fail' } });
    expect(failed.body.error.code).toBe('RANGE_NO_DATA');
    expect(await metric('candlepool_failures_last_hour{code="RANGE_NO_DATA"}')).toBe(1);
    await backtests.withoutWorker();
  });

  it('counts workers that died', async () => {
    const { sql } = backtests.api.services;
    const before = (await metric('candlepool_worker_deaths_last_hour')) ?? 0;
    // Its lock goes with its transaction, as with the connection of a process that dies.
    await registerWorker(sql, { id: randomUUID(), poolId: 'p', host: 'h', pid: 1, threads: 1 });
    await sql`update worker_processes set seen_at = now() - interval '1 hour' where pool_id = 'p'`;
    await takeOverDeadWorkers(sql);
    expect(await metric('candlepool_worker_deaths_last_hour')).toBe(before + 1);
  });

  it('shows the size of the database and the room on the disk', async () => {
    expect(await metric('candlepool_database_bytes')).toBeGreaterThan(1_000_000);
    expect(await metric('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  });
});

it('asks for METRICS_TOKEN at /metrics when it is set', async () => {
  const { services } = backtests.api;
  const config = { ...services.config, metricsToken: 'a-token-of-the-operator' };
  const app = await buildApp({ ...services, config });
  const statusWith = async (authorization?: string): Promise<number> =>
    (await app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } })).statusCode;
  expect(await statusWith()).toBe(401);
  expect(await statusWith('Bearer a-token-of-the-operato')).toBe(401);
  expect(await statusWith('Bearer a-token-of-the-operator')).toBe(200);
  await app.close();
});

it('answers /health as it answers /healthz', async () => {
  for (const url of ['/health', '/healthz'])
    expect(await backtests.api.send({ url })).toMatchObject({ status: 200, body: { status: 'ok' } });
});
