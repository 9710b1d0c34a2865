// Market data of two workspaces: nothing of the other's is seen by any route, in either direction.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listUnusedSnapshots } from '../../src/db/retention.ts';
import { createApiApp } from '../support/apiApp.ts';
import type { ApiApp, Client, Reply } from '../support/apiApp.ts';
import { csvOf, daysFrom, uploadTo } from '../support/uploads.ts';
import { STRATEGY } from '../support/runs.ts';

interface Tenant {
  readonly client: Client;
  readonly versionId: string;
  /** A symbol that only this workspace has. */
  readonly symbol: string;
}

let api: ApiApp;
let tenants: readonly [Tenant, Tenant];
beforeAll(async () => {
  api = await createApiApp();
  tenants = [await makeTenant('QXHIDDEN7', 0), await makeTenant('ZWSECRET4', 50)];
});
afterAll(() => api[Symbol.asyncDispose]());

const DAYS = daysFrom('2020-01-01', 120);
/** Differs from a hidden symbol in one letter, so that a suggestion that looks at hidden ones would name it. */
const nearly = (symbol: string): string => `${symbol.slice(0, -1)}9`;

async function makeTenant(symbol: string, shift: number): Promise<Tenant> {
  const client = await api.client();
  const days = daysFrom('2020-01-01', 120, shift);
  for (const name of [symbol, 'GOOG'])
    expect((await uploadTo(api, client, `symbol=${name}`, csvOf(days))).status).toBe(201);
  const strategy = { settings: {}, strategyAst: STRATEGY };
  const { body: draft } = await client.post('/strategies', { name: 'test', description: '', ...strategy });
  const ready = await client.post(`/strategies/${draft.id}/versions/finalize`, { ...strategy, version: 1 });
  return { client, versionId: ready.body.id, symbol };
}

const close = (symbol: string) => ({ kind: 'market', field: 'close', instrument: { symbol } });
const foreignStrategy = (symbol: string) => ({
  settings: {},
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: {
        kind: 'entry',
        trigger: { kind: 'compare', op: 'gt', left: close(symbol), right: { kind: 'const', value: 1 } },
        action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
      },
      risk: { timeStop: { maxBars: 2 } },
    },
  },
});
const columns = { x: { kind: 'market', field: 'close' } };
const config = (more: object) => ({ timeframe: '1d', initialBalance: 1_000, ...more });
const spaceOf = (symbol: string) => ({ symbol: { values: ['SPX', symbol] } });

/** Every route to which a symbol can be given, and what the one who has the symbol is answered. */
const ROUTES: Readonly<Record<string, readonly [owned: number, ask: (by: Tenant, symbol: string) => Promise<Reply>]>> =
  {
    list: [200, ({ client }, symbol) => client.get(`/market-data?symbol=${symbol}`)],
    bars: [200, ({ client }, symbol) => client.get(`/market-data/${symbol}/1d/bars?last=1`)],
    columns: [200, ({ client }, symbol) => client.post('/columns', { symbol, timeframe: '1d', columns, last: 1 })],
    'columns of another': [
      200,
      ({ client }, symbol) =>
        client.post('/columns', { symbol: 'SPX', timeframe: '1d', columns: { x: close(symbol) }, last: 1 }),
    ],
    validate: [200, ({ client }, symbol) => client.post('/strategies/validate', foreignStrategy(symbol))],
    explain: [200, ({ client }, symbol) => client.post('/strategies/explain', foreignStrategy(symbol))],
    backtest: [
      201,
      ({ client, versionId }, symbol) =>
        client.post('/backtests', { strategyVersionId: versionId, config: config({ signalInstrument: { symbol } }) }),
    ],
    benchmark: [
      201,
      ({ client, versionId }, symbol) =>
        client.post('/backtests', {
          strategyVersionId: versionId,
          config: config({ signalInstrument: { symbol: 'SPX' }, benchmark: { symbol } }),
        }),
    ],
    portfolio: [
      201,
      ({ client, versionId }, symbol) =>
        client.post('/backtests', {
          strategyVersionId: versionId,
          config: config({ instruments: [{ symbol: 'SPX' }, { symbol }] }),
        }),
    ],
    batch: [
      200,
      ({ client, versionId }, symbol) =>
        client.post('/backtests/batch', {
          items: [{ strategyVersionId: versionId, config: config({ signalInstrument: { symbol } }) }],
        }),
    ],
    sweep: [
      201,
      ({ client, versionId }, symbol) =>
        client.post('/sweeps', {
          strategyVersionId: versionId,
          config: config({ signalInstrument: { symbol: 'SPX' } }),
          space: spaceOf(symbol),
          method: 'grid',
          objective: 'sharpeRatio',
        }),
    ],
    MCP: [
      200,
      async ({ client }, symbol) =>
        api.send({
          method: 'POST',
          url: '/mcp',
          headers: {
            'x-api-key': client.apiKey,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          payload: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'validate_strategy', arguments: foreignStrategy(symbol) },
          }),
        }),
    ],
  };

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const masked = ({ status, text }: Reply, symbol: string): unknown[] => [
  status,
  text
    .replaceAll(symbol, 'SYMBOL')
    .replaceAll(UUID, 'ID')
    .replaceAll(/\d+ bytes/g, 'BYTES'),
];

describe.each([
  ['the first', 0, 1],
  ['the second', 1, 0],
] as const)('%s workspace', (_name, mine, theirs) => {
  it.each(Object.keys(ROUTES))('is answered by %s as if there were no data of the other', async (name) => {
    const [owned, ask] = ROUTES[name];
    const [me, other] = [tenants[mine], tenants[theirs]];
    expect((await ask(other, other.symbol)).status).toBe(owned);
    const asked = await ask(me, other.symbol);
    const unknown = await ask(me, nearly(other.symbol));
    expect(masked(asked, other.symbol)).toEqual(masked(unknown, nearly(other.symbol)));
    expect(unknown.text).not.toContain(other.symbol);
  });

  it('lists its own symbols and the shared ones, and cannot delete those of the other', async () => {
    const [me, other] = [tenants[mine], tenants[theirs]];
    for (const path of [
      '/market-data?limit=100',
      '/market-data?owner=workspace',
      '/capabilities?sections=instruments',
    ]) {
      const { text } = await me.client.get(path);
      expect([path, text.includes(me.symbol), text.includes(other.symbol)]).toEqual([path, true, false]);
    }
    expect((await me.client.delete(`/market-data/${other.symbol}/1d`)).status).toBe(404);
    expect((await other.client.get(`/market-data/${other.symbol}/1d/bars`)).status).toBe(200);
  });

  it('reads its own bars where both have a symbol, which is shared as well', async () => {
    const shift = [0, 50][mine];
    const { body } = await tenants[mine].client.get('/market-data/GOOG/1d/bars');
    expect(body.data).toEqual(daysFrom('2020-01-01', 120, shift));
    const stranger = await api.client();
    expect((await stranger.get('/market-data/GOOG/1d/bars')).body.data[0].time).not.toBe(body.data[0].time);
  });
});

describe('snapshots of workspaces', () => {
  it('are kept while a series points to them, a day longer, and go with the workspace', async () => {
    const { sql } = api.services;
    const client = await api.client();
    expect((await uploadTo(api, client, 'symbol=GONE', csvOf(DAYS))).status).toBe(201);
    const isUnused = async (): Promise<boolean> => {
      await sql`update snapshots set imported_at = now() - interval '2 days' where symbol = 'GONE'`;
      return (await listUnusedSnapshots(sql)).some(({ symbol }) => symbol === 'GONE');
    };
    expect(await isUnused()).toBe(false);
    await client.delete('/market-data/GONE/1d');
    expect(await isUnused()).toBe(false);
    await sql`update workspace_snapshots set touched_at = now() - interval '2 days'`;
    expect(await isUnused()).toBe(true);
    expect((await uploadTo(api, client, 'symbol=GONE', csvOf(DAYS))).status).toBe(201);
    expect(await isUnused()).toBe(false);
    await sql`delete from workspaces where id = ${client.workspaceId}`;
    expect(await isUnused()).toBe(true);
  });
});
