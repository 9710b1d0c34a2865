// The quota of results: how many bytes the results of a workspace's backtests, and of its sweeps, may take.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { config, createBacktestApi, type BacktestApi } from '../support/backtestApi.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { createSweepApi, type SweepApi, type SweepClient } from '../support/sweepApi.ts';
import type { Client } from '../support/apiApp.ts';

const usageOf = async (by: Client): Promise<Record<string, number>> =>
  (await by.get('/workspace')).body.subscription.usage as Record<string, number>;

describe('the results of backtests', () => {
  const limit = TIER_LIMITS.pro.backtestResultBytes;
  let from: BacktestApi;
  beforeAll(async () => {
    from = await createBacktestApi();
    await from.withWorker();
  });
  afterAll(() => from[Symbol.asyncDispose]());

  const fill = (bytes: number) => from.api.services.sql`
    update workspace_turns set result_bytes = ${bytes} where workspace_id = ${from.client.workspaceId}`;

  it('are counted as they are stored, copies of equal ones and deleted ones as well', async () => {
    expect((await usageOf(from.client)).backtestResultBytes).toBe(0);
    const first = await from.run({ params: { value: 1 } });
    const { backtestResultBytes: one } = await usageOf(from.client);
    const [{ bytes }] = await from.api.services.sql<[{ bytes: number }]>`
      select octet_length(detail) + octet_length(trades) as bytes from backtest_details where id = ${first.body.id}`;
    expect(one).toBe(bytes);
    const copy = await from.run({ params: { value: 1 } });
    expect(copy.body.reproducibility.cached).toBe(true);
    expect((await usageOf(from.client)).backtestResultBytes).toBe(2 * one);
    await from.client.delete(`/backtests/${copy.body.id}`);
    expect((await usageOf(from.client)).backtestResultBytes).toBe(one);
  });

  it('are refused beyond the limit of the tier, with the way out, until some are deleted', async () => {
    const done = await from.run({ params: { value: 2 } });
    await fill(limit);
    const items = [from.body({ params: { value: 3 } })];
    for (const refused of [await from.post(), await from.client.post('/backtests/batch', { items })]) {
      expect([refused.status, refused.body]).toMatchObject([
        403,
        { code: 'TIER_LIMIT_REACHED', limitName: 'backtestResultBytes', limit, usage: limit },
      ]);
      expect(refused.body.message).toContain('DELETE /public/v1/backtests/{id}');
    }
    await from.client.delete(`/backtests/${done.body.id}`);
    expect((await from.post()).status).toBe(201);
  });
});

describe('the results of sweeps', () => {
  const limit = TIER_LIMITS.pro.sweepResultBytes;
  let from: SweepApi;
  let client: SweepClient;
  beforeAll(async () => {
    from = await createSweepApi();
    client = await from.client();
  });
  afterAll(() => from[Symbol.asyncDispose]());

  const bytesOf = async (): Promise<number> => (await usageOf(client)).sweepResultBytes;

  it('are counted with their rows and report, and not once they are deleted', async () => {
    await using _worker = await startApiWorker(from.api.services);
    const id = await client.start();
    await client.csvOf(id);
    const [{ bytes }] = await from.api.services.sql<[{ bytes: number }]>`
      select octet_length(result::text)::bigint + octet_length(page)
        + (select sum(octet_length(rows)) from sweep_shards where sweep_id = s.id) as bytes
      from sweeps s where id = ${id}`;
    expect(await bytesOf()).toBe(bytes);
    await client.delete(`/sweeps/${id}`);
    expect(await bytesOf()).toBe(0);
  });

  it('are refused beyond the limit of the tier, with the way out', async () => {
    const id = await client.start();
    await from.api.services.sql`update sweeps set bytes = ${limit} where id = ${id}`;
    const space = { fast: { min: 1, max: 2 }, slow: { min: 41, max: 42 } };
    const { strategyVersionId } = client;
    const refused = await client.post('/sweeps', { strategyVersionId, config: config(), space, method: 'grid' });
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { code: 'TIER_LIMIT_REACHED', limitName: 'sweepResultBytes', limit, usage: limit },
    ]);
    expect(refused.body.message).toContain('DELETE /public/v1/sweeps/{id}');
    await client.post(`/sweeps/${id}/cancel`);
    expect(await bytesOf()).toBe(0);
    await client.start();
  });
});
