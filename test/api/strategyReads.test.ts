// One strategy with its versions, and lists of strategies.
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { createApiApp, type Reply } from '../support/apiApp.ts';
import { ast, settings } from '../support/strategyPayloads.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

const create = async (level = 100, who = client): Promise<Reply> =>
  who.post('/strategies', { name: 'A strategy', settings, strategyAst: ast(level) });
const finalize = (id: string, body: object, who = client): Promise<Reply> =>
  who.post(`/strategies/${id}/versions/finalize`, { settings, ...body });

describe('reading strategies', () => {
  it('answers a strategy with its versions, and a version with its payloads', async () => {
    const { body } = await create(4);
    const reply = await client.get(`/strategies/${body.id}`);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ versionCount: 1, versions: [{ version: 1, status: 'draft' }] });
    expect(reply.body.versions[0]).not.toHaveProperty('strategyAst');
    expect(reply.body).not.toHaveProperty('warnings');
    const version = await client.get(`/strategies/${body.id}/versions/1`);
    expect([version.status, version.body]).toEqual([200, body.versions[0]]);
  });

  it('answers an id that is unknown, of another workspace, or not a UUID with 404', async () => {
    const stranger = await api.client();
    const { body } = await create(4, stranger);
    for (const id of [randomUUID(), body.id, 'nonsense', '%00', "'; drop table strategies; --"]) {
      const reply = await client.get(`/strategies/${encodeURIComponent(id)}`);
      expect([reply.status, reply.body.code], id).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('answers lists without payloads, in consecutive pages, with an exact total', async () => {
    const lister = await api.client();
    for (const name of ['c', 'a', 'B', 'b', 'a'])
      await lister.post('/strategies', { name, settings, strategyAst: ast() });
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 3; page++) {
      const reply = await lister.get(`/strategies?sort=name&limit=2${cursor && `&cursor=${cursor}`}`);
      expect(reply.status).toBe(200);
      expect(reply.body.pagination).toMatchObject({ limit: 2, total: 5, hasMore: page < 2 });
      for (const row of reply.body.data) {
        seen.push(row.name);
        expect(row.versions[0]).not.toHaveProperty('strategyAst');
      }
      cursor = reply.body.pagination.nextCursor;
    }
    expect(seen).toEqual(['B', 'a', 'a', 'b', 'c']);
    expect(cursor).toBeNull();
  });

  it('sorts newest first by default, and reverses every sort', async () => {
    const lister = await api.client();
    for (const name of ['one', 'two', 'three'])
      await lister.post('/strategies', { name, settings, strategyAst: ast() });
    const names = async (query: string) =>
      (await lister.get(`/strategies${query}`)).body.data.map((row: { name: string }) => row.name);
    expect(await names('')).toEqual(['three', 'two', 'one']);
    for (const sort of ['createdAt', 'updatedAt', 'name'])
      expect(await names(`?sort=${sort}`)).toEqual((await names(`?sort=-${sort}`)).reverse());
  });

  it('filters by status of any version, and searches name and description literally', async () => {
    const lister = await api.client();
    const names = async (query: string) =>
      (await lister.get(`/strategies?sort=name&${query}`)).body.data.map((row: { name: string }) => row.name);
    const { body } = await lister.post('/strategies', { name: '100% Ready', settings, strategyAst: ast() });
    await finalize(body.id, { version: 1, strategyAst: ast() }, lister);
    await lister.post('/strategies', { name: 'Draft', description: 'under_score', settings, strategyAst: ast() });
    expect(await names('status=ready')).toEqual(['100% Ready']);
    expect(await names('status=draft')).toEqual(['Draft']);
    expect(await names('search=0%25+rE')).toEqual(['100% Ready']);
    expect(await names('search=r_s')).toEqual(['Draft']);
    expect(await names('search=%25%25')).toEqual([]);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1.5',
    'sort=id',
    'sort=',
    'status=running',
    'page=2',
    '__proto__=1',
    'limit=1&limit=2',
  ])('the query %s is 400 VALIDATION_FAILED', async (query) => {
    const reply = await client.get(`/strategies?${query}`);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(reply.body.issues[0].path).toMatch(/^\/query\//);
  });

  it('answers a cursor of other filters or another sort, or a forged one, with 400 CURSOR_INVALID', async () => {
    const lister = await api.client();
    for (let count = 0; count < 3; count++) await create(count + 1, lister);
    const { nextCursor } = (await lister.get('/strategies?limit=1')).body.pagination;
    const [fingerprint] = JSON.parse(Buffer.from(nextCursor, 'base64url').toString());
    const forge = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const query of [
      `cursor=${nextCursor}&status=draft`,
      `cursor=${nextCursor}&sort=name`,
      'cursor=nonsense',
      `cursor=${forge(fingerprint, 'not a date', randomUUID())}`,
      `cursor=${forge(fingerprint, '2020-01-01', 'not an id')}`,
      `cursor=${forge(fingerprint, 1, 2)}`,
    ]) {
      const reply = await lister.get(`/strategies?limit=1&${query}`);
      expect([reply.status, reply.body.code], query).toEqual([400, 'CURSOR_INVALID']);
    }
    expect((await lister.get(`/strategies?limit=2&cursor=${nextCursor}`)).status).toBe(200);
  });

  it('lists rows created in the same millisecond once each', async () => {
    const lister = await api.client();
    const { sql } = api.services;
    await sql`insert into strategies (workspace_id, name, created_at)
      select ${lister.workspaceId}, 'n' || n, '2026-01-01' from generate_series(1, 25) n`;
    const ids = new Set<string>();
    let cursor: string | null = '';
    while (cursor !== null) {
      const reply: Reply = await lister.get(`/strategies?limit=4${cursor && `&cursor=${cursor}`}`);
      for (const row of reply.body.data) ids.add(row.id);
      cursor = reply.body.pagination.nextCursor;
    }
    expect(ids.size).toBe(25);
  });
});
