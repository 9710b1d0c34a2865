// Links: with PUBLIC_URL every address in an answer begins with it, without it every address is a path, and no header
// of a request changes either.
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callApp } from '../../src/api/mcp/apiCall.ts';
import { createMcpServer } from '../../src/api/mcp/server.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { readyVersion } from '../support/sweepApi.ts';

const PUBLIC_URL = 'https://example.com/candlepool';
/** What a client, or a proxy that is not trusted, may claim. */
const FOREIGN = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/evil',
  forwarded: 'host=evil.example;proto=https',
};
/** Members that name a path of the API, or of the request, and not an address to follow. */
const PATH_MEMBERS = new Set(['path', 'instance']);
const IS_ADDRESS = /^(https?:\/\/|\/(public|docs|console|workspaces|mcp)(\/|$))/;

/** Every text in a body that is an address, by its place. */
function addressesIn(value: unknown, place = ''): [place: string, address: string][] {
  if (typeof value === 'string') return IS_ADDRESS.test(value) ? [[place, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => !PATH_MEMBERS.has(name))
    .flatMap(([name, member]) => addressesIn(member, `${place}/${name}`));
}

function addressesOf({ headers, body, text }: Reply): [place: string, address: string][] {
  const found = addressesIn(body);
  const { location, link } = headers;
  if (typeof location === 'string') found.push(['Location', location]);
  if (typeof link === 'string') found.push(['Link', /<(.*)>/.exec(link)![1]]);
  if (String(headers['content-type']).includes('text/html'))
    for (const [, address] of text.matchAll(/(?:href|src)="([^"#.][^"]*)"/g))
      if (!/^[\w-]+\.(md|json)/.test(address)) found.push(['html', address]);
  return found;
}

/** One of each answer with an address in it, by a name. */
async function answers(api: ApiApp, client: Client): Promise<Map<string, Reply>> {
  const get = (path: string, more = {}) => client.get(path, { ...FOREIGN, ...more });
  const post = (path: string, body?: unknown, more = {}) => client.post(path, body, { ...FOREIGN, ...more });
  const open = (url: string) => api.send({ url, headers: { ...FOREIGN, accept: 'text/html' } });
  const all = new Map<string, Reply>();
  const add = (name: string, reply: Reply): Reply => {
    expect(reply.status, `${name}: ${reply.text}`).toBeLessThan(400);
    all.set(name, reply);
    return reply;
  };
  add('manifest', await get(''));
  add('authoring pack', await get('/authoring-pack'));
  add('OpenAPI', await get('/openapi.json'));
  add('root', await open('/'));
  add('docs', await open('/docs'));
  add('guide', await open('/docs/mcp.md'));
  add('template copy', await post('/system-strategies/golden_cross/copy', { name: 'copy', description: '' }));
  const token = await api.token(client.workspaceId, 'owner');
  const keys = { method: 'POST' as const, url: `/workspaces/${client.workspaceId}/api-keys`, payload: { name: 'k' } };
  add('new key', await api.send({ ...keys, headers: { ...FOREIGN, authorization: `Bearer ${token}` } }));
  const strategyVersionId = await readyVersion(client);
  const idempotent = { 'idempotency-key': 'once' };
  const queued = add('queued', await post('/backtests', { strategyVersionId, config: config() }, idempotent));
  add('replayed', await post('/backtests', { strategyVersionId, config: config() }, idempotent));
  const backtest = `/backtests/${queued.body.id}`;
  add('result', await get(`${backtest}?wait=60`));
  add('agent view', await get(`${backtest}?view=agent`));
  add('artifact page', await get(`${backtest}/artifacts/equity?format=csv&limit=2`));
  const poor = { strategyVersionId, config: config({ initialBalance: 7 }) };
  const other = add('to cancel', await post('/backtests', poor));
  const cancelled = await post(`/backtests/${other.body.id}/cancel`);
  // It may have ended before.
  if (cancelled.status === 200) add('cancelled', cancelled);
  const check = add('check', await post(`${backtest}/robustness`, {}));
  add('check result', await get(`${backtest}/robustness/${check.body.id}?wait=60`));
  add('checks', await get(`${backtest}/robustness`));
  const space = { fast: { values: [5, 10, 20] } };
  const sweep = add('sweep', await post('/sweeps', { strategyVersionId, config: config(), space, method: 'grid' }));
  add('sweep result', await get(`/sweeps/${sweep.body.id}?wait=60`));
  add('sweep rows', await get(`/sweeps/${sweep.body.id}/results?format=csv&limit=1`));
  add('sweep row', await post(`/sweeps/${sweep.body.id}/rows/0/backtest`));
  return all;
}

describe.each([
  ['with PUBLIC_URL', PUBLIC_URL],
  ['without PUBLIC_URL', ''],
])('%s', (_title, publicUrl) => {
  let api: ApiApp;
  let worker: Worker;
  let client: Client;
  let all: Map<string, Reply>;
  beforeAll(async () => {
    api = await createApiApp({ PUBLIC_URL: publicUrl && `${publicUrl}/` });
    worker = await startApiWorker(api.services);
    client = await api.client();
    all = await answers(api, client);
  });
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  it('every address in an answer is under it, whatever Host and X-Forwarded-* say', () => {
    const own = publicUrl === '' ? /^\/(public|docs|console|workspaces)/ : /^https:\/\/example\.com\/candlepool(\/|$)/;
    for (const [name, reply] of all) {
      const addresses = addressesOf(reply).filter(([place]) => !place.startsWith('/paths/'));
      for (const [place, address] of addresses) {
        // The receiver of an example of a webhook.
        if (place.startsWith('/components/schemas/NewWebhook/')) continue;
        // JSON Schema's own names, and the places to which an example of a strategy points.
        if (address.startsWith('http://json-schema.org/') || address.startsWith('https://json-schema.org/')) continue;
        expect(address, `${name} ${place}`).toMatch(own);
      }
      expect(reply.text, name).not.toContain('evil');
      expect(JSON.stringify(reply.headers), name).not.toContain('evil');
    }
  });

  it('the answers that are known to hold addresses do', () => {
    const without = [...all].filter(([, reply]) => addressesOf(reply).length === 0).map(([name]) => name);
    expect(without).toEqual([]);
    const result = all.get('result')!.body;
    const artifact = `/public/v1/backtests/${result.id}/artifacts/trades`;
    expect(result.result.artifactUrls.trades).toBe(publicUrl + artifact);
    expect(result.result.artifacts[0].url).toBe(publicUrl + artifact);
    expect(all.get('replayed')!.headers.location).toBe(`${publicUrl}/public/v1/backtests/${result.id}`);
    expect(all.get('root')!.headers.location).toBe(`${publicUrl}/docs`);
    expect(all.get('OpenAPI')!.body.servers).toEqual([{ url: publicUrl || '/' }]);
    expect(all.get('manifest')!.body.baseUrl).toBe(publicUrl || undefined);
  });

  it('lets a browser have the style sheet of a guide from where its link leads', () => {
    const { headers, text } = all.get('guide')!;
    const [, href] = /<link rel="stylesheet" href="([^"]*)"/.exec(text)!;
    expect(href).toBe(`${publicUrl}/docs/style.css`);
    const styles = /style-src ([^;]*)/.exec(String(headers['content-security-policy']))![1];
    expect(styles).toBe(publicUrl === '' ? "'self'" : "'self' https://example.com");
  });

  it('the page of the API reference finds its files below the path of the address', async () => {
    const { text } = await api.send({ url: '/docs/api' });
    const [, script] = /<script src="([^"]*)swagger-ui-bundle\.js"/.exec(text)!;
    expect(script).toBe(publicUrl === '' ? '/docs/api/static/' : '/candlepool/docs/api/static/');
  });

  it('an answer over MCP has the same addresses', async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const server = createMcpServer(callApp(api.app, { 'x-api-key': client.apiKey }, (work) => work()));
    await server.connect(far);
    const agent = new McpClient({ name: 'test', version: '1' });
    await agent.connect(near);
    const { content } = await agent.callTool({ name: 'get_backtest', arguments: { id: all.get('result')!.body.id } });
    const body = JSON.parse((content as { text: string }[])[0].text);
    await agent.close();
    expect(body.links).toEqual(all.get('agent view')!.body.links);
    expect(body.links.self.startsWith(`${publicUrl}/public/v1/`)).toBe(true);
  });
});
