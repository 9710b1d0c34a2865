// Citations: every document, route and query parameter that the service's own texts name is there for a client to read.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/api/http/problemTable.ts';
import { ROOT } from '../../src/config.ts';
import { createApiApp, type ApiApp, type Client as Key } from '../support/apiApp.ts';

let api: ApiApp;
let key: Key;
let texts: Map<string, string>;
let routes: Map<string, ReadonlySet<string>>;

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

beforeAll(async () => {
  api = await createApiApp();
  key = await api.client();
  const origin = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key.apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit }));
  const tools = [await client.listTools(), await client.listResources(), client.getInstructions()];
  const sections = 'indicators,patterns,signalGraph,strategyAst,operators,enums,limits,validationIssue,schemas';
  const paths = ['', '/authoring-pack', `/capabilities?sections=${sections}`, '/openapi.json', '/system-strategies'];
  const answers = await Promise.all(paths.map((path) => key.get(path)));
  for (const [index, { status }] of answers.entries()) expect([paths[index], status]).toEqual([paths[index], 200]);
  texts = new Map([
    ...paths.map((path, index) => [`/public/v1${path}`, answers[index].text] as const),
    ['the MCP tools and resources', JSON.stringify(tools)],
    ['the problems', JSON.stringify(PROBLEMS)],
    ['the messages in the sources', sentencesOf('src/{api,engine}/**/*.ts').join('\n')],
  ]);
  await client.close();
  const document = JSON.parse(texts.get('/public/v1/openapi.json')!) as {
    paths: Record<string, Record<string, Operation>>;
  };
  routes = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [] }]) => [
        `${method.toUpperCase()} ${path}`,
        new Set(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)),
      ]),
    ),
  );
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** The sentences in the quotes of source files, which end up in messages, without those of comments. */
function sentencesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).flatMap((file) => {
    const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
    const quoted = [...code.matchAll(/'([^'\n]*)'|`([^`]*)`/g)].map(([, plain, template]) => plain ?? template);
    return quoted.filter((text) => text.includes(' ')).map((text) => text.replaceAll(/\$\{[^}]*\}/g, '{}'));
  });
}

const DOCUMENT = /(?<![\w/])\/?(?:docs\/[\w/-]+(?:\.[a-z]+)?|[\w-]+\.md)\b/g;
const SECTION = /§\s*\d/g;
/** How the path of a route begins. */
const RESOURCES = [
  'public/v1', 'workspaces', 'workspace', 'authoring-pack', 'capabilities', 'system-strategies', 'strategies',
  'backtests', 'sweeps', 'market-data',
]; // prettier-ignore
/** `GET /strategies`, `/public/v1/backtests/{id}?view=agent`, `/capabilities/kinds/{kind}`. */
const ROUTE = new RegExp(
  String.raw`(?:\b(GET|POST|PUT|PATCH|DELETE) )?` +
    String.raw`((?:/(?:${RESOURCES.join('|')})\b|(?<=[A-Z] )/(?!docs\b))[^\s"'\`,;)<>\\]*)`,
  'g',
);

const isServed = async (path: string): Promise<boolean> =>
  (await api.app.inject({ url: path.startsWith('/') ? path : `/${path}` })).statusCode === 200;

/** What a text cites that a client cannot find. */
async function faultsOf(text: string): Promise<string[]> {
  const documents = [...text.matchAll(DOCUMENT)].map(([path]) => path);
  const served = await Promise.all(documents.map(isServed));
  const unread = documents.filter((_, index) => !served[index]);
  const sections = [...text.matchAll(SECTION)].map(([section]) => `${section}: a section of no document`);
  const cited = [...text.matchAll(ROUTE)].map(([, method, path]) => ({ method, path: path.replace(/\.$/, '') }));
  return [...unread, ...sections, ...cited.flatMap((each) => routeFaults(each.method, each.path))];
}

function routeFaults(method: string | undefined, cited: string): string[] {
  const [path, query = ''] = cited.split('?');
  const asked = path === '/public/v1/openapi.json' || path === '/public/v1' ? [] : [...routes.keys()].filter(matches);
  if (asked.length === 0) return ['/public/v1/openapi.json', '/public/v1'].includes(path) ? [] : [cited];
  const names = query.split('&').flatMap((pair) => (/^\w+/.exec(pair) ?? []).slice(0, 1));
  const unknown = names.filter((name) => !asked.some((route) => routes.get(route)!.has(name)));
  return unknown.map((name) => `${cited}: no query parameter ${name}`);

  function matches(route: string): boolean {
    const [verb, template] = route.split(' ');
    if (method !== undefined && method !== verb) return false;
    const given = path.replace(/\/$/, '').split('/');
    return [template, template.replace('/public/v1', '')].some((known) => {
      const names = known.split('/');
      // In place of a parameter a text may have another name for it, or one of its values.
      return names.length === given.length && names.every((name, at) => name.startsWith('{') || name === given[at]);
    });
  }
}

describe('the texts of the service', () => {
  it('cite only what a client can read, and many routes', async () => {
    const faults: string[] = [];
    let cited = 0;
    for (const [name, text] of texts) {
      cited += [...text.matchAll(ROUTE)].length;
      for (const fault of new Set(await faultsOf(text))) faults.push(`${name}: ${fault}`);
    }
    expect(faults).toEqual([]);
    expect(cited).toBeGreaterThan(50);
  });

  it.each([
    ['See docs/missing.md.', 'docs/missing.md'],
    ['See semantics §2.3.', '§2'],
    ['As PLAN.md says.', 'PLAN.md'],
    ['Ask GET /public/v1/nothing.', '/public/v1/nothing'],
    ['Ask DELETE /public/v1/backtests.', '/public/v1/backtests'],
    ['Ask GET /strategies/{id}/nothing.', '/strategies/{id}/nothing'],
    ['Ask for `/capabilities/nodes/{kind}`.', '/capabilities/nodes/{kind}'],
    ['Ask `/public/v1/backtests/{id}?look=agent`.', 'no query parameter look'],
  ])('would be caught with: %s', async (text, fault) => {
    expect(await faultsOf(text)).toEqual([expect.stringContaining(fault)]);
  });

  it.each([
    'See docs/fills.md or /docs/problems.md.',
    'Send GET /public/v1/backtests/{id}?view=agent&maxBytes=8000.',
    'Use POST /strategies/validate; `/public/v1/capabilities?sections=limits` has the limits.',
  ])('may say: %s', async (text) => {
    expect(await faultsOf(text)).toEqual([]);
  });
});
