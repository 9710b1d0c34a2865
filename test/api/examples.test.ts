// Every example in the OpenAPI document, the manifest and the authoring pack is found by walking them, and is run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BacktestConfig, ENGINE_VERSION } from '../../src/engine/index.ts';
import { artifactNotice } from '../../src/engine/report/artifactNotice.ts';
import type { CompletedRun } from '../../src/engine/report/simulatedRun.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';

let api: ApiApp;
let client: Client;
let worker: Worker;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  worker = await startApiWorker(api.services);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

interface Reference {
  readonly $ref?: string;
}
interface Body {
  readonly content: {
    readonly 'application/json': { readonly schema: Reference & { readonly anyOf?: readonly Reference[] } };
  };
}
interface Operation {
  readonly requestBody?: Body;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { readonly examples?: readonly object[] }> };
}

/** Method and path → the examples of its request body. */
function documented(): Map<string, readonly object[]> {
  const { paths, components } = api.app.swagger() as unknown as Document;
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        if (requestBody === undefined) return [];
        const { $ref, anyOf = [] } = requestBody.content['application/json'].schema;
        // A body that may be left out is one of the schema and null.
        const name = ($ref ?? anyOf.find((each) => each.$ref !== undefined)?.$ref)?.split('/').at(-1);
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
const changeWebhook = async (payload: object): Promise<Reply> => {
  const { id } = (await client.post('/webhooks', { url: 'https://example.com/' })).body;
  const headers = { 'x-api-key': client.apiKey };
  return api.send({ method: 'PATCH', url: `/public/v1/webhooks/${id}`, headers, payload });
};

const label = async (kind: string, body: object): Promise<Reply> => {
  const of = { strategies: create, backtests: run, sweeps: runSweep }[kind]!;
  const [made] = documented().get(`POST /public/v1/${kind}`)!;
  return client.patch(`/${kind}/${(await of(made)).body.id}`, body);
};

/** Two completed backtests. */
const runTwo = async (): Promise<readonly string[]> => {
  const [backtest] = documented().get('POST /public/v1/backtests')!;
  const ids = [(await run(backtest)).body.id, (await run(backtest)).body.id];
  for (const id of ids) await client.get(`/backtests/${id}?wait=60`);
  return ids;
};
const combine = async (body: object): Promise<Reply> => {
  const ids = await runTwo();
  const { backtests } = body as { readonly backtests: readonly object[] };
  const named = backtests.map((each, index) => ({ ...each, backtestId: ids[index] }));
  return client.post('/backtests/combine', { ...body, backtests: named, wait: 60 });
};

const SENDERS: Record<string, (body: object) => Promise<Reply>> = {
  'POST /public/v1/system-strategies/{key}/copy': (body) => client.post('/system-strategies/golden_cross/copy', body),
  'POST /public/v1/strategies/validate': (body) => client.post('/strategies/validate', body),
  'POST /public/v1/strategies/explain': (body) => client.post('/strategies/explain', body),
  'POST /public/v1/strategies': create,
  'POST /public/v1/strategies/{id}/versions/finalize': finalize,
  'POST /public/v1/backtests': run,
  'POST /public/v1/backtests/batch': runBatch,
  'POST /public/v1/backtests/matrix': async (body) =>
    client.post('/backtests/matrix', { ...body, versions: [await readyVersion()] }),
  'POST /public/v1/backtests/compare': async (body) =>
    client.post('/backtests/compare', { ...body, backtestIds: await runTwo(), wait: 60 }),
  'POST /public/v1/backtests/combine': combine,
  'POST /public/v1/backtests/{id}/robustness': checkRobustness,
  'POST /public/v1/sweeps': runSweep,
  'PATCH /public/v1/strategies/{id}': (body) => label('strategies', body),
  'PATCH /public/v1/backtests/{id}': (body) => label('backtests', body),
  'PATCH /public/v1/sweeps/{id}': (body) => label('sweeps', body),
  'POST /public/v1/columns': (body) => client.post('/columns', body),
  'POST /public/v1/webhooks': (body) => client.post('/webhooks', body),
  'PATCH /public/v1/webhooks/{id}': changeWebhook,
  'POST /workspaces/{workspaceId}/backtests/validate-strategy': (body) => asOwner('backtests/validate-strategy', body),
  'POST /workspaces/{workspaceId}/backtests/validate-signal-graph': (body) =>
    asOwner('backtests/validate-signal-graph', body),
  'POST /workspaces/{workspaceId}/api-keys': (body) => asOwner('api-keys', body),
};

interface Example {
  /** JSON pointer to the `example`, or to one of the `examples`. */
  readonly place: string;
  readonly value: unknown;
}

/** Every `example` and `examples` of an OpenAPI document, wherever it is; a property of that name is not one. */
function examplesIn(value: unknown, place = '', isNames = false): Example[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]): Example[] => {
    const at = `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isNames && name === 'example') return [{ place: at, value: member }];
    // A list in a schema; an object of named examples beside a media type or parameter.
    if (!isNames && name === 'examples')
      return Object.entries(member as object).map(([key, each]) => ({ place: `${at}/${key}`, value: each as unknown }));
    const areNames = ['properties', 'schemas', 'paths', 'headers', 'responses', 'content'].includes(name) && !isNames;
    return examplesIn(member, at, areNames);
  });
}

/**
 * A copy of `body` with the value at the place that a schema has at `properties/a/…/properties/b`, alone in its object.
 */
function withMember(body: object, schemaPlace: string, value: unknown): object {
  const copy = structuredClone(body) as Record<string, unknown>;
  const names = [...schemaPlace.matchAll(/(?<=\/properties\/)[^/]+/g)].map(([name]) => name);
  const [last, holder] = [names.pop()!, names.pop()!];
  const owner = names.reduce((at, name) => at[name] as Record<string, unknown>, copy);
  owner[holder] = { [last]: value };
  return copy;
}

const BARS = '/public/v1/market-data/{symbol}/{timeframe}/bars';

/** Places of examples → how such an example is run. An example that no row matches fails the test. */
const RUNNERS: readonly (readonly [RegExp, (example: Example, match: RegExpExecArray) => Promise<void>])[] = [
  [
    /^\/components\/schemas\/(\w+)(\/properties\/.+)?\/examples\/\d+$/,
    async ({ value }, [, schema, member]) => {
      const [operation, examples] = [...documented()].find(([, each]) => each.length > 0 && isOf(schema, each))!;
      const body = member === undefined ? (value as object) : withMember(examples[0], member, value);
      const reply = await SENDERS[operation](body);
      expect([200, 201], `${operation}: ${reply.text}`).toContain(reply.status);
    },
  ],
  [
    // A parameter of the bars of a series.
    /^\/paths\/~1public~1v1~1market-data~1{symbol}~1{timeframe}~1bars\/get\/parameters\/(\d+)\/schema\/examples\/\d+$/,
    async ({ value }, [, at]) => {
      const { get } = (api.app.swagger() as unknown as Document).paths[BARS];
      const { name, in: place } = get.parameters![Number(at)];
      const query = place === 'query' ? `?${name}=${encodeURIComponent(String(value))}` : '';
      const path = BARS.replace(`{${name}}`, String(value)).replace('{symbol}', 'SPX').replace('{timeframe}', '1d');
      const reply = await client.get(`${path.replace('/public/v1', '')}${query}`);
      expect([name, reply.status, reply.text]).toEqual([name, 200, expect.any(String)]);
    },
  ],
  [
    // The notice of a file that was computed again; a backtest of the engine in use has none to compare with.
    /\/headers\/artifact-notice\/schema\/example$/,
    async ({ value }) => {
      const trades = Array.from({ length: 130 }, (_, id) => ({ id }));
      const stored = { engineVersion: '1.0.0', resultHash: 'a', summary: { sharpeRatio: 1 }, trades };
      const run = { resultHash: 'b', summary: { sharpeRatio: 2 }, trades } as unknown as CompletedRun;
      const { message } = artifactNotice(stored, run)!;
      expect(message.replace(`engine ${ENGINE_VERSION};`, 'engine 1.1.0;')).toBe(value);
    },
  ],
  [
    // The address of the next page of a CSV file.
    /\/headers\/link\/schema\/example$/,
    async ({ value }) => {
      const [body] = documented().get('POST /public/v1/backtests')! as [{ config: object }];
      const { id } = (await run({ config: { ...body.config, range: null } })).body;
      await client.get(`/backtests/${id}?wait=60`);
      const page = await client.get(`/backtests/${id}/artifacts/trades?format=csv&limit=1`);
      expect(page.status, page.text).toBe(200);
      const adapted = String(value)
        .replace('{id}', id)
        .replace('limit=1000', 'limit=1')
        .replace('offset=1000', 'offset=1');
      expect(page.headers.link).toBe(adapted);
      const [, next] = /^<\/public\/v1([^>]+)>/.exec(adapted)!;
      expect((await client.get(next)).status).toBe(200);
    },
  ],
];
const schemasOf = (): Document['components']['schemas'] =>
  (api.app.swagger() as unknown as Document).components.schemas;
const isOf = (schema: string, examples: readonly object[]): boolean =>
  JSON.stringify(schemasOf()[schema].examples) === JSON.stringify(examples);

describe('the examples of the OpenAPI document', () => {
  it('are found by walking it, and each of them is run', async () => {
    const found = examplesIn(api.app.swagger());
    expect(found.length).toBeGreaterThan(20);
    for (const example of found) {
      const rows = RUNNERS.flatMap(([place, run]) => {
        const match = place.exec(example.place);
        return match === null ? [] : [{ run, match }];
      });
      expect([example.place, rows.length]).toEqual([example.place, 1]);
      await rows[0].run(example, rows[0].match);
    }
  });

  it('would be found in responses, parameters and media types as well', () => {
    const schema = { type: 'object', properties: { example: { type: 'string', example: 'x' } } };
    const document = {
      paths: {
        '/a': {
          get: {
            parameters: [{ name: 'q', example: 1 }],
            responses: { 200: { content: { 'application/json': { schema, examples: { one: { value: 2 } } } } } },
          },
        },
      },
    };
    expect(examplesIn(document).map(({ place }) => place)).toEqual([
      '/paths/~1a/get/parameters/0/example',
      '/paths/~1a/get/responses/200/content/application~1json/schema/properties/example/example',
      '/paths/~1a/get/responses/200/content/application~1json/examples/one',
    ]);
  });
});

/** Every string of an answer, with the object that holds it. */
function stringsIn(
  value: unknown,
  owner: Record<string, unknown> = {},
): { text: string; owner: Record<string, unknown> }[] {
  if (typeof value === 'string') return [{ text: value, owner }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((member) => stringsIn(member, value as Record<string, unknown>));
}

describe('the examples of the manifest and the authoring pack', () => {
  let manifest: Record<string, unknown>;
  let pack: Record<string, unknown> & { examples: Record<string, Record<string, unknown>> };
  beforeAll(async () => {
    manifest = (await client.get('')).body;
    pack = (await client.get('/authoring-pack')).body;
  });
  const completed = async (payload: object, config: object) => {
    const { id } = (await create({ name: 'Pack', ...payload })).body;
    const ready = await client.post(`/strategies/${id}/versions/finalize`, { version: 1 });
    expect(ready.status, ready.text).toBe(200);
    const queued = await client.post('/backtests', { strategyVersionId: ready.body.id, config });
    expect(queued.status, queued.text).toBe(201);
    const done = await client.get(`/backtests/${queued.body.id}?wait=60`);
    expect(done.body.status, done.text).toBe('completed');
    return done.body;
  };

  it('are strategies and a config that complete with trades', async () => {
    const { settings, config, rotation, ...payloads } = pack.examples;
    expect(Object.keys(payloads).toSorted()).toEqual(['signalGraph', 'strategyAst']);
    for (const [name, payload] of Object.entries(payloads)) {
      const done = await completed({ settings, [name]: payload }, config);
      expect(done.result.summaryJson.totalPositions, name).toBeGreaterThan(0);
    }
    const { signalInstrument: _one, ...common } = config as { signalInstrument: object };
    const instruments = ['SPX', 'NASDAQ', 'AAPL', 'MSFT', 'IBM'].map((symbol) => ({ symbol }));
    const rotated = await completed({ settings: {}, strategyAst: rotation }, { ...common, instruments });
    expect(rotated.result.summaryJson.portfolio.maxPositions).toBe(3);
    // Nothing else in either answer is a worked example.
    const { examples: _, ...rest } = pack;
    expect(JSON.stringify([manifest, rest])).not.toMatch(/"(?:example|examples|protocol)":(?!"svc)/);
  });

  /** JSON in a sentence → what shows that it is right. */
  const SNIPPETS: Readonly<Record<string, () => Promise<void>>> = {
    '{"SPY": 60, "BND": 40}': async () => {
      const allocation = {
        kind: 'allocation',
        when: { kind: 'schedule', every: 'month', on: 'last' },
        long: {},
        weights: { mode: 'fixed', values: { SPY: 60, BND: 40 } },
      };
      const strategyAst = { protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', allocation } };
      const reply = await client.post('/strategies/validate', { settings: {}, strategyAst });
      expect(reply.body, reply.text).toMatchObject({ valid: true });
    },
    '{"version": 1}': async () => expect((await finalize({ version: 1 })).body.status).toBe('ready'),
    '{"ref": id}': async () => expect(JSON.stringify(pack.examples.signalGraph)).toMatch(/"left":\{"ref":"fast"\}/),
    '{"param": "<name>"}': async () => {
      const { strategy, ...root } = structuredClone(pack.examples.strategyAst) as { strategy: Record<string, unknown> };
      const params = [{ name: 'stop', type: 'float', default: 10 }];
      const risk = { stopLoss: { mode: 'percent', value: { param: 'stop' } } };
      const strategyAst = { ...root, strategy: { ...strategy, params, risk } };
      const reply = await client.post('/strategies/validate', { settings: {}, strategyAst });
      expect(reply.body, reply.text).toMatchObject({ valid: true });
    },
  };
  it('are right where they are JSON within a sentence', async () => {
    const texts = stringsIn([manifest, pack]).map(({ text }) => text);
    const found = new Set(texts.flatMap((text) => [...text.matchAll(/\{"[^{}]*\}/g)].map(([snippet]) => snippet)));
    expect([...found].toSorted()).toEqual(Object.keys(SNIPPETS).toSorted());
    for (const check of Object.values(SNIPPETS)) await check();
  });

  it('are answered where they are queries', async () => {
    const { id } = await completed({ settings: {}, strategyAst: pack.examples.strategyAst }, pack.examples.config);
    const queries = stringsIn([manifest, pack]).flatMap(({ text, owner }) =>
      [...text.matchAll(/(\/[\w/{}-]+)?(\?\w+=[\w=&,]+)/g)].map(
        ([, path = String(owner.path), query]) => `${path.replace('{id}', String(id))}${query}`,
      ),
    );
    expect(queries.length).toBeGreaterThan(3);
    for (const url of queries) {
      const reply = await client.get(url.replace('/public/v1', ''));
      expect([url, reply.status]).toEqual([url, 200]);
    }
  });

  it('are accepted in a config where they list its values', async () => {
    const words: Record<string, string> = {
      ...(pack.config as Record<string, string>),
      timeframe: (pack.timeframes as string[]).join(' '),
    };
    const lists: [string, string, (word: string) => object][] = [
      ['timeframe', ' ', (word) => ({ timeframe: word })],
      ['ambiguityResolution', ' ', (word) => ({ ambiguityResolution: word })],
      ['ambiguityFallback', ' ', (word) => ({ ambiguityFallback: word })],
    ];
    for (const [name, separator, member] of lists) {
      expect(words[name].split(separator).length, name).toBeGreaterThan(1);
      for (const word of words[name].split(separator)) {
        const reply = BacktestConfig.safeParse({ ...pack.examples.config, ...member(word) });
        expect([name, word, reply.success]).toEqual([name, word, true]);
      }
    }
    const [pointer] = /\/signalGraph\/[\w/]+/.exec(words.overrides)!;
    const { settings, signalGraph, config } = pack.examples;
    const plain = await completed({ settings, signalGraph }, config);
    const other = await completed({ settings, signalGraph }, { ...config, overrides: { [pointer]: 20 } });
    expect(other.reproducibility.resultHash).not.toBe(plain.reproducibility.resultHash);
  });
});

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
