import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { scaled } from '../support/scale.ts';
import { ast, graph, settings } from '../support/strategyPayloads.ts';

let api: ApiApp;
let client: Client;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
});
afterAll(() => api[Symbol.asyncDispose]());

const ROUTES = [
  '/strategies/validate',
  '/strategies',
  '/strategies/00000000-0000-7000-8000-000000000000/versions/finalize',
  '/system-strategies/golden_cross/copy',
];
const SEED = 20_260_101;
/** Values a sender gets wrong, and values that break what is not careful. */
const wrong = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    -1,
    0,
    1e308,
    2 ** 53,
    0.1,
    [],
    {},
    null,
    true,
    'constructor',
    '💥'.repeat(500),
  ),
);
const valid = fc.constantFrom<object>(
  { name: 'x', settings, strategyAst: ast() },
  { settings, signalGraph: graph() },
  { settings, strategyAst: ast(), version: 1, ignoreWarnings: false },
);

/** Every place of a value, as the path to it. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => placesOf(member, [...path, key]))];
}
function withValueAt(value: unknown, path: readonly string[], replacement: unknown): unknown {
  if (path.length === 0) return replacement;
  const [key, ...rest] = path;
  const isObject = typeof value === 'object' && value !== null;
  const copy = (isObject ? structuredClone(value) : {}) as Record<string, unknown>;
  copy[key] = withValueAt(copy[key], rest, replacement);
  return copy;
}
const mutated = fc.tuple(valid, fc.nat(), wrong, fc.boolean()).map(([body, nat, value, isAdded]) => {
  const places = placesOf(body);
  const place = places[nat % places.length];
  return withValueAt(body, isAdded ? [...place, 'extra'] : place, value);
});

describe('the API, sent bodies of every kind,', () => {
  it('answers 200, 201, 400, 404 or 422, with problem+json whose issues point into the body', async () => {
    const law = fc.asyncProperty(fc.constantFrom(...ROUTES), fc.oneof(mutated, fc.jsonValue()), async (route, body) => {
      const reply = await client.post(route, body ?? undefined);
      expect([200, 201, 400, 404, 422], reply.text).toContain(reply.status);
      if (reply.status >= 400) expect(reply.headers['content-type']).toContain('application/problem+json');
      for (const issue of reply.body.issues ?? []) {
        expect(issue.message).not.toBe('');
        expect(issue.path === '' || issue.path.startsWith('/')).toBe(true);
      }
    });
    await fc.assert(law, { numRuns: scaled(3_000), seed: SEED });
  });
});
