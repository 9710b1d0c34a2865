// Every request body of the OpenAPI document has an example, and the service accepts it as it stands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { urlOf } from '../../src/db/connect.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { quiet } from '../support/queue.ts';

let api: ApiApp;
let client: Client;
let worker: Worker;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  worker = await startWorker(
    { url: urlOf(api.services.sql), threads: 1, snapshots: () => api.services.catalogue },
    quiet,
  );
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref?: string } } };
}
interface Document {
  readonly paths: Record<string, Record<string, { readonly requestBody?: Body }>>;
  readonly components: { readonly schemas: Record<string, { readonly examples?: readonly object[] }> };
}

/** Method and path → the examples of its request body. */
function documented(): Map<string, readonly object[]> {
  const { paths, components } = api.app.swagger() as unknown as Document;
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        if (requestBody === undefined) return [];
        const name = requestBody.content['application/json'].schema.$ref?.split('/').at(-1);
        return [[`${method.toUpperCase()} ${path}`, components.schemas[name ?? '']?.examples ?? []] as const];
      }),
    ),
  );
}

const asOwner = async (path: string, payload: object): Promise<Reply> =>
  api.send({
    method: 'POST',
    url: `/workspaces/${client.workspaceId}/${path}`,
    headers: { authorization: `Bearer ${await api.token(client.workspaceId, 'owner')}` },
    payload,
  });

const create = (body: object) => client.post('/strategies', body);
const draft = async (): Promise<string> => {
  const [body] = documented().get('POST /public/v1/strategies')!;
  return (await create(body)).body.id;
};
const finalize = async (body: object) => client.post(`/strategies/${await draft()}/versions/finalize`, body);
const readyVersion = async (): Promise<string> => (await finalize({ version: 1 })).body.id;
/** The one member that only a service can fill in. */
const run = async (body: object) => client.post('/backtests', { ...body, strategyVersionId: await readyVersion() });
const runSweep = async (body: object) => client.post('/sweeps', { ...body, strategyVersionId: await readyVersion() });
const checkRobustness = async (body: object) => {
  const [backtest] = documented().get('POST /public/v1/backtests')!;
  const { id } = (await run(backtest)).body;
  await client.get(`/backtests/${id}?wait=60`);
  return client.post(`/backtests/${id}/robustness`, body);
};
const runBatch = async (body: object) => {
  const strategyVersionId = await readyVersion();
  const { items } = body as { readonly items: readonly object[] };
  return client.post('/backtests/batch', { items: items.map((item) => ({ ...item, strategyVersionId })) });
};

const SENDERS: Record<string, (body: object) => Promise<Reply>> = {
  'POST /public/v1/system-strategies/{key}/copy': (body) => client.post('/system-strategies/golden_cross/copy', body),
  'POST /public/v1/strategies/validate': (body) => client.post('/strategies/validate', body),
  'POST /public/v1/strategies/explain': (body) => client.post('/strategies/explain', body),
  'POST /public/v1/strategies': create,
  'POST /public/v1/strategies/{id}/versions/finalize': finalize,
  'POST /public/v1/backtests': run,
  'POST /public/v1/backtests/batch': runBatch,
  'POST /public/v1/backtests/{id}/robustness': checkRobustness,
  'POST /public/v1/sweeps': runSweep,
  'POST /workspaces/{workspaceId}/backtests/validate-strategy': (body) => asOwner('backtests/validate-strategy', body),
  'POST /workspaces/{workspaceId}/backtests/validate-signal-graph': (body) =>
    asOwner('backtests/validate-signal-graph', body),
  'POST /workspaces/{workspaceId}/api-keys': (body) => asOwner('api-keys', body),
};

describe('the set of example bodies', () => {
  it('covers every request body', () => {
    const bodies = documented();
    expect([...bodies.keys()].toSorted()).toEqual(Object.keys(SENDERS).toSorted());
    for (const [operation, examples] of bodies) expect(examples.length, operation).toBeGreaterThan(0);
  });

  it.each(Object.keys(SENDERS))('is accepted by %s', async (operation) => {
    for (const example of documented().get(operation)!) {
      const reply = await SENDERS[operation](example);
      expect([200, 201], reply.text).toContain(reply.status);
      if (operation.includes('/validate')) expect(reply.body).toMatchObject({ valid: true });
      if (operation.endsWith('/batch')) expect(reply.body).toMatchObject({ accepted: 2, refused: 0 });
    }
  });

  it('gives a backtest that completes with trades', async () => {
    const [body] = documented().get('POST /public/v1/backtests')!;
    const { id } = (await run(body)).body;
    const done = await client.get(`/backtests/${id}?wait=60`);
    expect(done.body.status, done.text).toBe('completed');
    expect(done.body.result.summaryJson.totalPositions).toBeGreaterThan(0);
  });
});

describe('a config that GET answers', () => {
  it('is accepted by POST, with an open range as null, and gives the same result', async () => {
    const [body] = documented().get('POST /public/v1/backtests')! as [{ config: object }];
    const config = { ...body.config, range: { start: null, end: null } };
    const first = (await client.get(`/backtests/${(await run({ config })).body.id}?wait=60`)).body;
    expect(first.status).toBe('completed');
    expect(first.resolvedConfig.range).toEqual({ start: null, end: null });
    const reply = await run({ config: first.resolvedConfig });
    expect(reply.status, reply.text).toBe(201);
    const second = (await client.get(`/backtests/${reply.body.id}?wait=60`)).body;
    expect(second.resolvedConfig).toEqual(first.resolvedConfig);
    expect(second.reproducibility.resultHash).toBe(first.reproducibility.resultHash);
    expect((await run({ config: { ...body.config, range: null } })).status).toBe(201);
  });
});
