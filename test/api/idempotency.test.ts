import { afterAll, describe, expect, it } from 'vitest';
import { answerOnce } from '../../src/api/http/idempotency.ts';
import { requireKey } from '../../src/api/http/auth/authentication.ts';
import { buildApp } from '../../src/api/app.ts';
import { problem } from '../../src/api/http/problems.ts';
import { createApiApp, type Reply } from '../support/apiApp.ts';
import { config } from '../support/backtestApi.ts';
import { ast, brokenAst, settings } from '../support/strategyPayloads.ts';
import { CROSSING } from '../support/sweeps.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

let keys = 0;
const newKey = () => ({ 'idempotency-key': `key-${keys++}` });
const body = (level = 1) => ({ name: 'Once', settings, strategyAst: ast(level) });
const count = async (who = client) => (await who.get('/strategies')).body.pagination.total;

describe('Idempotency-Key', () => {
  it('creates one strategy for a repeated request, and marks the second answer as replayed', async () => {
    const key = newKey();
    const before = await count();
    const first = await client.post('/strategies', body(), key);
    const second = await client.post('/strategies', body(), key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.location).toBe(first.headers.location);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await count()).toBe(before + 1);
  });

  it('is required to avoid a second strategy from a repeated request', async () => {
    const before = await count();
    await client.post('/strategies', body());
    await client.post('/strategies', body());
    expect(await count()).toBe(before + 2);
  });

  it('answers the same key with other bytes with 422 IDEMPOTENCY_KEY_REUSED', async () => {
    const key = newKey();
    await client.post('/strategies', body(1), key);
    const other = await client.post('/strategies', body(2), key);
    expect([other.status, other.body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    const spaced = await api.send({
      method: 'POST',
      url: '/public/v1/strategies',
      headers: { 'x-api-key': client.apiKey, 'content-type': 'application/json', ...key },
      payload: JSON.stringify(body(1), null, 1),
    });
    expect(spaced.status).toBe(422);
  });

  it('applies to one workspace, one path and its ids', async () => {
    const key = newKey();
    const stranger = await api.client();
    const mine = await client.post('/strategies', body(), key);
    const theirs = await stranger.post('/strategies', body(), key);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const copied = await client.post('/system-strategies/rsi2_mean_reversion/copy', body(), key);
    expect(copied.status).toBe(400);
    const finalized = await client.post(
      `/strategies/${mine.body.id}/versions/finalize`,
      { settings, strategyAst: ast() },
      key,
    );
    expect(finalized.status).toBe(200);
    expect(finalized.headers['idempotency-replayed']).toBeUndefined();
  });

  it('gives another API key of the workspace the same answer', async () => {
    const key = newKey();
    const colleague = await api.client({ workspaceId: client.workspaceId });
    const first = await client.post('/strategies', body(), key);
    expect((await colleague.post('/strategies', body(), key)).text).toBe(first.text);
  });

  it('stores 422 and 404 with the request id of the first request', async () => {
    for (const [path, payload] of [
      ['/strategies', { name: 'Broken', settings, strategyAst: brokenAst() }],
      ['/strategies/00000000-0000-7000-8000-000000000000/versions/finalize', { settings, strategyAst: ast() }],
    ] as const) {
      const key = newKey();
      const first = await client.post(path, payload, key);
      const second = await client.post(path, payload, key);
      expect([404, 422]).toContain(first.status);
      expect(second.text).toBe(first.text);
      expect(second.headers['content-type']).toContain('application/problem+json');
      expect(second.headers['idempotency-replayed']).toBe('true');
    }
  });

  it('does not store 400, 401 and 403, so that the key works once the request is right', async () => {
    const key = newKey();
    expect((await client.post('/strategies', { name: 'x' }, key)).status).toBe(400);
    const viewer = await api.client({ workspaceId: client.workspaceId, role: 'viewer' });
    expect((await viewer.post('/strategies', body(), key)).status).toBe(403);
    const revoked = await api.client({ workspaceId: client.workspaceId });
    const [, , keyId] = revoked.apiKey.split('_');
    const { sql } = api.services;
    await sql`update api_keys set revoked_at = now() where key_id = ${keyId}`;
    expect((await revoked.post('/strategies', body(), key)).status).toBe(401);
    await sql`update api_keys set revoked_at = null where key_id = ${keyId}`;
    const right = await revoked.post('/strategies', body(), key);
    expect([right.status, right.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect((await client.post('/strategies', body(), key)).text).toBe(right.text);
  });

  it('does not store the 403 of a tier limit', async () => {
    const free = await api.client({ tier: 'free' });
    for (let made = 0; made < 25; made++) await free.post('/strategies', body(made + 1));
    const key = newKey();
    expect((await free.post('/strategies', body(), key)).status).toBe(403);
    await api.services.sql`delete from strategies where workspace_id = ${free.workspaceId}`;
    expect((await free.post('/strategies', body(), key)).status).toBe(201);
  });

  it('has 1 to 255 characters', async () => {
    expect((await client.post('/strategies', body(), { 'idempotency-key': 'k'.repeat(255) })).status).toBe(201);
    for (const key of ['', 'k'.repeat(256)]) {
      const reply = await client.post('/strategies', body(), { 'idempotency-key': key });
      expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    }
  });

  it('is ignored by validate', async () => {
    const key = newKey();
    await client.post('/strategies/validate', { settings, strategyAst: ast() }, key);
    const other = await client.post('/strategies/validate', { settings, strategyAst: brokenAst() }, key);
    expect(other.body.valid).toBe(false);
  });

  it('expires after 24 hours', async () => {
    const { sql } = api.services;
    const key = newKey();
    const first = await client.post('/strategies', body(), key);
    await sql`
      update idempotent_answers set created_at = now() - interval '25 hours' where key = ${key['idempotency-key']}`;
    await sql`update idempotent_work set created_at = now() - interval '25 hours'`;
    const second = await client.post('/strategies', body(2), key);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('creates one strategy for ten concurrent requests, and answers early ones with a 409 to retry', async () => {
    const key = newKey();
    const before = await count();
    const replies = await Promise.all(Array.from({ length: 10 }, () => client.post('/strategies', body(), key)));
    for (const reply of replies) {
      expect([201, 409]).toContain(reply.status);
      if (reply.status === 409) expect(reply.body).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryable: true });
    }
    expect(await count()).toBe(before + 1);
    const ids = new Set(replies.filter((reply) => reply.status === 201).map((reply) => reply.body.id));
    expect(ids.size).toBe(1);
  });
});

describe('a request whose answer was lost after its rows were made', () => {
  const made = async (
    path: string,
    sent: object,
  ): Promise<[sent: () => Promise<Reply>, rows: () => Promise<number>]> => {
    const key = newKey();
    const send = () => client.post(path, sent, key);
    const first = await send();
    expect([200, 201], first.text).toContain(first.status);
    await api.services.sql`delete from idempotent_answers where key = ${key['idempotency-key']}`;
    const rows = async (): Promise<number> => {
      const [{ total }] = await api.services.sql<[{ total: number }]>`
        select ((select count(*) from strategies) + (select count(*) from strategy_versions)
          + (select count(*) from sweeps) + (select count(*) from sweep_shards)
          + (select count(*) from backtests))::int as total`;
      return total;
    };
    return [send, rows];
  };
  const readyVersion = async (): Promise<{ readonly strategyId: string; readonly id: string }> => {
    const payload = { settings: {}, strategyAst: CROSSING };
    const { id: strategyId } = (await client.post('/strategies', { name: 'crossing', ...payload })).body;
    const { id } = (await client.post(`/strategies/${strategyId}/versions/finalize`, payload)).body;
    return { strategyId, id };
  };

  it.each([
    ['a strategy', async () => made('/strategies', body())],
    ['a copy of a template', async () => made('/system-strategies/supertrend_follow/copy', {})],
    [
      'a version',
      async () => {
        const { strategyId } = await readyVersion();
        return made(`/strategies/${strategyId}/versions/finalize`, { settings, strategyAst: ast(7) });
      },
    ],
    [
      'a sweep',
      async () => {
        const { id } = await readyVersion();
        return made('/sweeps', {
          strategyVersionId: id,
          config: config(),
          space: { fast: { values: [5, 6] } },
          method: 'grid',
        });
      },
    ],
    ['a backtest', async () => made('/backtests', { strategyVersionId: (await readyVersion()).id, config: config() })],
  ])('does not make %s a second time', async (_name, make) => {
    const [send, rows] = await make();
    const before = await rows();
    expect(await send()).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    expect(await rows()).toBe(before);
  });
});

describe('a set of concurrent writes', () => {
  it('finishes even if each of forty needs a second connection', async () => {
    const { sql } = api.services;
    const app = await buildApp(api.services, {
      registerMore: async (scope) => {
        scope.post('/public/v1/probe', { onRequest: requireKey() }, (request, reply) =>
          answerOnce(api.services, request, reply, async () => {
            await sql`select pg_sleep(0.01)`;
            return { status: 200, body: {} };
          }),
        );
      },
    });
    const headers = { 'x-api-key': client.apiKey };
    const one = (index: number) =>
      app.inject({
        method: 'POST',
        url: '/public/v1/probe',
        headers: index % 2 === 0 ? headers : { ...headers, 'idempotency-key': `many-${index}` },
      });
    const replies = await Promise.all(Array.from({ length: 40 }, (_, index) => one(index)));
    expect(replies.map((reply) => reply.statusCode)).toEqual(Array(40).fill(200));
    await app.close();
  });
});

describe('a write that fails', () => {
  it('is rolled back and its answer stored, except that nothing is stored for a bug, which is 500', async () => {
    const { sql } = api.services;
    const app = await buildApp(api.services, {
      registerMore: async (scope) => {
        scope.post('/public/v1/probe', { onRequest: requireKey() }, (request, reply) =>
          answerOnce(api.services, request, reply, async (tx) => {
            await tx`insert into strategies (workspace_id, name) values (${request.caller.workspaceId}, 'half')`;
            if ((request.body as { bug?: boolean }).bug) throw new Error('bug');
            throw problem('BACKTEST_ALREADY_TERMINAL');
          }),
        );
      },
    });
    const before = await count();
    const send = (payload: object, key: string) =>
      app.inject({
        method: 'POST',
        url: '/public/v1/probe',
        headers: { 'x-api-key': client.apiKey, 'idempotency-key': key },
        payload,
      });
    expect((await send({}, 'fails')).statusCode).toBe(409);
    expect((await send({}, 'fails')).headers['idempotency-replayed']).toBe('true');
    const bug = await send({ bug: true }, 'bug');
    expect([bug.statusCode, bug.json().code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(bug.body).not.toContain('half');
    const [{ kept }] = await sql`select count(*)::int as kept from idempotent_answers where key = 'bug'`;
    expect(kept).toBe(0);
    expect(await count()).toBe(before);
    await app.close();
  });
});
