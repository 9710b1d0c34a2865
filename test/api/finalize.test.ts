import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { createApiApp, type Reply } from '../support/apiApp.ts';
import { ast, brokenAst, contradictoryAst, graph, settings } from '../support/strategyPayloads.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

const create = async (level: number, who = client) =>
  (await who.post('/strategies', { name: 'A strategy', settings, strategyAst: ast(level) })).body;
const finalize = (id: string, body: object, who = client): Promise<Reply> =>
  who.post(`/strategies/${id}/versions/finalize`, { settings, ...body });
const versionsOf = async (id: string) => {
  const { versions } = (await client.get(`/strategies/${id}`)).body as { versions: { version: number }[] };
  const replies = versions.map(({ version }) => client.get(`/strategies/${id}/versions/${version}`));
  return (await Promise.all(replies)).map(({ body }) => body);
};

describe('finalize', () => {
  it('makes the given draft version ready, with its id and number and the posted content', async () => {
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

  it('creates a new ready version if none is given, and does not change drafts', async () => {
    const strategy = await create(12);
    const reply = await finalize(strategy.id, { strategyAst: ast(13) });
    expect(reply.body).toMatchObject({ version: 2, status: 'ready', strategyId: strategy.id });
    const versions = await versionsOf(strategy.id);
    expect(versions.map((each: { status: string }) => each.status)).toEqual(['draft', 'ready']);
    expect(versions[0]).toEqual(strategy.versions[0]);
  });

  it('accepts a signal graph, and keeps it beside its AST', async () => {
    const strategy = await create(14);
    const reply = await finalize(strategy.id, { version: 1, signalGraph: graph(14) });
    expect(reply.body).toMatchObject({ status: 'ready', signalGraph: graph(14) });
    expect(reply.body.strategyAst.protocol).toBe('svc.strategy');
  });

  it('promotes the stored draft if a version but no payload is sent', async () => {
    const strategy = await create(40);
    const reply = await finalize(strategy.id, { version: 1, settings: { warmupPeriod: 7 } });
    expect(reply.status, reply.text).toBe(200);
    const [draft] = strategy.versions;
    expect(reply.body).toMatchObject({ id: draft.id, version: 1, status: 'ready', strategyAst: ast(40) });
    expect(reply.body.settings).toEqual({ warmupPeriod: 7 });
  });

  it('uses the settings of the stored draft if none are sent either', async () => {
    const strategy = await create(41);
    const path = `/strategies/${strategy.id}/versions/finalize`;
    const reply = await client.post(path, { version: 1 });
    expect([reply.status, reply.body.status]).toEqual([200, 'ready']);
    expect(reply.body.settings).toEqual(settings);
    const again = await client.post(path, { version: 1 });
    expect([again.status, again.text]).toEqual([200, reply.text]);
    const other = await client.post(path, { version: 1, settings: { maxConcurrentPositions: 3 } });
    expect([other.status, other.body.code]).toEqual([409, 'VERSION_NOT_DRAFT']);
  });

  it('promotes a stored signal graph with the AST it compiles to', async () => {
    const made = await client.post('/strategies', { name: 'A graph', settings, signalGraph: graph(42) });
    const [draft] = made.body.versions;
    const reply = await client.post(`/strategies/${made.body.id}/versions/finalize`, { version: 1 });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ signalGraph: graph(42), strategyAst: draft.strategyAst });
  });

  it('asks for confirmation of a stored draft whose entry can never be true', async () => {
    const made = await client.post('/strategies', { name: 'Never', settings, strategyAst: contradictoryAst() });
    const path = `/strategies/${made.body.id}/versions/finalize`;
    const refused = await client.post(path, { version: 1 });
    expect([refused.status, refused.body.code]).toEqual([422, 'WARNINGS_REQUIRE_CONFIRMATION']);
    expect((await client.post(path, { version: 1, ignoreWarnings: true })).status).toBe(200);
  });

  it('answers an unknown version or strategy without a payload with 404, even of another workspace', async () => {
    const strategy = await create(43);
    const stranger = await api.client();
    const path = (id: string) => `/strategies/${id}/versions/finalize`;
    const unknown = await client.post(path(strategy.id), { version: 2 });
    expect([unknown.status, unknown.body.message]).toEqual([404, expect.stringContaining('version')]);
    expect((await client.post(path(randomUUID()), { version: 1 })).status).toBe(404);
    expect((await client.post(path('nonsense'), { version: 1 })).status).toBe(404);
    expect((await stranger.post(path(strategy.id), { version: 1 })).status).toBe(404);
    expect((await versionsOf(strategy.id))[0].status).toBe('draft');
  });

  it('accepts what GET answers: a null payload and a null origin', async () => {
    const strategy = await create(44);
    const [{ settings: stored, strategyAst, signalGraph, version, forkedFromVersionId }] = await versionsOf(
      strategy.id,
    );
    expect([signalGraph, forkedFromVersionId]).toEqual([null, null]);
    const reply = await client.post(`/strategies/${strategy.id}/versions/finalize`, {
      settings: stored,
      strategyAst,
      signalGraph,
      version,
      forkedFromVersionId,
    });
    expect([reply.status, reply.body.id]).toEqual([200, strategy.versions[0].id]);
  });

  it('answers a payload without settings with 400 MISSING_FIELD', async () => {
    const strategy = await create(45);
    const path = `/strategies/${strategy.id}/versions/finalize`;
    for (const body of [{ strategyAst: ast(45) }, { version: 1, signalGraph: graph(45) }]) {
      const reply = await client.post(path, body);
      expect(reply.status).toBe(400);
      expect(reply.body.issues).toMatchObject([{ code: 'MISSING_FIELD', path: '/settings' }]);
    }
  });

  it('answers 400 PAYLOAD_REQUIRED if neither a payload nor a version is sent', async () => {
    const strategy = await create(46);
    for (const body of [{}, { strategyAst: null, signalGraph: null }]) {
      const reply = await finalize(strategy.id, body);
      expect(reply.body.issues.map((issue: { code: string }) => issue.code)).toEqual(['PAYLOAD_REQUIRED']);
    }
  });

  it('answers 200 and changes nothing when repeated with equal content', async () => {
    const strategy = await create(15);
    const first = await finalize(strategy.id, { version: 1, strategyAst: ast(15) });
    const again = await finalize(strategy.id, { version: 1, strategyAst: ast(15) });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
  });

  it('answers other content for a ready version with 409 VERSION_NOT_DRAFT and the existing one', async () => {
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

  it('is protected by the database, which refuses to change a ready version', async () => {
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

  it('answers an invalid payload with 422 and issues, and leaves the draft a draft', async () => {
    const strategy = await create(19);
    const reply = await finalize(strategy.id, { version: 1, strategyAst: brokenAst() });
    expect([reply.status, reply.body.code]).toEqual([422, 'STRATEGY_INVALID']);
    expect(reply.body.issues[0].path).toBe('/strategyAst/strategy/entry/trigger/op');
    expect((await versionsOf(strategy.id))[0]).toEqual(strategy.versions[0]);
  });

  it('requires ignoreWarnings for an entry that can never be true', async () => {
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

  it('returns other warnings without blocking', async () => {
    const payload = ast(21);
    const { exits: _, ...strategy } = payload.strategy;
    const made = await create(21);
    const reply = await finalize(made.id, { version: 1, strategyAst: { ...payload, strategy } });
    expect(reply.status).toBe(200);
    expect(reply.body.warnings.map((issue: { code: string }) => issue.code)).toContain('NO_EXIT_RULE');
  });

  it('records forkedFromVersionId of any version of the workspace', async () => {
    const origin = await create(22);
    const strategy = await create(23);
    const forkedFromVersionId = origin.versions[0].id;
    const reply = await finalize(strategy.id, { strategyAst: ast(24), forkedFromVersionId });
    expect(reply.body).toMatchObject({ forkedFromVersionId, strategyAst: ast(24) });
  });

  it('answers an unknown forkedFromVersionId with 404, and a malformed one with 400', async () => {
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

  it('answers an unknown strategy, one of another workspace, and an unknown version with 404', async () => {
    const strategy = await create(26);
    const stranger = await api.client();
    expect((await finalize(randomUUID(), { strategyAst: ast() })).status).toBe(404);
    expect((await finalize('nonsense', { strategyAst: ast() })).status).toBe(404);
    expect((await finalize(strategy.id, { strategyAst: ast() }, stranger)).status).toBe(404);
    expect((await finalize(strategy.id, { version: 2, strategyAst: ast() })).status).toBe(404);
    expect((await finalize(randomUUID(), { strategyAst: brokenAst() })).status).toBe(404);
  });

  it.each([
    ['version 0', { version: 0, strategyAst: ast() }],
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

  it('reports an invalid body before an unknown strategy', async () => {
    expect((await finalize(randomUUID(), {})).status).toBe(400);
  });

  it('gives equal content one strategyHash, and names the earlier version as duplicateOf', async () => {
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

  it('numbers parallel versions distinctly and without gaps', async () => {
    const strategy = await create(29);
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => finalize(strategy.id, { strategyAst: ast(29) })),
    );
    expect(replies.map((reply) => reply.body.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 2),
    );
  });

  it('lets one of two concurrent requests with different content win, and answers the other with 409', async () => {
    const strategy = await create(30);
    const replies = await Promise.all(
      [31, 32].map((level) => finalize(strategy.id, { version: 1, strategyAst: ast(level) })),
    );
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  it('updates updatedAt', async () => {
    const strategy = await create(33);
    await finalize(strategy.id, { version: 1, strategyAst: ast(33) });
    const { body } = await client.get(`/strategies/${strategy.id}`);
    expect(Date.parse(body.updatedAt)).toBeGreaterThan(Date.parse(strategy.updatedAt));
  });
});
