import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { ast, brokenAst, contradictoryAst, graph, settings } from '../support/strategyPayloads.ts';

let api: ApiApp;
let client: Client;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
});
afterAll(() => api[Symbol.asyncDispose]());

const create = async (level: number, who = client) =>
  (await who.post('/strategies', { name: 'A strategy', settings, strategyAst: ast(level) })).body;
const finalize = (id: string, body: object, who = client): Promise<Reply> =>
  who.post(`/strategies/${id}/versions/finalize`, { settings, ...body });
const versionsOf = async (id: string) => (await client.get(`/strategies/${id}`)).body.versions;

describe('finalize (spec §4.3.11)', () => {
  test('spec §3.2, §4.3.11: finalize with version makes that draft ready, with its id and number and the posted content', async () => {
    const strategy = await create(10);
    const [draft] = strategy.versions;
    const reply = await finalize(strategy.id, { version: 1, strategyAst: ast(11), settings: { warmupPeriod: 5 } });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      id: draft.id,
      version: 1,
      status: 'ready',
      strategyAst: ast(11),
      duplicateOf: null,
    });
    expect(reply.body.settings).toEqual({ warmupPeriod: 5 });
    expect(reply.body.readyAt).not.toBeNull();
    expect(reply.body.strategyHash).not.toBe(draft.strategyHash);
    expect(await versionsOf(strategy.id)).toHaveLength(1);
  });

  test('spec §4.3.11: finalize without version makes a new ready version and leaves drafts untouched', async () => {
    const strategy = await create(12);
    const reply = await finalize(strategy.id, { strategyAst: ast(13) });
    expect(reply.body).toMatchObject({ version: 2, status: 'ready', strategyId: strategy.id });
    const versions = await versionsOf(strategy.id);
    expect(versions.map((each: { status: string }) => each.status)).toEqual(['draft', 'ready']);
    expect(versions[0]).toEqual(strategy.versions[0]);
  });

  test('spec §4.3.11: a signal graph can be finalized, and is kept beside its AST', async () => {
    const strategy = await create(14);
    const reply = await finalize(strategy.id, { version: 1, signalGraph: graph(14) });
    expect(reply.body).toMatchObject({ status: 'ready', signalGraph: graph(14) });
    expect(reply.body.strategyAst.protocol).toBe('svc.strategy');
  });

  test('finalizing again with equal content is 200 and changes nothing', async () => {
    const strategy = await create(15);
    const first = await finalize(strategy.id, { version: 1, strategyAst: ast(15) });
    const again = await finalize(strategy.id, { version: 1, strategyAst: ast(15) });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
  });

  test('a ready version with other content or other settings is 409 VERSION_NOT_DRAFT with the existing one', async () => {
    const strategy = await create(16);
    const ready = await finalize(strategy.id, { version: 1, strategyAst: ast(16) });
    const existing = { id: ready.body.id, version: 1, status: 'ready' };
    for (const body of [
      { version: 1, strategyAst: ast(17) },
      { version: 1, strategyAst: ast(16), settings: { maxConcurrentPositions: 2 } },
      { version: 1, strategyAst: brokenAst() },
    ]) {
      const reply = await finalize(strategy.id, body);
      expect([reply.status, reply.body.code]).toEqual([409, 'VERSION_NOT_DRAFT']);
      expect(reply.body.existing).toEqual(existing);
    }
    expect((await versionsOf(strategy.id))[0].strategyAst).toEqual(ast(16));
  });

  test('spec §3.2: the database itself refuses to change a ready version', async () => {
    const strategy = await create(18);
    const { body } = await finalize(strategy.id, { version: 1, strategyAst: ast(18) });
    const { sql } = api.services;
    await expect(
      sql`update strategy_versions set status = 'draft', ready_at = null where id = ${body.id}`,
    ).rejects.toThrow(/ready/);
    await expect(sql`update strategy_versions set settings = '{}' where id = ${body.id}`).rejects.toThrow(
      /never changes/,
    );
  });

  test('an invalid payload is 422 with issues, and the draft stays a draft', async () => {
    const strategy = await create(19);
    const reply = await finalize(strategy.id, { version: 1, strategyAst: brokenAst() });
    expect([reply.status, reply.body.code]).toEqual([422, 'STRATEGY_INVALID']);
    expect(reply.body.issues[0].path).toBe('/strategyAst/strategy/entry/trigger/op');
    expect((await versionsOf(strategy.id))[0]).toEqual(strategy.versions[0]);
  });

  test('spec §4.3.11: ignoreWarnings acknowledges an entry that can never be true; without it 422', async () => {
    const strategy = await create(20);
    const body = { version: 1, strategyAst: contradictoryAst() };
    for (const ignoreWarnings of [undefined, false]) {
      const reply = await finalize(strategy.id, { ...body, ignoreWarnings });
      expect([reply.status, reply.body.code]).toEqual([422, 'WARNINGS_REQUIRE_CONFIRMATION']);
      expect(reply.body.requiresConfirmation).toBe(true);
    }
    const reply = await finalize(strategy.id, { ...body, ignoreWarnings: true });
    expect(reply.status).toBe(200);
    expect(reply.body.warnings.map((issue: { code: string }) => issue.code)).toContain('CONTRADICTION');
  });

  test('other warnings never block, and come back in warnings', async () => {
    const payload = ast(21);
    const { exits: _, ...strategy } = payload.strategy;
    const made = await create(21);
    const reply = await finalize(made.id, { version: 1, strategyAst: { ...payload, strategy } });
    expect(reply.status).toBe(200);
    expect(reply.body.warnings.map((issue: { code: string }) => issue.code)).toContain('NO_EXIT_RULE');
  });

  test('spec §2.4: forkedFromVersionId names any version of the workspace and is recorded', async () => {
    const origin = await create(22);
    const strategy = await create(23);
    const forkedFromVersionId = origin.versions[0].id;
    const reply = await finalize(strategy.id, { strategyAst: ast(24), forkedFromVersionId });
    expect(reply.body).toMatchObject({ forkedFromVersionId, strategyAst: ast(24) });
  });

  test('forkedFromVersionId that is unknown or of another workspace is 404, malformed 400', async () => {
    const strategy = await create(25);
    const stranger = await api.client();
    const foreign = (await create(25, stranger)).versions[0].id;
    for (const [id, status] of [
      [randomUUID(), 404],
      [foreign, 404],
      ['nonsense', 400],
      ['', 400],
    ] as const) {
      const reply = await finalize(strategy.id, { strategyAst: ast(25), forkedFromVersionId: id });
      expect(reply.status, id).toBe(status);
    }
    expect(await versionsOf(strategy.id)).toHaveLength(1);
  });

  test('an unknown strategy, one of another workspace, and an unknown version are 404', async () => {
    const strategy = await create(26);
    const stranger = await api.client();
    expect((await finalize(randomUUID(), { strategyAst: ast() })).status).toBe(404);
    expect((await finalize('nonsense', { strategyAst: ast() })).status).toBe(404);
    expect((await finalize(strategy.id, { strategyAst: ast() }, stranger)).status).toBe(404);
    expect((await finalize(strategy.id, { version: 2, strategyAst: ast() })).status).toBe(404);
    expect((await finalize(randomUUID(), { strategyAst: brokenAst() })).status).toBe(404);
  });

  test.each([
    ['spec §8: version 0', { version: 0, strategyAst: ast() }],
    ['version 1.5', { version: 1.5, strategyAst: ast() }],
    ['version as text', { version: '1', strategyAst: ast() }],
    ['a version no integer column holds', { version: 2 ** 31, strategyAst: ast() }],
    ['ignoreWarnings as text', { ignoreWarnings: 'yes', strategyAst: ast() }],
    ['no payload', {}],
    ['a name', { name: 'x', strategyAst: ast() }],
    ['settings null', { settings: null, strategyAst: ast() }],
  ])('%s is 400', async (_what, body) => {
    const strategy = await create(27);
    const reply = await finalize(strategy.id, body);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  test('a wrong body is told before an unknown strategy', async () => {
    expect((await finalize(randomUUID(), {})).status).toBe(400);
  });

  test('equal content has one strategyHash, and the later version names the earlier as duplicateOf', async () => {
    const who = await api.client();
    const one = await create(28, who);
    const first = await finalize(one.id, { version: 1, strategyAst: ast(28) }, who);
    const two = await create(28, who);
    const second = await finalize(two.id, { version: 1, signalGraph: graph(28) }, who);
    const third = await finalize(two.id, { strategyAst: ast(28) }, who);
    expect(new Set([first, second, third].map(({ body }) => body.strategyHash)).size).toBe(1);
    expect([first, second, third].map(({ body }) => body.duplicateOf)).toEqual([null, first.body.id, first.body.id]);
    const elsewhere = await api.client();
    const other = await create(28, elsewhere);
    const alone = await finalize(other.id, { version: 1, strategyAst: ast(28) }, elsewhere);
    expect(alone.body.duplicateOf).toBeNull();
  });

  test('parallel finalizes get numbers of their own, without a hole', async () => {
    const strategy = await create(29);
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => finalize(strategy.id, { strategyAst: ast(29) })),
    );
    expect(replies.map((reply) => reply.body.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 2),
    );
  });

  test('one draft finalized by two with different content: one wins, the other is 409', async () => {
    const strategy = await create(30);
    const replies = await Promise.all(
      [31, 32].map((level) => finalize(strategy.id, { version: 1, strategyAst: ast(level) })),
    );
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  test('finalizing moves updatedAt', async () => {
    const strategy = await create(33);
    await finalize(strategy.id, { version: 1, strategyAst: ast(33) });
    const { body } = await client.get(`/strategies/${strategy.id}`);
    expect(Date.parse(body.updatedAt)).toBeGreaterThan(Date.parse(strategy.updatedAt));
  });
});
