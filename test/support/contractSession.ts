// A session against the whole service that makes every request of the public contract, and the record of its replies.
import type { ApiKeyScope } from '../../src/db/apiKeys.ts';
import { endMember } from '../../src/db/members.ts';
import { insertWorkspace } from '../../src/db/workspaces.ts';
import type { Client, Reply } from './apiApp.ts';
import { createBacktestApi, type BacktestApi } from './backtestApi.ts';
import { compare, exit, market, sma } from './builders.ts';
import { ast, brokenAst, graph, settings } from './strategyPayloads.ts';

/** What the contract says of an operation of the Public Agent API. */
interface Operation {
  readonly name: string;
  readonly scope?: ApiKeyScope;
  readonly isWrite: boolean;
}
const read = (path: string, scope?: ApiKeyScope): Operation => ({ name: `GET ${path}`, scope, isWrite: false });
const write = (path: string, scope: ApiKeyScope): Operation => ({ name: `POST ${path}`, scope, isWrite: true });

export const OPERATIONS: readonly Operation[] = [
  read('/public/v1'),
  read('/public/v1/workspace', 'workspace_read'),
  read('/public/v1/capabilities'),
  read('/public/v1/system-strategies', 'system_strategies_read'),
  read('/public/v1/system-strategies/{key}', 'system_strategies_read'),
  write('/public/v1/system-strategies/{key}/copy', 'strategies_write'),
  read('/public/v1/strategies', 'strategies_read'),
  read('/public/v1/strategies/{id}', 'strategies_read'),
  write('/public/v1/strategies/validate', 'strategies_write'),
  write('/public/v1/strategies', 'strategies_write'),
  write('/public/v1/strategies/{id}/versions/finalize', 'strategies_write'),
  read('/public/v1/backtests', 'backtests_read'),
  read('/public/v1/backtests/{id}', 'backtests_read'),
  write('/public/v1/backtests', 'backtests_write'),
];
const KEYS = '/workspaces/{workspaceId}/api-keys';

/** The replies of a session by the operation and the case: `GET /public/v1 · ok`. */
export interface ContractSession extends AsyncDisposable {
  readonly replies: ReadonlyMap<string, Reply>;
}

export async function runContractSession(): Promise<ContractSession> {
  const backtests = await createBacktestApi();
  await backtests.withWorker();
  const replies = new Map<string, Reply>();
  /** The only place that records: what no request has answered is not covered. */
  const record = async (operation: string, of: string, how: Headers, path: Params = {}, body?: unknown) => {
    const [method, pattern] = operation.split(' ') as ['GET', string];
    const url = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name]);
    const headers = body === undefined ? how : { ...how, 'content-type': 'application/json' };
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
    const reply = await backtests.api.send({ method, url, headers, ...payload });
    replies.set(`${operation} · ${of}`, reply);
    return reply;
  };
  await callPublicApi(backtests, record);
  await manageKeys(backtests, record);
  return { replies, [Symbol.asyncDispose]: () => backtests[Symbol.asyncDispose]() };
}

type Params = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;
type RecordRequest = (operation: string, of: string, how: Headers, path?: Params, body?: unknown) => Promise<Reply>;
const keyOf = ({ apiKey }: Client): Headers => ({ 'x-api-key': apiKey });

/** Every operation with a key that may, by both transports, without a key, and with keys that lack scope or role. */
async function callPublicApi(
  { api, client, run, body, strategyId }: BacktestApi,
  record: RecordRequest,
): Promise<void> {
  const { workspaceId } = client;
  const ended = await run({ params: { value: 1 } });
  const payload = { settings, strategyAst: ast(), signalGraph: graph() };
  const sent: Readonly<Record<string, readonly [Params, unknown?]>> = {
    'GET /public/v1/system-strategies/{key}': [{ key: 'golden_cross' }],
    'POST /public/v1/system-strategies/{key}/copy': [{ key: 'golden_cross' }, { name: 'copy', description: 'a copy' }],
    'GET /public/v1/strategies/{id}': [{ id: strategyId }],
    'POST /public/v1/strategies/validate': [{}, { ...payload, settings: { ...settings, warmupPeriod: 0 } }],
    'POST /public/v1/strategies': [{}, { name: 'made', description: 'made', ...payload }],
    'POST /public/v1/strategies/{id}/versions/finalize': [{ id: strategyId }, { ...payload, ignoreWarnings: false }],
    'GET /public/v1/backtests/{id}': [{ id: ended.body.id }],
    'POST /public/v1/backtests': [{}, body({ params: { value: 2 } })],
  };
  const every = OPERATIONS.flatMap(({ scope = [] }) => scope);
  const viewer = await api.client({ workspaceId, role: 'viewer' });
  for (const { name, scope, isWrite } of OPERATIONS) {
    const [path, content] = sent[name] ?? [{}];
    const call = (of: string, how: Headers): Promise<Reply> => record(name, of, how, path, content);
    await call('ok', keyOf(client));
    await call('bearer', { authorization: `Bearer ${client.apiKey}` });
    await call('no key', {});
    const scopes = every.filter((one) => one !== scope);
    if (scope !== undefined) await call('no scope', keyOf(await api.client({ workspaceId, scopes })));
    if (isWrite) await call('viewer', keyOf(viewer));
  }
  const [validate, create] = ['POST /public/v1/strategies/validate', 'POST /public/v1/strategies'];
  const finalize = 'POST /public/v1/strategies/{id}/versions/finalize';
  const as = (name: string, of: string, content: object, path: Params = {}): Promise<Reply> =>
    record(name, of, keyOf(client), path, content);
  const { body: made } = await as(create, 'draft', { name: 'draft', description: '', ...payload });
  await as('POST /public/v1/backtests', 'draft', body({}, made.versions[0].id));
  await as(finalize, 'version', { ...payload, version: 1 }, { id: made.id });
  await as(finalize, 'version 0', { ...payload, version: 0 }, { id: made.id });
  await as(validate, 'broken', { settings, strategyAst: brokenAst() });
  const slow = { ...ast(), strategy: { ...ast().strategy, exits: [exit(compare(market(), 'lt', sma(50)))] } };
  await as(validate, 'short warm-up', { settings: { warmupPeriod: 1 }, strategyAst: slow });
  await as(validate, 'no payload', { settings });
  await as(validate, 'no settings', { strategyAst: ast() });
  for (const wrong of [
    { maxConcurrentPositions: 0 },
    { maxConcurrentPositions: 101 },
    { warmupPeriod: -1 },
    { other: 1 },
  ])
    await as(validate, JSON.stringify(wrong), { settings: wrong, strategyAst: ast() });
  const inGraph = (...changed: readonly object[]) => ({ settings, signalGraph: { ...graph(), nodes: changed } });
  await as(validate, 'no nodes', inGraph());
  await as(
    validate,
    'negative offset',
    inGraph(...graph().nodes.with(0, { ...graph().nodes[0], offset: -1 } as never)),
  );
  const rolling = { id: 'r', kind: 'rolling', op: 'max', period: 0, source: { ref: 'close' } };
  await as(validate, 'period 0', inGraph(...graph().nodes, rolling));
  for (const at of ['protocol', 'version'] as const) {
    await as(validate, `AST of another ${at}`, { settings, strategyAst: { ...ast(), [at]: 'other' } });
    await as(validate, `graph of another ${at}`, { settings, signalGraph: { ...graph(), [at]: 'other' } });
  }
}

/** The life of keys, by owner, admin and member, up to the quota of each tier. */
async function manageKeys({ api }: BacktestApi, record: RecordRequest): Promise<void> {
  const { sql } = api.services;
  const [list, create, revoke] = [`GET ${KEYS}`, `POST ${KEYS}`, `DELETE ${KEYS}/{apiKeyId}`];
  for (const [tier, limit] of [
    ['free', 5],
    ['plus', 20],
    ['pro', 50],
  ] as const) {
    const { id: workspaceId } = await insertWorkspace(sql, { name: tier, tier });
    const bearer = async (role: 'owner' | 'admin' | 'member'): Promise<Headers> => ({
      authorization: `Bearer ${await api.token(workspaceId, role)}`,
    });
    const owner = await bearer('owner');
    for (let count = 0; count < limit; count++)
      await record(create, `${tier} within`, owner, { workspaceId }, { name: 'k' });
    await record(create, `${tier} beyond`, owner, { workspaceId }, { name: 'k' });
    if (tier !== 'pro') continue;
    await sql`update api_keys set revoked_at = now() where workspace_id = ${workspaceId}`;
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const given = { name: 'n'.repeat(100), description: 'd'.repeat(500), role: 'viewer', expiresAt };
    const full = await record(create, 'ok', owner, { workspaceId }, { ...given, scopes: ['workspace_read'] });
    await record(create, 'long name', owner, { workspaceId }, { name: 'n'.repeat(101) });
    await record(create, 'long description', owner, { workspaceId }, { name: 'n', description: 'd'.repeat(501) });
    await record(create, 'past', owner, { workspaceId }, { name: 'n', expiresAt: '2020-01-01T00:00:00.000Z' });
    await record(create, 'no scopes', owner, { workspaceId }, { name: 'n', scopes: [] });
    const [short, other] = [
      await record(create, 'admin', await bearer('admin'), { workspaceId }, { name: 'short' }),
      full,
    ];
    await record(create, 'member', await bearer('member'), { workspaceId }, { name: 'n' });
    await record(list, 'member', await bearer('member'), { workspaceId });
    await record(list, 'no token', {}, { workspaceId });
    const use = (of: string, apiKey: string): Promise<Reply> =>
      record('GET /public/v1/workspace', of, { 'x-api-key': apiKey });
    await use('active key', other.body.apiKey);
    await sql`update api_keys set expires_at = now() where id = ${short.body.id}`;
    await use('expired key', short.body.apiKey);
    await record(list, 'expired', owner, { workspaceId });
    for (const what of ['ok', 'again']) await record(revoke, what, owner, { workspaceId, apiKeyId: other.body.id });
    await use('revoked key', other.body.apiKey);
    await record(revoke, 'expired key', owner, { workspaceId, apiKeyId: short.body.id });
    await use('revoked and expired key', short.body.apiKey);
    await record(revoke, 'missing', owner, { workspaceId, apiKeyId: workspaceId });
    await record(list, 'ok', owner, { workspaceId });
    await use('malformed key', 'svc_live_nothing');
    await record('GET /public/v1/workspace', 'malformed bearer', { authorization: 'Bearer nothing' });
    const left = await record(create, 'creator', owner, { workspaceId }, { name: 'left' });
    const [{ by }] = await sql<{ by: string }[]>`select created_by as by from api_keys where id = ${left.body.id}`;
    await sql.begin((tx) => endMember(tx, workspaceId, by));
    await use('key of one who left', left.body.apiKey);
  }
}
