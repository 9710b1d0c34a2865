// Uploading market data: the story of an agent that has only a key, and what an upload is refused for.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../src/jobs/runner.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp } from '../support/apiApp.ts';
import type { ApiApp, Client, Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { csvOf, daysFrom, uploadTo, type Day } from '../support/uploads.ts';
import { STRATEGY } from '../support/runs.ts';

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

const DAYS = daysFrom('2020-01-01', 300);
const upload = (query: string, body: string | Buffer, more: { by?: Client; headers?: Record<string, string> } = {}) =>
  uploadTo(api, more.by ?? client, query, body, more.headers);
const rowsOf = async (symbol: string, by = client): Promise<readonly Day[]> =>
  (await by.get(`/market-data/${symbol}/1d/bars?limit=1000`)).body.data as readonly Day[];
const codesOf = ({ body }: Reply): string[] => (body.issues as { code: string }[]).map(({ code }) => code);

describe('an agent with only a key', () => {
  it('uploads a file, reads its last bars, asks for an RSI, runs on it, and deletes it', async () => {
    const made = await upload('symbol=MINE', gzipSync(csvOf(DAYS)));
    expect([made.status, made.headers.location]).toEqual([201, '/public/v1/market-data/MINE/1d/bars']);
    expect(made.body.series).toMatchObject([
      { symbol: 'MINE', timeframe: '1d', bars: 300, isTimeframeInferred: true, format: 'csv', periodsPerYear: 365 },
    ]);

    const last = await client.get('/market-data/MINE/1d/bars?last=2');
    expect(last.body.data).toEqual(DAYS.slice(-2));
    const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 2 } };
    const asked = await client.post('/columns', { symbol: 'MINE', timeframe: '1d', columns: { rsi }, last: 1 });
    expect(asked.body.data[0].rsi).toBeGreaterThan(0);

    const strategy = { settings: {}, strategyAst: STRATEGY };
    const { body: draft } = await client.post('/strategies', { name: 'mine', description: '', ...strategy });
    const ready = await client.post(`/strategies/${draft.id}/versions/finalize`, { ...strategy, version: 1 });
    const config = { timeframe: '1d', signalInstrument: { symbol: 'MINE' }, initialBalance: 1_000 };
    const queued = await client.post('/backtests', { strategyVersionId: ready.body.id, config });
    expect(queued.status).toBe(201);
    const done = await client.get(`/backtests/${queued.body.id}?wait=30`);
    expect(done.body.status).toBe('completed');

    expect((await client.delete('/market-data/MINE/1d')).body).toEqual({
      symbol: 'MINE',
      timeframe: '1d',
      deleted: true,
    });
    expect((await client.get('/market-data/MINE/1d/bars')).status).toBe(404);
    expect((await client.delete('/market-data/MINE/1d')).status).toBe(404);
    const again = await client.post('/backtests', { strategyVersionId: ready.body.id, config });
    expect(codesOf(again)).toEqual(['SYMBOL_NOT_AVAILABLE']);
    const equity = await client.get(`/backtests/${queued.body.id}/artifacts/equity?format=csv`);
    expect([equity.status, equity.text.trim().split('\r\n').length]).toEqual([200, 301]);
  });

  it('lists its own series beside the shared ones, which its own take the place of', async () => {
    const before = await rowsOf('GOOG');
    const made = await upload('symbol=GOOG&calendar=XNAS', csvOf(DAYS));
    expect(made.body.series[0].notes).toContainEqual(expect.stringContaining('now reads only its own'));
    const { body } = await client.get('/market-data?owner=workspace&symbol=GOOG');
    expect(body.data).toMatchObject([
      { symbol: 'GOOG', timeframe: '1d', bars: 300, owner: 'workspace', calendar: 'XNYS' },
    ]);
    expect((await client.get('/market-data?symbol=SPX')).body.data).toMatchObject([{ owner: 'shared' }]);
    expect(await rowsOf('GOOG')).toEqual(DAYS);
    await client.delete('/market-data/GOOG/1d');
    expect(await rowsOf('GOOG')).toEqual(before);
    expect((await client.delete('/market-data/GOOG/1d')).status).toBe(404);
  });
});

describe('the body of an upload', () => {
  it.each([
    ['JSON', JSON.stringify(DAYS), 'application/json'],
    ['CSV with a type of its own', csvOf(DAYS), 'text/csv'],
    ['CSV that is called JSON', csvOf(DAYS), 'application/json'],
    ['gzip that is called so', gzipSync(JSON.stringify(DAYS)), 'application/gzip'],
  ])('may be %s', async (name, body, type) => {
    const symbol = `AS-${name.replaceAll(/\W/g, '')}`;
    expect((await upload(`symbol=${symbol}`, body, { headers: { 'content-type': type } })).status).toBe(201);
    expect(await rowsOf(symbol)).toEqual(DAYS);
  });

  it('may hold several series, all of which are stored or none', async () => {
    const two = ['AAA', 'BBB'].map((symbol) => csvOf(DAYS.slice(0, 20), symbol));
    const made = await upload('', two.join('').replace(/\n[a-z,]+\nBBB/, '\nBBB'));
    expect((made.body.series as { symbol: string }[]).map(({ symbol }) => symbol)).toEqual(['AAA', 'BBB']);
    await client.delete('/market-data/AAA/1d');
    const refused = await upload('', two.join('').replace(/\n[a-z,]+\nBBB/, '\nBBB'));
    expect(codesOf(refused)).toEqual(['SERIES_EXISTS']);
    expect((await client.get('/market-data/AAA/1d/bars')).status).toBe(404);
  });

  it('is appended or replaced as a parameter says, and refused without one', async () => {
    const [first, rest] = [DAYS.slice(0, 200), DAYS.slice(150)];
    await upload('symbol=GROWS', csvOf(first));
    const refused = await upload('symbol=GROWS', csvOf(rest));
    expect([refused.status, refused.body.code, codesOf(refused)]).toEqual([
      422,
      'MARKET_DATA_INVALID',
      ['SERIES_EXISTS'],
    ]);
    expect(refused.body.message).toMatch(/Give onExisting=append .* onExisting=replace/);
    expect((await upload('symbol=GROWS&onExisting=append', csvOf(rest))).body.series[0].bars).toBe(300);
    expect(await rowsOf('GROWS')).toEqual(DAYS);
    await upload('symbol=GROWS&onExisting=replace', csvOf(rest));
    expect(await rowsOf('GROWS')).toEqual(rest);
  });
});

describe('an upload is refused', () => {
  it.each([
    ['symbol=X', 'date,close\n03/01/2020,1\n04/01/2020,2\n', 'TIME_UNREADABLE', /dateFormat=/],
    ['', csvOf(DAYS), 'SYMBOL_INVALID', /symbol=SPY/],
    ['symbol=X', '', 'NO_ROWS', /empty/],
    ['symbol=X&columns=tim%3DDate', csvOf(DAYS), 'OPTION_INVALID', /does not name a column/],
    ['symbol=X&instrument=7', csvOf(DAYS), 'INSTRUMENT_INVALID', /instrument/],
    ['symbol=X&calendar=NYSE', csvOf(DAYS), 'INSTRUMENT_INVALID', /calendar: Use XNYS/],
    ['symbol=a%20b', csvOf(DAYS), 'SYMBOL_INVALID', /symbol/i],
    ['symbol=X', Buffer.from('504b0304ffff', 'hex'), 'FILE_UNREADABLE', /damaged/],
    ['symbol=X&timeframe=1d', 'time,open,high,low,close,volume\n2020-01-01,1,2,3,2,1\n', 'HIGH_BELOW_LOW', /Row 1/],
  ])('for %j %#', async (query, body, code, message) => {
    const refused = await upload(query, body);
    expect([refused.status, refused.body.code]).toEqual([422, 'MARKET_DATA_INVALID']);
    expect(codesOf(refused)[0]).toBe(code);
    expect(refused.body.message).toMatch(message);
    expect(refused.text).not.toMatch(/--[a-z]/);
  });

  it('when it unpacks to too much, is too large, or is more than the tier allows', async () => {
    const by = await api.client({ tier: 'free' });
    const limits = TIER_LIMITS.free as { marketDataBytes: number; marketDataSeries: number; uploadBytes: number };
    const before = { ...limits };
    try {
      limits.uploadBytes = 40_000;
      const bomb = await upload('symbol=X', gzipSync(Buffer.alloc(400_000, '1,2\n')), { by });
      expect(codesOf(bomb)).toEqual(['FILE_TOO_LARGE']);
      const dense = await upload('symbol=X', gzipSync(Buffer.alloc(300_000, '1,2\n')), { by });
      expect([codesOf(dense), dense.body.message]).toEqual([['FILE_TOO_LARGE'], expect.stringContaining('cells')]);
      const large = await upload('symbol=X', Buffer.alloc(40_001, '1,2\n'), { by });
      expect([large.status, large.body.limitName]).toEqual([413, 'uploadBytes']);
      expect((await upload('symbol=ONE', csvOf(DAYS), { by })).status).toBe(201);
      limits.marketDataSeries = 1;
      const many = await upload('symbol=TWO', csvOf(DAYS), { by });
      expect([many.status, many.body.code, many.body.limitName]).toEqual([
        403,
        'TIER_LIMIT_REACHED',
        'marketDataSeries',
      ]);
      limits.marketDataBytes = 20_000;
      const bytes = await upload('symbol=ONE&onExisting=replace', csvOf(DAYS.slice(1)), { by });
      expect([bytes.status, bytes.body.limitName]).toEqual([403, 'marketDataBytes']);
      expect(await rowsOf('ONE', by)).toEqual(DAYS);
    } finally {
      Object.assign(limits, before);
    }
    const { usage, limits: shown } = (await by.get('/workspace')).body.subscription;
    expect(usage).toMatchObject({ marketDataSeries: 1 });
    expect(usage.marketDataBytes).toBeGreaterThan(0);
    expect(shown.uploadBytes).toBe(before.uploadBytes);
  });

  it('without the scope, which is not among the default ones, and with a key of a viewer', async () => {
    const reader = await api.client({ scopes: ['backtests_read', 'backtests_write'] });
    expect((await upload('symbol=X', csvOf(DAYS), { by: reader })).body.code).toBe('INSUFFICIENT_SCOPE');
    const viewer = await api.client({ role: 'viewer' });
    expect((await upload('symbol=X', csvOf(DAYS), { by: viewer })).body.code).toBe('INSUFFICIENT_ROLE');
    expect((await viewer.delete('/market-data/X/1d')).body.code).toBe('INSUFFICIENT_ROLE');
  });
});

describe('an Idempotency-Key', () => {
  it('answers a repeated upload as the first, and is bound to the query', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await upload('symbol=ONCE', csvOf(DAYS), { headers });
    const again = await upload('symbol=ONCE', csvOf(DAYS), { headers });
    expect([again.status, again.headers['idempotency-replayed'], again.body]).toEqual([201, 'true', first.body]);
    const other = await upload('symbol=OTHER', csvOf(DAYS), { headers });
    expect(other.body.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await client.get('/market-data/OTHER/1d/bars')).status).toBe(404);
  });
});

describe('the thread of long requests', () => {
  it('reads a file that the service took over the network, as this process does', async () => {
    await using served = await createApiApp({}, true);
    const by = await served.client();
    const address = await served.app.listen({ port: 0, host: '127.0.0.1' });
    const send = (query: string, body: Buffer) =>
      fetch(`${address}/public/v1/market-data?${query}`, {
        method: 'POST',
        headers: { 'x-api-key': by.apiKey, 'content-type': 'application/octet-stream' },
        body: new Uint8Array(body),
      });
    const made = await send('symbol=LONG', gzipSync(csvOf(DAYS)));
    expect([made.status, ((await made.json()) as { series: object[] }).series]).toMatchObject([201, [{ bars: 300 }]]);
    const refused = await send('symbol=LONG', Buffer.from('nothing'));
    expect(((await refused.json()) as { code: string }).code).toBe('MARKET_DATA_INVALID');
    expect((await by.get('/market-data?owner=workspace')).body.data).toMatchObject([{ symbol: 'LONG', bars: 300 }]);
  });
});
