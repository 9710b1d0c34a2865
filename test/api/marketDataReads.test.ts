// Reading market data over HTTP: bars page by page, and columns compared with loops written here.
import { readFileSync } from 'node:fs';
import { tableFromIPC } from 'apache-arrow';
import Papa from 'papaparse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLUMNS_EXAMPLES } from '../../src/api/marketData/columnsExamples.ts';
import { openSnapshot } from '../../src/engine/index.ts';
import type { Bars } from '../../src/engine/index.ts';
import { shippedData } from '../support/shippedData.ts';
import { createApiApp } from '../support/apiApp.ts';
import type { ApiApp, Client } from '../support/apiApp.ts';

interface Row extends Readonly<Record<string, unknown>> {
  readonly time: number;
}

let api: ApiApp;
let client: Client;
let spx: Bars;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client({ tier: 'free' });
  spx = openSnapshot((await (await shippedData()).snapshots('SPX', '1d'))[0]);
});
afterAll(() => api[Symbol.asyncDispose]());

const SPX = '/market-data/SPX/1d/bars';
const [DOCUMENTED] = /(?<=```json\n)\{[^`]*/.exec(readFileSync('docs/market-data.md', 'utf8'))!;
const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 14 } };
const below = { kind: 'compare', op: 'lt', left: rsi, right: { kind: 'const', value: 30 } };
const columns = (more: object) => client.post('/columns', { symbol: 'SPX', timeframe: '1d', ...more });

/** RSI as Wilder wrote it: null before the first 14 changes. */
function wilder(close: ArrayLike<number>, length = 14): (number | null)[] {
  const out: (number | null)[] = Array.from({ length: close.length }, () => null);
  let [gain, loss] = [0, 0];
  for (let row = 1; row < close.length; row++) {
    const change = close[row] - close[row - 1];
    const [up, down] = [Math.max(change, 0), Math.max(-change, 0)];
    if (row <= length) [gain, loss] = [gain + up / length, loss + down / length];
    else [gain, loss] = [(gain * (length - 1) + up) / length, (loss * (length - 1) + down) / length];
    if (row >= length) out[row] = (100 * gain) / (gain + loss);
  }
  return out;
}

describe('GET bars', () => {
  it('answers the last bars as they are stored', async () => {
    const { status, body } = await client.get(`${SPX}?last=2`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ symbol: 'SPX', timeframe: '1d', storedTimeframe: '1d' });
    const at = spx.length - 1;
    expect(body.data).toHaveLength(2);
    expect(body.data[1]).toEqual({
      time: spx.time[at],
      open: spx.open[at],
      high: spx.high[at],
      low: spx.low[at],
      close: spx.close[at],
      volume: spx.volume[at],
    });
    expect(body.pagination).toEqual({ limit: 500, nextCursor: null, hasMore: false, total: 2 });
  });

  it('has every bar of a range on exactly one page', async () => {
    const range = 'start=2018-01-01&end=2018-07-01T00:00Z';
    const times: number[] = [];
    let cursor = '';
    do {
      const { body } = await client.get(`${SPX}?${range}&limit=50${cursor && `&cursor=${cursor}`}`);
      times.push(...(body.data as Row[]).map(({ time }) => time));
      cursor = body.pagination.nextCursor ?? '';
    } while (cursor !== '');
    const [from, to] = [Date.UTC(2018, 0, 1), Date.UTC(2018, 6, 1)];
    expect(times).toEqual([...spx.time].filter((time) => time >= from && time + 86_400_000 <= to));
  });

  it('answers the same rows as CSV and Arrow, with a link to the next page', async () => {
    const json = (await client.get(`${SPX}?limit=3`)).body.data as Row[];
    const csv = await client.get(`${SPX}?limit=3&format=csv`);
    expect(Papa.parse(csv.text.trim(), { header: true, dynamicTyping: true }).data).toEqual(json);
    const [next] = /(?<=<).*(?=>; rel="next")/.exec(String(csv.headers.link))!;
    const second = await api.send({ url: next, headers: { 'x-api-key': client.apiKey } });
    expect(second.text.split('\r\n')[1]).toMatch(new RegExp(`^${spx.time[3]},`));
    const arrow = await api.app.inject({
      url: `/public/v1${SPX}?limit=3`,
      headers: { 'x-api-key': client.apiKey, accept: 'application/vnd.apache.arrow.file' },
    });
    const table = tableFromIPC(arrow.rawPayload);
    expect(table.getChild('close')!.toArray()).toEqual(Float64Array.from(json, ({ close }) => close as number));
  });

  it.each([
    ['/market-data/SPY/1d/bars', 404, /no market data of "SPY"\. Did you mean "SPX"\?/],
    ['/market-data/SPX/1h/bars', 404, /no 1h bars of SPX.*Use 1d, or coarser/],
    ['/market-data/SPX/7d/bars', 404, /no timeframe "7d"\. Use one of .*1d/],
    [`${SPX}?limit=10001`, 400, /"limit" must be a whole number from 1 to 10000/],
    [`${SPX}?start=yesterday`, 400, /"start" must be a day such as/],
    [`${SPX}?cursor=x`, 400, /cursor is not one of ours/],
    [`${SPX}?page=2`, 400, /page/],
  ])('refuses %s', async (path, status, message) => {
    const refused = await client.get(path);
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringMatching(message)]);
  });

  it('needs a key with backtests_read', async () => {
    const other = await api.client({ scopes: ['workspace_read'] });
    expect((await other.get(SPX)).body.code).toBe('INSUFFICIENT_SCOPE');
    expect((await other.post('/columns', {})).body.code).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('POST columns', () => {
  it('answers what an indicator is on the last bars', async () => {
    const { status, body } = await columns({ columns: { rsi, close: { kind: 'market', field: 'close' } }, last: 40 });
    expect(status).toBe(200);
    expect(body.columns).toEqual([
      { name: 'rsi', type: 'value', text: 'rsi(close, 14)' },
      { name: 'close', type: 'value', text: 'close' },
    ]);
    const expected = wilder(spx.close).slice(-40);
    (body.data as Row[]).forEach((row, at) => expect(row.rsi).toBeCloseTo(expected[at]!, 8));
    expect((body.data as Row[]).map(({ close }) => close)).toEqual(Array.from(spx.close.slice(-40)));
  });

  it('answers where a condition was true, as on all bars before the range', async () => {
    const range = { start: '2018-01-01', end: '2019-01-01' };
    const { body } = await columns({ columns: { rsi, below }, where: 'below', range });
    const values = wilder(spx.close);
    const expected = [...spx.time].filter((time, at) => time >= Date.UTC(2018, 0, 1) && values[at]! < 30);
    expect(expected.length).toBeGreaterThan(3);
    expect((body.data as Row[]).map(({ time }) => time)).toEqual(expected);
    expect((body.data as Row[]).every((row) => row.below === true)).toBe(true);
  });

  it('has null before the first value, and in CSV an empty cell', async () => {
    const { body } = await columns({ columns: { rsi, below }, limit: 15 });
    expect(body.lookback).toBe(14);
    expect((body.data as Row[])[13]).toEqual({ time: spx.time[13], rsi: null, below: null });
    expect((body.data as Row[])[14].rsi).toBeCloseTo(wilder(spx.close)[14]!, 8);
    const csv = await columns({ columns: { rsi, below }, limit: 14, format: 'csv' });
    expect(csv.text.split('\r\n')[1]).toBe(`${spx.time[0]},,`);
    const next = await columns({ columns: { rsi, below }, limit: 1, cursor: csv.headers['next-cursor'] });
    expect(next.body.data[0].time).toBe(spx.time[14]);
  });

  it.each([
    [{ columns: { x: { ...rsi, indicator: 'rsii' } } }, 422, '/columns/x/indicator', /Unknown indicator/],
    [{ columns: { x: 7 } }, 422, '/columns/x', /must be a value expression/],
    [{ columns: { x: { kind: 'state', field: 'account_equity' } } }, 422, '/columns/x', /only a run has/],
    [{ columns: { x: { kind: 'cross_section', op: 'rank', source: rsi } } }, 422, '/columns/x', /compares instruments/],
    [{ columns: { x: { ...rsi, instrument: { symbol: 'NONE' } } } }, 422, '/columns', /NONE 1d, of which there is no/],
    [{ columns: { rsi }, where: 'rsi' }, 422, '/where', /not a condition/],
    [{ columns: { rsi }, timezone: 'Mars' }, 422, '/timezone', /Unknown time zone/],
    [{ columns: {} }, 400, '/columns', /1 to 32 columns/],
    [{ columns: { time: rsi } }, 400, '/columns/time', /every row has/],
    [{ columns: { rsi }, symbol: 'SPY' }, 404, undefined, /Did you mean "SPX"/],
  ])('refuses %j', async (more, status, path, message) => {
    const refused = await columns(more);
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringMatching(message)]);
    expect(refused.body.issues?.[0].path).toBe(path);
  });

  it('counts the nodes of all columns, and nothing else', async () => {
    const field = { kind: 'market', field: 'close' };
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`c${at}`, at === 0 ? nested(count) : nested(3)]));
    const nested = (count: number): object =>
      Array.from({ length: count - 1 }).reduce<object>((source) => ({ kind: 'shift', offset: 1, source }), field);
    const free = await columns({ columns: many(16), last: 1 });
    expect(free.status, free.body.message).toBe(200);
    const refused = await columns({ columns: many(20), last: 1 });
    expect(refused.body.issues?.[0]).toMatchObject({ code: 'TIER_LIMIT_NODES', path: '/columns' });
    expect(refused.body.message).toContain('The columns have 65 nodes, and this tier allows 64.');
  });

  it.each([...COLUMNS_EXAMPLES, JSON.parse(DOCUMENTED) as object])(
    'answers the documented example %#',
    async (example) => {
      const { status, body } = await client.post('/columns', example);
      expect(status, body.message).toBe(200);
      expect(body.data.length).toBeGreaterThan(0);
    },
  );
});
