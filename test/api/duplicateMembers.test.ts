// Members that an object of a body names twice: JSON.parse keeps the last, so the body is refused.
import { afterAll, describe, expect, it } from 'vitest';
import { duplicateMembers, mayRepeatMembers } from '../../src/api/http/duplicateMembers.ts';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

describe('a body that names a member twice', () => {
  const text = JSON.stringify({ settings: {}, strategyAst: EXAMPLE_STRATEGY_AST });
  const validate = (payload: string) =>
    api.app.inject({
      method: 'POST',
      url: '/public/v1/strategies/validate',
      headers: { 'x-api-key': client.apiKey, 'content-type': 'application/json' },
      payload,
    });

  it('is refused, with the place of every such member', async () => {
    const twice = text
      .replace('"settings":{}', '"settings":{"warmupPeriod":1,"warmupPeriod":200}')
      .replace('"length":50', '"length":50,"length":51');
    const reply = await validate(twice);
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(reply.json().issues).toEqual([
      {
        code: 'DUPLICATE_MEMBER',
        path: '/settings/warmupPeriod',
        field: 'settings',
        severity: 'error',
        message: 'The object names "warmupPeriod" more than once.',
        suggestion: 'Keep one of them.',
      },
      expect.objectContaining({ path: '/strategyAst/strategy/entry/trigger/left/args/length', field: 'strategyAst' }),
    ]);
  });

  it('is told from texts that look like members', async () => {
    const description = 'Buys: {"length": 50, "length": 51}, "settings": {} \\';
    expect((await validate(JSON.stringify({ ...JSON.parse(text), description }))).json().valid).toBe(true);
  });
});

describe('the search for duplicate members', () => {
  const paths = (text: string) => duplicateMembers(text).map(({ path }) => path);

  it.each<[string, readonly string[]]>([
    ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}', []],
    ['{ "a" : 1 , "a" : 1 }', ['/a']],
    ['{"a":{"x":1,"x":2},"b":[0,[],{"y":[1,2],"y":3}]}', ['/a/x', '/b/2/y']],
    [String.raw`{"a":1,"\u0061":2}`, ['/a']],
    [String.raw`{"a\"b":1,"a\\":2,"a\"b":3}`, ['/a"b']],
    ['{"a/b":1,"a/b":2,"":1,"":2}', ['/a~1b', '/']],
    ['[{"a":1,"a":2}]', ['/0/a']],
    ['{"a":"}","b":":{[","a":1}', ['/a']],
  ])('of %s finds %j', (text, expected) => {
    expect(paths(text)).toEqual(expected);
  });

  it('is left out where every colon belongs to a member', () => {
    const may = (text: string, members: number) => mayRepeatMembers(Buffer.from(text), members);
    expect([may('{"a":1,"b":{"c":2}}', 3), may('{"a":1,"a":2}', 1), may('{"a":":"}', 1)]).toEqual([false, true, true]);
  });

  it('survives any depth and any size', () => {
    const deep = `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},"a":1}`;
    expect(paths(deep)).toEqual(['/a']);
    const many = `{${Array.from({ length: 1_000 }, (_, n) => `"m${n}":1,"m${n}":2`).join()}}`;
    expect(paths(many)).toHaveLength(100);
    const [{ path, message }] = duplicateMembers(`{"${'x'.repeat(1_000_000)}":1,"${'x'.repeat(1_000_000)}":1}`);
    expect(path.length + message.length).toBeLessThan(300);
  });
});
