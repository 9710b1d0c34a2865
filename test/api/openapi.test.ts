import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/api/http/problemTable.ts';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp();
afterAll(() => api[Symbol.asyncDispose]());

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: object };
  readonly responses: Record<string, { readonly content?: Record<string, unknown> }>;
}
const operations = (): [string, Operation][] => {
  const { paths } = api.app.swagger() as unknown as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
};

/**
 * The contract, one line per operation and per schema: method, path, operation id, statuses, and a digest of everything
 * else. A changed digest says where the contract has changed; to see how, compare what `npm run -s openapi` prints
 * before and after.
 */
function contractLines(): string[] {
  const { paths: _paths, components, ...rest } = api.app.swagger() as unknown as Record<string, object>;
  const { schemas, ...security } = components as { schemas: Record<string, object> };
  const digest = (part: object): string => createHash('sha256').update(JSON.stringify(part)).digest('hex').slice(0, 12);
  return [
    ...operations().map(([name, operation]) =>
      [name, operation.operationId ?? '-', ...Object.keys(operation.responses), digest(operation)].join(' '),
    ),
    ...Object.entries(schemas).map(([name, schema]) => `schema ${name} ${digest(schema)}`),
    `security ${digest(security)}`,
    `rest ${digest(rest)}`,
  ];
}

describe('the OpenAPI document', () => {
  it('describes every file that is also CSV as a list of objects in JSON', () => {
    const files = operations().flatMap(([name, { responses }]) => {
      const { content = {} } = responses['200'] ?? {};
      return 'text/csv' in content ? [[name, content['application/json']] as const] : [];
    });
    expect(files.map(([name]) => name)).toEqual(
      expect.arrayContaining(['GET /public/v1/backtests/{id}/artifacts/{name}', 'GET /public/v1/sweeps/{id}/results']),
    );
    // A page has its rows beside the pagination.
    const pages = [
      'GET /public/v1/backtests',
      'GET /public/v1/market-data/{symbol}/{timeframe}/bars',
      'POST /public/v1/columns',
    ];
    const lists = files.filter(([name]) => !pages.includes(name));
    expect(lists).toHaveLength(files.length - pages.length);
    for (const [name, json] of lists)
      expect([name, json]).toMatchObject([name, { schema: { type: 'array', items: {} } }]);
    for (const [, json] of lists) expect(JSON.stringify(json)).toContain('"type":"object"');
  });

  it('describes the agent view of every operation that has one with a schema of its own', () => {
    const withView = operations().filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'view'));
    expect(withView.length).toBeGreaterThan(3);
    for (const [name, { responses }] of withView) {
      const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      expect([name, JSON.stringify(success[1].content)]).toEqual([name, expect.stringMatching(/"#[^"]*AgentView"/)]);
    }
  });

  it('has the operations and schemas of test/golden/openapi.txt (UPDATE_DOCS=1 writes it)', () => {
    const path = new URL('../golden/openapi.txt', import.meta.url);
    const lines = contractLines();
    if (process.env.UPDATE_DOCS === '1') writeFileSync(path, `${lines.join('\n')}\n`);
    expect(lines).toEqual(readFileSync(path, 'utf8').trimEnd().split('\n'));
  });

  it('names no page or section of this repository, which its readers do not have', () => {
    const text = JSON.stringify(api.app.swagger());
    expect([...text.matchAll(/[^"]*(?:\u00a7|docs\/|\.md\b)[^"]*/g)].map(([found]) => found)).toEqual([]);
  });

  it('is printed by npm run openapi as a service answers it', () => {
    const script = fileURLToPath(new URL('../../scripts/openapi.ts', import.meta.url));
    const printed = execFileSync(process.execPath, [script], { encoding: 'utf8', maxBuffer: 2 ** 24 });
    expect(printed).toBe(`${JSON.stringify(api.app.swagger(), null, 1)}\n`);
  });

  it('contains only references that resolve', () => {
    const document = api.app.swagger() as unknown as Record<string, unknown>;
    const text = JSON.stringify(document);
    for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer.split('/').reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document);
      expect(found, pointer).toBeTypeOf('object');
    }
  });

  it('gives every operation a summary, a tag, a success and its failures as problem+json', () => {
    expect(operations().length).toBeGreaterThan(14);
    for (const [name, operation] of operations()) {
      expect(operation.summary, name).toBeTypeOf('string');
      expect(operation.tags, name).toHaveLength(1);
      const statuses = Object.keys(operation.responses);
      expect(
        statuses.some((status) => status.startsWith('2')),
        name,
      ).toBe(true);
      for (const status of statuses.filter((each) => /^[45]/.test(each)))
        expect(Object.keys(operation.responses[status].content ?? {}), `${name} ${status}`).toEqual([
          'application/problem+json',
        ]);
    }
  });

  it('contains each operation id once', () => {
    const ids = operations()
      .map(([, operation]) => operation.operationId)
      .filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('states for every operation under /public/v1 and /workspaces its authentication and its 401', () => {
    for (const [name, operation] of operations()) {
      if (!/ \/(public\/v1|workspaces)/.test(name)) continue;
      expect(operation.security?.length, name).toBeGreaterThan(0);
      expect(Object.keys(operation.responses), name).toContain('401');
    }
  });

  it('states for every operation with a key or token what any of them may answer, and where a body may be late', () => {
    for (const [name, { requestBody, responses }] of operations()) {
      if (!/ \/(public\/v1|workspaces)/.test(name)) continue;
      const general = ['401', '403', '429', '431', '500', '503', ...(requestBody ? ['408', '413', '415'] : [])];
      expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(general)]);
    }
  });

  it('states every status of the table of problems, except that of a method that a route does not have', () => {
    const stated = new Set(operations().flatMap(([, { responses }]) => Object.keys(responses)));
    const answered = Object.values(PROBLEMS).map(({ status }) => String(status));
    expect([...new Set(answered)].filter((status) => !stated.has(status))).toEqual(['405']);
  });

  it('contains every endpoint of the contract', () => {
    const names = new Set(operations().map(([name]) => name));
    for (const name of [
      'GET /public/v1',
      'GET /public/v1/workspace',
      'GET /public/v1/capabilities',
      'GET /public/v1/system-strategies',
      'GET /public/v1/system-strategies/{key}',
      'POST /public/v1/system-strategies/{key}/copy',
      'GET /public/v1/strategies',
      'GET /public/v1/strategies/{id}',
      'POST /public/v1/strategies/validate',
      'POST /public/v1/strategies',
      'POST /public/v1/strategies/{id}/versions/finalize',
      'GET /public/v1/backtests',
      'GET /public/v1/backtests/{id}',
      'POST /public/v1/backtests',
      'GET /workspaces/{workspaceId}/api-keys',
      'POST /workspaces/{workspaceId}/api-keys',
      'DELETE /workspaces/{workspaceId}/api-keys/{apiKeyId}',
      'POST /workspaces/{workspaceId}/backtests/validate-strategy',
      'POST /workspaces/{workspaceId}/backtests/validate-signal-graph',
    ])
      expect(names).toContain(name);
  });
});
