// What GET answers, POST accepts: every member that an answer and a body share is sent back with the value that was
// read.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { ast, graph, settings } from '../support/strategyPayloads.ts';

type Json = Record<string, unknown>;

let api: ApiApp;
let client: Client;
let worker: Worker;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  worker = await startApiWorker(api.services);
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}
interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      { readonly post: { readonly requestBody: { readonly content: Record<string, { schema: Schema }> } } }
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Names of the members of a body, as the OpenAPI document has them: a new member is sent back as well. */
function membersOf(path: string): string[] {
  const { paths, components } = api.app.swagger() as unknown as OpenApi;
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(components.schemas[schema.$ref.split('/').at(-1)!]);
  const { schema } = paths[path].post.requestBody.content['application/json'];
  const { properties = {}, anyOf = [] } = resolve(schema);
  const names = [properties, ...anyOf.map((each) => resolve(each).properties ?? {})].flatMap(Object.keys);
  expect(names.length, path).toBeGreaterThan(0);
  return names;
}

/** The members of `answer` that the body of `path` takes, at least `required` among them. */
function shared(path: string, answer: Json, required: readonly string[]): Json {
  const body = Object.fromEntries(membersOf(path).flatMap((name) => (name in answer ? [[name, answer[name]]] : [])));
  expect(Object.keys(body)).toEqual(expect.arrayContaining([...required]));
  return body;
}

const accepted = (reply: Reply): Json => {
  expect([200, 201], reply.text).toContain(reply.status);
  return reply.body as Json;
};
const read = async (path: string): Promise<Json> => accepted(await client.get(path));

async function makeStrategy(payload: object): Promise<{ strategy: Json; version: Json }> {
  const { id } = accepted(await client.post('/strategies', { name: 'Round', settings, ...payload }));
  const path = `/strategies/${String(id)}`;
  return { strategy: await read(path), version: await read(`${path}/versions/1`) };
}
const PAYLOADS: [string, object][] = [
  ['an AST', { strategyAst: ast() }],
  ['a graph', { signalGraph: graph() }],
  ['an AST without a description', { strategyAst: ast(), description: null }],
];
const CONTENT = ['settings', 'strategyAst', 'signalGraph'];

describe('a strategy that GET answers', () => {
  it.each(PAYLOADS)('is created again, from %s', async (_what, payload) => {
    const { strategy, version } = await makeStrategy(payload);
    const body = shared('/public/v1/strategies', { ...strategy, ...version }, ['name', 'description', ...CONTENT]);
    const again = accepted(await client.post('/strategies', body));
    const stored = await read(`/strategies/${String(again.id)}/versions/1`);
    expect(stored.strategyHash).toBe(version.strategyHash);
    expect([stored.strategyAst, stored.signalGraph]).toEqual([version.strategyAst, version.signalGraph]);
    expect(again.description).toBe(strategy.description);
  });

  it.each(PAYLOADS)('is valid and has a plan, from %s', async (_what, payload) => {
    const { strategy, version } = await makeStrategy(payload);
    for (const route of ['validate', 'explain']) {
      const body = shared(`/public/v1/strategies/${route}`, { ...strategy, ...version }, CONTENT);
      const answer = accepted(await client.post(`/strategies/${route}`, body));
      expect(answer).toMatchObject(route === 'validate' ? { valid: true } : { plan: expect.any(String) });
    }
  });

  it('is copied from a template, with the values of the template', async () => {
    const template = await read('/system-strategies/bollinger_mean_reversion');
    const copy = shared('/public/v1/system-strategies/{key}/copy', template, ['name', 'description']);
    accepted(await client.post('/system-strategies/bollinger_mean_reversion/copy', copy));
    for (const key of ['bollinger_mean_reversion', 'donchian_turtle']) {
      const answer = await read(`/system-strategies/${key}`);
      accepted(await client.post('/strategies', shared('/public/v1/strategies', answer, CONTENT)));
    }
  });
});

describe('a version that GET answers', () => {
  it.each(PAYLOADS)(
    'is finalized: as the draft it is, and as the origin of another, from %s',
    async (_what, payload) => {
      const { strategy, version } = await makeStrategy(payload);
      const route = '/public/v1/strategies/{id}/versions/finalize';
      const path = `/strategies/${String(strategy.id)}/versions/finalize`;
      const body = shared(route, version, [...CONTENT, 'version', 'forkedFromVersionId']);
      expect(body.forkedFromVersionId).toBeNull();
      const ready = accepted(await client.post(path, body));
      expect(ready).toMatchObject({ id: version.id, status: 'ready', strategyHash: version.strategyHash });
      // As it is now: ready, which finalizing with equal content leaves alone.
      const stored = await read(`/strategies/${String(strategy.id)}/versions/1`);
      expect(accepted(await client.post(path, shared(route, stored, CONTENT)))).toMatchObject({ id: version.id });
      const { version: _number, ...content } = body;
      const fork = accepted(await client.post(path, { ...content, forkedFromVersionId: version.id }));
      const forked = await read(`/strategies/${String(strategy.id)}/versions/2`);
      expect(forked).toMatchObject({ id: fork.id, forkedFromVersionId: version.id });
    },
  );
});

describe('a backtest that GET answers', () => {
  const RANGES: [string, object][] = [
    ['no range', {}],
    ['a range that is null', { range: null }],
    ['an open range', { range: { start: null, end: null } }],
    ['a range with one end', { range: { start: '2015-01-01', end: null } }],
    ['a range in milliseconds', { range: { start: Date.UTC(2015, 0), end: Date.UTC(2018, 0) } }],
  ];
  let strategyVersionId: string;
  beforeAll(async () => {
    const { strategy } = await makeStrategy({ strategyAst: ast() });
    const ready = await client.post(`/strategies/${String(strategy.id)}/versions/finalize`, { version: 1 });
    strategyVersionId = accepted(ready).id as string;
  });
  const completed = async (id: unknown): Promise<Json & { reproducibility: Json }> => {
    const answer = await read(`/backtests/${String(id)}?wait=60`);
    expect(answer.status, JSON.stringify(answer.error)).toBe('completed');
    return answer as Json & { reproducibility: Json };
  };

  it.each(RANGES)('is queued again with both of its configs, one by one and in a batch: %s', async (_what, range) => {
    const sent = { strategyVersionId, config: config(range) };
    const first = await completed(accepted(await client.post('/backtests', sent)).id);
    const body = shared('/public/v1/backtests', first, ['strategyVersionId', 'config']);
    const bodies = [body, { ...body, config: first.resolvedConfig }];
    const queued = await Promise.all(bodies.map((each) => client.post('/backtests', each)));
    const batch = accepted(await client.post('/backtests/batch', { items: bodies }));
    expect(batch).toMatchObject({ accepted: bodies.length, refused: 0 });
    const ids = [...queued.map((reply) => accepted(reply).id), ...(batch.data as Json[]).map(({ id }) => id)];
    expect(ids).toHaveLength(4);
    for (const id of ids) {
      const again = await completed(id);
      expect(again.resolvedConfig).toEqual(first.resolvedConfig);
      expect(again.reproducibility.resultHash).toBe(first.reproducibility.resultHash);
    }
  });

  it('is checked again for robustness by the spec of the check', async () => {
    const { id } = await completed(
      accepted(await client.post('/backtests', { strategyVersionId, config: config() })).id,
    );
    const path = `/backtests/${String(id)}/robustness`;
    const asked = { analyses: ['feeStress'] };
    const made = accepted(await client.post(path, asked));
    const { spec } = await read(`${path}/${String(made.id)}`);
    const body = shared('/public/v1/backtests/{id}/robustness', spec as Json, ['analyses', 'seed']);
    expect(Object.keys(body)).toEqual(Object.keys(spec as Json));
    expect(accepted(await client.post(path, body)).spec).toEqual(spec);
  });

  it('has been swept, and the spec of the sweep is swept again', async () => {
    const pointer = '/strategyAst/strategy/entry/trigger/right/value';
    const space = { [pointer]: { values: [90, 100] } };
    const made = accepted(
      await client.post('/sweeps', {
        strategyVersionId,
        config: config(),
        space,
        method: 'grid',
        objective: 'returnPct',
      }),
    );
    const sweep = await read(`/sweeps/${String(made.id)}`);
    const answer = { ...(sweep.spec as Json), strategyVersionId: sweep.strategyVersionId };
    const body = shared('/public/v1/sweeps', answer, ['strategyVersionId', 'config', 'space', 'method', 'objective']);
    expect(Object.keys(body).toSorted()).toEqual(Object.keys(answer).toSorted());
    expect(accepted(await client.post('/sweeps', body)).spec).toEqual(sweep.spec);
  });
});

describe('an API key that GET lists', () => {
  it('is made again, without a description and an end', async () => {
    const authorization = `Bearer ${await api.token(client.workspaceId, 'owner')}`;
    const url = `/workspaces/${client.workspaceId}/api-keys`;
    const headers = { authorization };
    accepted(await api.send({ method: 'POST', url, headers, payload: { name: 'Plain' } }));
    const { data } = accepted(await api.send({ url, headers })) as { data: Json[] };
    const plain = data.find(({ name }) => name === 'Plain')!;
    expect(plain).toMatchObject({ expiresAt: null });
    const route = '/workspaces/{workspaceId}/api-keys';
    const body = shared(route, plain, ['name', 'description', 'role', 'scopes', 'expiresAt']);
    const again = accepted(await api.send({ method: 'POST', url, headers, payload: body }));
    expect(again).toMatchObject(body);
  });
});
