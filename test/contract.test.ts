// The public contract, table by table, against the replies of a session that makes every request of it. A row is
// covered by a reply that came: a row without one fails, and so does a reply that no row looks at.
import { afterAll, describe, expect, it } from 'vitest';
import { OPERATIONS, runContractSession } from './support/contractSession.ts';
import type { Reply } from './support/apiApp.ts';

const session = await runContractSession();
afterAll(() => session[Symbol.asyncDispose]());

/** Replies that a row has looked at. */
const seen = new Set<string>();
function replyOf(operation: string, of = 'ok'): Reply {
  const key = `${operation} · ${of}`;
  const reply = session.replies.get(key);
  if (reply === undefined) throw new Error(`No request of the session is "${key}".`);
  seen.add(key);
  return reply;
}
const outcomeOf = ({ status, body }: Reply): [number, string | undefined] => [status, body?.message];

const KEYS = '/workspaces/{workspaceId}/api-keys';
const [LIST, CREATE, REVOKE] = [`GET ${KEYS}`, `POST ${KEYS}`, `DELETE ${KEYS}/{apiKeyId}`];
const WORKSPACE = 'GET /public/v1/workspace';
const VALIDATE = 'POST /public/v1/strategies/validate';
const FINALIZE = 'POST /public/v1/strategies/{id}/versions/finalize';
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;
const iso = expect.stringMatching(ISO);
const text = expect.any(String);

describe('an operation', () => {
  const names = OPERATIONS.map(({ name }) => name);
  it.each(names)('%s answers a key that may, by either transport', (name) => {
    const made = ['POST /public/v1/strategies', 'POST /public/v1/backtests'].includes(name) || name.endsWith('/copy');
    const success = made ? 201 : 200;
    expect([replyOf(name).status, replyOf(name, 'bearer').status]).toEqual([success, success]);
  });
  it.each(names)('%s answers 401 without a key', (name) => {
    const message = 'Missing API key. Provide x-api-key or Authorization: Bearer <api_key>.';
    expect(outcomeOf(replyOf(name, 'no key'))).toEqual([401, message]);
  });
  it.each(OPERATIONS.filter(({ scope }) => scope))('$name answers 403 without its scope $scope', ({ name, scope }) => {
    const { status, body } = replyOf(name, 'no scope');
    expect([status, body.requiredScopes]).toEqual([403, [scope]]);
  });
  it.each(OPERATIONS.filter(({ isWrite }) => isWrite))('$name answers 403 to a viewer with its scope', ({ name }) => {
    expect(replyOf(name, 'viewer').status).toBe(403);
  });
});

describe('resources', () => {
  const strategy = { id: text, name: 'made', description: 'made', versions: [expect.objectContaining({ version: 1 })] };
  const key = {
    id: text, name: 'n'.repeat(100), description: 'd'.repeat(500), role: 'viewer', scopes: ['workspace_read'],
    keyPrefix: expect.stringMatching(/^svc_live_\w+$/), expiresAt: iso, createdAt: iso,
  }; // prettier-ignore
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  it.each<[string, () => unknown, unknown]>([
    [
      'workspace',
      () => replyOf(WORKSPACE).body,
      {
        workspace: { id: text, name: text, createdAt: iso },
        apiKey: { role: 'member', scopes: expect.any(Array) },
        subscription: { tier: 'pro' },
      },
    ],
    ['API key, created', () => replyOf(CREATE).body, { ...key, apiKey: expect.stringMatching(/^svc_live_[^_]+_.+$/) }],
    ['strategy', () => replyOf('POST /public/v1/strategies').body, strategy],
    [
      'strategy version',
      () => replyOf(FINALIZE).body,
      { id: uuid, version: expect.any(Number), status: 'ready', forkedFromVersionId: null },
    ],
    ['template', () => replyOf('GET /public/v1/system-strategies/{key}').body, { key: 'golden_cross' }],
    [
      'backtest',
      () => replyOf('GET /public/v1/backtests/{id}').body,
      {
        id: uuid,
        status: 'completed',
        config: expect.any(Object),
        result: {
          summaryJson: { strategyTrace: expect.anything(), ruleStatsSummary: expect.anything() },
          artifactUrls: expect.any(Object),
        },
      },
    ],
    [
      'validation issue',
      () => replyOf(VALIDATE, 'broken').body.issues[0],
      {
        code: 'UNKNOWN_OPERATOR',
        path: text,
        field: 'strategyAst',
        severity: 'error',
        message: text,
        suggestion: text,
      },
    ],
    [
      'warning',
      () => replyOf(VALIDATE, 'short warm-up').body,
      {
        valid: true,
        issues: expect.arrayContaining([expect.objectContaining({ code: 'WARMUP_TOO_SHORT', severity: 'warning' })]),
      },
    ],
    ['payload of both kinds', () => replyOf(VALIDATE).body, { valid: true }],
  ])('have the fields of a %s', (_what, reply, fields) => {
    expect(reply()).toMatchObject(fields as object);
  });

  it('list keys without their plaintext, with who made them and when they were used', () => {
    const { status, body } = replyOf(LIST);
    expect(status).toBe(200);
    const listed = body.data.find(({ name }: { name: string }) => name === 'n'.repeat(100));
    expect(listed).toMatchObject({
      ...key,
      tokenPreview: `${listed.keyPrefix}…`,
      status: 'revoked',
      lastUsedAt: expect.toSatisfy((at) => at === null || ISO.test(String(at))),
      revokedAt: iso,
      createdBy: { id: text, email: text, name: expect.toSatisfy((name) => name === null || typeof name === 'string') },
    });
    expect(JSON.stringify(body)).not.toContain(replyOf(CREATE).body.apiKey);
  });

  it('publish what may be written', () => {
    const { indicators, signalGraph, operators, limits, ...others } = replyOf('GET /public/v1/capabilities').body;
    expect([indicators, signalGraph.nodes, signalGraph.bindings, operators, limits]).not.toContain(undefined);
    expect(JSON.stringify(others)).toContain('"timeframes"');
  });
});

describe('states', () => {
  const statusOf = (reply: Reply, id: string): string =>
    reply.body.data.find((one: { id: string }) => one.id === id).status;
  it('of a key: active, expired, revoked, and revoked again without an error', () => {
    const [made, short] = [replyOf(CREATE).body.id, replyOf(CREATE, 'admin').body.id];
    expect([statusOf(replyOf(LIST, 'expired'), made), statusOf(replyOf(LIST, 'expired'), short)]).toEqual([
      'active',
      'expired',
    ]);
    expect([statusOf(replyOf(LIST), made), statusOf(replyOf(LIST), short)]).toEqual(['revoked', 'revoked']);
    const ends = ['ok', 'again', 'expired key'].map((of) => replyOf(REVOKE, of));
    for (const { status, body } of ends) expect([status, body]).toEqual([200, { success: true, revokedAt: iso }]);
    expect(ends[1].body).toEqual(ends[0].body);
  });
  it('of a version: a draft that is finalized, and a ready one made directly', () => {
    expect(replyOf('POST /public/v1/strategies', 'draft').body.versions[0]).toMatchObject({
      status: 'draft',
      version: 1,
    });
    expect(replyOf('POST /public/v1/system-strategies/{key}/copy').body.versions[0].status).toBe('draft');
    expect(replyOf(FINALIZE, 'version').body).toMatchObject({ status: 'ready', version: 1 });
    expect(replyOf(FINALIZE).body).toMatchObject({ status: 'ready', version: 2 });
  });
  it('of a backtest: queued for a ready version, refused for a draft', () => {
    expect(replyOf('POST /public/v1/backtests').body.status).toBe('queued');
    expect(replyOf('POST /public/v1/backtests', 'draft').status).toBe(409);
  });
});

describe('a refusal of a key', () => {
  it.each([
    ['malformed key', 'Invalid API key'],
    ['malformed bearer', 'Invalid API key'],
    ['revoked key', 'API key has been revoked'],
    ['expired key', 'API key has expired'],
    ['revoked and expired key', 'API key has been revoked'],
    ['key of one who left', 'API key creator is no longer a workspace member'],
  ])('is 401 for a %s: %s', (of, message) => {
    expect(outcomeOf(replyOf(WORKSPACE, of))).toEqual([401, message]);
  });
  it('is not given to an active one', () => {
    expect(replyOf(WORKSPACE, 'active key').status).toBe(200);
  });
});

describe('management', () => {
  it('is for owners and admins', () => {
    expect(replyOf(CREATE, 'admin').status).toBe(201);
    expect([replyOf(CREATE, 'member').status, replyOf(LIST, 'member').status]).toEqual([403, 403]);
    expect(replyOf(LIST, 'no token').status).toBe(401);
  });
  it('answers 404 for a key that does not exist', () => {
    expect(replyOf(REVOKE, 'missing').status).toBe(404);
  });
});

describe('limits', () => {
  it.each([
    ['free', 5],
    ['plus', 20],
    ['pro', 50],
  ])('of active keys of tier %s: %i', (tier, limit) => {
    const message = `API key limit (${limit}) reached. Revoke unused keys or upgrade your plan.`;
    expect(replyOf(CREATE, `${tier} within`).status).toBe(201);
    expect(outcomeOf(replyOf(CREATE, `${tier} beyond`))).toEqual([403, message]);
  });
  it('do not count revoked and expired keys', () => {
    expect(replyOf(CREATE, 'creator').status).toBe(201);
  });
  it.each(['long name', 'long description', 'past', 'no scopes'])('of a new key: %s', (of) => {
    expect(replyOf(CREATE, of).status).toBe(400);
  });
  it.each(['{"maxConcurrentPositions":0}', '{"maxConcurrentPositions":101}', '{"warmupPeriod":-1}', '{"other":1}'])(
    'of settings: %s',
    (of) => {
      const { status, body } = replyOf(VALIDATE, of);
      expect([status, body.valid, body.issues[0].field]).toEqual([200, false, 'settings']);
    },
  );
  it.each(['no nodes', 'negative offset', 'period 0'])('of a graph: %s', (of) => {
    expect(replyOf(VALIDATE, of).body).toMatchObject({
      valid: false,
      issues: expect.arrayContaining([expect.objectContaining({ field: 'signalGraph', severity: 'error' })]),
    });
  });
  it.each(['AST', 'graph'])('of the protocol of the %s', (kind) => {
    const codes = ['protocol', 'version'].map(
      (at) => replyOf(VALIDATE, `${kind} of another ${at}`).body.issues[0].code,
    );
    expect(codes).toEqual(['PROTOCOL_UNSUPPORTED', 'VERSION_UNSUPPORTED']);
  });
  it('of the version to finalize, and of a body without what it requires', () => {
    expect(replyOf(FINALIZE, 'version 0').status).toBe(400);
    expect(replyOf(VALIDATE, 'no payload').body.valid).not.toBe(true);
    expect(replyOf(VALIDATE, 'no settings').body.valid).not.toBe(true);
  });
});

it('leaves no reply of the session without a row', () => {
  expect([...session.replies.keys()].filter((key) => !seen.has(key))).toEqual([]);
});
