// Versions and storage: paging, payloads by version, deletion, and the quotas of a tier.
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type Client } from '../support/apiApp.ts';
import { compare, indicator, strategy } from '../support/builders.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

const payload = (length: number) => ({
  settings: {},
  strategyAst: strategy(compare(indicator('sma', { length }), 'gt', 1)),
});
const create = async (by = client, headers: Record<string, string> = {}): Promise<string> => {
  const { status, text, body } = await by.post('/strategies', { name: 'S', ...payload(5) }, headers);
  expect(status, text).toBe(201);
  return body.id as string;
};
const finalize = (id: string, length: number, by = client) =>
  by.post(`/strategies/${id}/versions/finalize`, payload(length));
/** Copies version 1 until the strategy has `count` versions. */
const multiply = (id: string, count: number) => api.services.sql`
  insert into strategy_versions (workspace_id, strategy_id, version, status, settings, strategy_ast, strategy_hash)
  select workspace_id, strategy_id, n, 'draft', settings, strategy_ast, strategy_hash
  from strategy_versions cross join generate_series(2, ${count}::int) n where strategy_id = ${id} and version = 1`;
const countedBytes = async ({ workspaceId }: Client): Promise<number> => {
  const [row] = await api.services.sql<[{ bytes: number }]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from (
      select octet_length(settings::text) + octet_length(strategy_ast::text)
        + coalesce(octet_length(signal_graph::text), 0) as bytes
      from strategy_versions where workspace_id = ${workspaceId}
      union all
      select octet_length(path) + octet_length(key) + octet_length(body::text)
      from idempotent_answers where workspace_id = ${workspaceId}
    ) as kept`;
  return row.bytes;
};
const usageOf = async (by: Client): Promise<number> =>
  (await by.get('/workspace')).body.subscription.usage.storedBytes as number;
const fill = (by: Client, bytes: number) => api.services.sql`
  insert into workspace_storage (workspace_id, bytes) values (${by.workspaceId}, ${bytes})
  on conflict (workspace_id) do update set bytes = ${bytes}`;

describe('the versions of a strategy', () => {
  it('are answered without payloads, the newest 100, and 10 in a list', async () => {
    const id = await create();
    await multiply(id, 230);
    const { body } = await client.get(`/strategies/${id}`);
    expect(body.versionCount).toBe(230);
    const numbers = body.versions.map((each: { version: number }) => each.version);
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => 131 + index));
    const row = (await client.get('/strategies')).body.data.find((each: { id: string }) => each.id === id);
    expect([row.versionCount, row.versions.length, row.versions.at(-1).version]).toEqual([230, 10, 230]);
  });

  it('are listed page by page, each once, by number', async () => {
    const id = await create();
    await multiply(id, 45);
    const seen: number[] = [];
    let cursor = '';
    do {
      const { body } = await client.get(`/strategies/${id}/versions?limit=20&sort=version${cursor}`);
      expect(body.pagination.total).toBe(45);
      seen.push(...body.data.map((each: { version: number }) => each.version));
      cursor = body.pagination.nextCursor === null ? '' : `&cursor=${body.pagination.nextCursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(Array.from({ length: 45 }, (_, index) => 1 + index));
    expect((await client.get(`/strategies/${id}/versions`)).body.data[0].version).toBe(45);
    const ready = await client.get(`/strategies/${id}/versions?status=ready`);
    expect(ready.body.data).toEqual([]);
  });

  it('are not found in another workspace, or by what is not a number', async () => {
    const id = await create();
    const stranger = await api.client();
    for (const path of [`/strategies/${id}/versions`, `/strategies/${id}/versions/1`])
      expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.delete(`/strategies/${id}/versions/1`)).status).toBe(404);
    for (const version of ['2', '0', '01', '1e0', '-1', 'latest', '99999999999999'])
      expect((await client.get(`/strategies/${id}/versions/${version}`)).status).toBe(404);
    expect((await client.get(`/strategies/${randomUUID()}/versions`)).status).toBe(404);
  });
});

describe('deleting a version', () => {
  it('frees its bytes, and leaves the others', async () => {
    const id = await create();
    await finalize(id, 7);
    await finalize(id, 8);
    const before = await usageOf(client);
    expect((await client.delete(`/strategies/${id}/versions/2`)).body).toEqual({ deleted: true });
    const gone = await client.get(`/strategies/${id}/versions/2`);
    expect([gone.status, gone.body.message]).toEqual([404, 'No version "2" of this strategy in this workspace.']);
    expect((await client.get(`/strategies/${id}`)).body.versionCount).toBe(2);
    expect(await usageOf(client)).toBeLessThan(before);
  });

  it('is refused for the newest version and for one that was run', async () => {
    const id = await create();
    const { body: ready } = await finalize(id, 7);
    expect((await client.delete(`/strategies/${id}/versions/2`)).body).toMatchObject({
      status: 409,
      code: 'VERSION_IN_USE',
      message:
        'Version 2 cannot be deleted. It is the newest version of its strategy, whose number must not be given again.',
    });
    const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 1_000 };
    const queued = await client.post('/backtests', { strategyVersionId: ready.id, config });
    expect(queued.status, queued.text).toBe(201);
    await finalize(id, 8);
    expect((await client.delete(`/strategies/${id}/versions/2`)).body.message).toContain(
      'Backtests or sweeps have run it',
    );
  });

  it('needs a key that may write', async () => {
    const id = await create();
    const viewer = await api.client({ workspaceId: client.workspaceId, role: 'viewer' });
    expect((await viewer.delete(`/strategies/${id}/versions/1`)).status).toBe(403);
  });
});

describe('the quotas of a tier', () => {
  it('limit the versions of a strategy, and name the way out', async () => {
    const free = await api.client({ tier: 'free' });
    const id = await create(free);
    const limit = TIER_LIMITS.free.versionsPerStrategy;
    await multiply(id, limit);
    const refused = await finalize(id, 9, free);
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { code: 'TIER_LIMIT_REACHED', limitName: 'versionsPerStrategy', limit, usage: limit },
    ]);
    expect(refused.body.message).toContain('DELETE /public/v1/strategies/');
    const promoted = await free.post(`/strategies/${id}/versions/finalize`, { version: 1 });
    expect(promoted.status, promoted.text).toBe(200);
    await free.delete(`/strategies/${id}/versions/2`);
    expect((await finalize(id, 9, free)).status).toBe(200);
  });

  it('count every byte of versions and kept answers, whatever happens to them', async () => {
    const by = await api.client();
    expect(await usageOf(by)).toBe(0);
    const id = await create(by, { 'idempotency-key': 'one' });
    await create(by, { 'idempotency-key': 'two' });
    expect(await usageOf(by)).toBe(await countedBytes(by));
    await by.post(`/strategies/${id}/versions/finalize`, { ...payload(1_234), version: 1 });
    await finalize(id, 6, by);
    await finalize(id, 7, by);
    await by.delete(`/strategies/${id}/versions/2`);
    await api.services.sql`update idempotent_answers set created_at = now() - interval '2 days'`;
    await api.services.sql`delete from idempotent_work`;
    await create(by, { 'idempotency-key': 'one' });
    expect(await usageOf(by)).toBe(await countedBytes(by));
    await api.services.sql`delete from idempotent_answers where created_at < now() - interval '1 day'`;
    expect(await usageOf(by)).toBe(await countedBytes(by));
    expect(await usageOf(by)).toBeGreaterThan(0);
  });

  it('refuse a version that does not fit, and any request that asks to keep its answer', async () => {
    const free = await api.client({ tier: 'free' });
    const id = await create(free);
    const limit = TIER_LIMITS.free.storedBytes;
    await fill(free, limit - 10);
    for (const refused of [await finalize(id, 9, free), await free.post('/strategies', { name: 'S', ...payload(5) })])
      expect([refused.status, refused.body]).toMatchObject([
        403,
        { code: 'TIER_LIMIT_REACHED', limitName: 'storedBytes', limit, usage: limit - 10 },
      ]);
    await fill(free, limit);
    const copy = (headers: Record<string, string>) => free.post('/backtests/batch', { items: [{}] }, headers);
    const kept = await copy({ 'idempotency-key': 'k' });
    expect([kept.status, kept.body.limitName]).toEqual([403, 'storedBytes']);
    expect(kept.body.message).toContain('without an Idempotency-Key');
    expect((await copy({})).status).toBe(200);
  });

  it('hold for writes at the same time', async () => {
    const free = await api.client({ tier: 'free' });
    const size = await (async () => {
      await create(free);
      return usageOf(free);
    })();
    await fill(free, TIER_LIMITS.free.storedBytes - 3 * size);
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => free.post('/strategies', { name: 'S', ...payload(5) })),
    );
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201, 201, 201, 403, 403, 403, 403, 403,
    ]);
  });
});

describe('the free text of a strategy', () => {
  const issuesOf = async (strategyAst: object) =>
    (await client.post('/strategies/validate', { settings: {}, strategyAst })).body.issues as {
      code: string;
      path: string;
    }[];

  it('has bounded ids and labels', async () => {
    const long = strategy({ ...compare(1, 'gt', 0), id: 'x'.repeat(201), label: 'y'.repeat(501) });
    const errors = (await issuesOf(long)).filter(({ code }) => code === 'OUT_OF_RANGE').map(({ path }) => path);
    expect(errors).toEqual(['/strategyAst/strategy/entry/trigger/id', '/strategyAst/strategy/entry/trigger/label']);
  });

  it('has a bounded meta, all together', async () => {
    const meta = (characters: number) => ({ notes: 'x'.repeat(characters) });
    const ast = strategy({ ...compare(1, 'gt', 0), meta: meta(40_000) });
    expect((await issuesOf({ ...ast, meta: meta(20_000) })).filter(({ code }) => code === 'OUT_OF_RANGE')).toEqual([]);
    expect((await issuesOf({ ...ast, meta: meta(40_000) }))[0]).toMatchObject({
      code: 'OUT_OF_RANGE',
      path: '/strategyAst/strategy/entry/trigger/meta',
    });
  });
});
