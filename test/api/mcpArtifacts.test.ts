// Artifacts over MCP: bounded pages of rows, which together are the whole artifact; and the runs that they belong to,
// compared in a list.
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Papa from 'papaparse';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cross, indicator, market } from '../support/builders.ts';
import { createLiveApi, SPX_CONFIG } from '../support/liveApi.ts';
import { csvOf, daysFrom } from '../support/uploads.ts';

const live = await createLiveApi();
const mcp = new McpClient({ name: 'test', version: '1.0.0' });
let id: string;
beforeAll(async () => {
  const url = new URL('/mcp', await live.api.app.listen({ port: 0, host: '127.0.0.1' }));
  const headers = { authorization: `Bearer ${live.client.apiKey}` };
  await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  id = (await live.run(averages(20))).body.id as string;
});
afterAll(async () => {
  await mcp.close();
  await live[Symbol.asyncDispose]();
});

const averages = (length: number) => ({
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: {
        kind: 'entry',
        trigger: {
          ...cross(market('close'), 'cross_up', { ...indicator('sma', { length }), id: 'average' }),
          meta: { note: 'line 1\nline 2' },
        },
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 50 } },
      },
      exits: [
        {
          kind: 'exit',
          when: cross(market('close'), 'cross_down', indicator('sma', { length })),
          reason: 'below, "again"',
        },
      ],
    },
  },
});

interface Answer {
  readonly isError: boolean;
  readonly bytes: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any;
}
async function call(name: string, args: object): Promise<Answer> {
  const { content, isError = false } = await mcp.callTool({ name, arguments: { ...args } });
  const [{ text }] = content as { text: string }[];
  return { isError, bytes: Buffer.byteLength(text), body: JSON.parse(text) };
}

it.each(['trades', 'equity', 'orders', 'signals'])(
  'reads all rows of %s page by page, within maxBytes',
  async (name) => {
    const rows: unknown[][] = [];
    let columns: unknown[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const page = await call('get_backtest_artifact', { id, name, offset, limit: 2_000, maxBytes: 50_000 });
      expect([page.isError, page.body.offset, page.bytes <= 50_000]).toEqual([false, offset, true]);
      expect(page.body.rows.length).toBeGreaterThan(0);
      columns = page.body.columns;
      rows.push(...page.body.rows);
      offset = page.body.nextOffset;
    }
    const file = await live.client.get(`/backtests/${id}/artifacts/${name}?format=csv`);
    const { data } = Papa.parse<unknown[]>(file.text, { dynamicTyping: true, skipEmptyLines: true });
    expect(rows.length).toBeGreaterThan(50);
    expect([columns, ...rows]).toEqual(data);
  },
);

it('shows the columns that are asked for, so that more rows fit', async () => {
  const all = await call('get_backtest_artifact', { id, name: 'trades', maxBytes: 2_000 });
  const two = await call('get_backtest_artifact', {
    id,
    name: 'trades',
    maxBytes: 2_000,
    columns: ['pnl', 'exitRule'],
  });
  expect(two.body.columns).toEqual(['pnl', 'exitRule']);
  expect(two.body.rows.length).toBeGreaterThan(4 * all.body.rows.length);
  const place = (name: string): number => all.body.columns.indexOf(name);
  expect(two.body.rows[0]).toEqual([all.body.rows[0][place('pnl')], all.body.rows[0][place('exitRule')]]);
});

it('adds what named nodes were at each entry and exit', async () => {
  const { body } = await call('get_backtest_artifact', { id, name: 'trades', values: true, limit: 1 });
  expect(body.columns).toEqual(expect.arrayContaining(['entry.average', 'exit.average']));
  expect(body.rows[0].length).toBe(body.columns.length);
});

it('reads the trades of some bars, and writes rows as one CSV text within maxBytes', async () => {
  const { data: all } = Papa.parse<{ entryBar: number; exitBar: number; pnl: number }>(
    (await live.client.get(`/backtests/${id}/artifacts/trades?format=csv`)).text,
    { header: true, dynamicTyping: true, skipEmptyLines: true },
  );
  const bars = [all[10].exitBar, all[40].entryBar] as const;
  const inside = all.filter(({ entryBar, exitBar }) => exitBar >= bars[0] && entryBar <= bars[1]);
  const columns = ['entryBar', 'exitBar', 'pnl'];
  const found: unknown[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const args = { id, name: 'trades', bars, columns, format: 'csv', limit: 8, offset, maxBytes: 1_000 };
    const page = await call('get_backtest_artifact', args);
    expect([page.isError, page.bytes <= 1_000, page.body.mediaType]).toEqual([false, true, 'text/csv']);
    found.push(...Papa.parse(page.body.csv, { header: true, dynamicTyping: true, skipEmptyLines: true }).data);
    offset = page.body.nextOffset;
    if (found.length >= inside.length) break;
  }
  expect(inside.length).toBeGreaterThan(20);
  expect(found).toEqual(inside.map(({ entryBar, exitBar, pnl }) => ({ entryBar, exitBar, pnl })));
  const equity = await call('get_backtest_artifact', { id, name: 'equity', bars });
  expect(equity).toMatchObject({ isError: true, body: { code: 'VALIDATION_FAILED' } });
});

it('names the columns there are for one that there is not, and passes on what the API refuses', async () => {
  const refused = await call('get_backtest_artifact', { id, name: 'equity', columns: ['time', 'profit'] });
  expect(refused).toMatchObject({ isError: true, body: { status: 400 } });
  expect(refused.body.message).toBe(
    'There is no column "profit". The columns are time, equity, drawdown, inPosition, buyHold.',
  );
  const unknown = await call('get_backtest_artifact', { id: '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f', name: 'equity' });
  expect(unknown).toMatchObject({ isError: true, body: { code: 'NOT_FOUND' } });
});

it('compares runs in a list, sorted by a key of the summary', async () => {
  const other = (await live.run(averages(60))).body.id as string;
  const { body } = await call('list_backtests', { sort: '-returnPct', symbol: 'SPX', status: 'completed' });
  expect(body.data.map((row: { id: string }) => row.id).toSorted()).toEqual([id, other].toSorted());
  expect(body.data[0].returnPct).toBeGreaterThan(body.data[1].returnPct);
  expect(await call('list_backtests', { sort: 'luck' })).toMatchObject({ isError: true, body: { status: 400 } });
});

it('queues the backtest of a row of a sweep', async () => {
  const { body: version } = await live.finalize(averages(20));
  const sweep = await call('run_sweep', {
    strategyVersionId: version.id,
    config: SPX_CONFIG,
    space: { '/strategyAst/strategy/entry/action/sizing/value': { values: [10, 20] } },
    method: 'grid',
    objective: { key: 'returnPct' },
    wait: 25,
  });
  const [row] = sweep.body.table.rows as unknown[][];
  const at = (column: string): unknown => row[sweep.body.table.columns.indexOf(column)];
  const queued = await call('run_sweep_row', { id: sweep.body.id, variant: at('variant') });
  const { body } = await call('get_backtest', { id: queued.body.id, wait: 25 });
  expect(body.headline.returnPct).toBe(at('returnPct'));
  expect(await call('cancel_sweep', { id: sweep.body.id })).toMatchObject({ isError: true, body: { status: 409 } });
});

it('stores bars, reads the last of them, computes an RSI on them, runs on them, and deletes them', async () => {
  const days = daysFrom('2021-01-01', 90);
  const imported = await call('import_bars', { content: csvOf(days), filename: 'AGENT-1d.csv' });
  expect(imported.body.series).toMatchObject([{ symbol: 'AGENT', timeframe: '1d', bars: 90 }]);
  const packed = gzipSync(csvOf(days)).toString('base64');
  const again = await call('import_bars', { content: packed, encoding: 'base64', symbol: 'AGENT' });
  expect([again.isError, again.body.issues[0].code]).toEqual([true, 'SERIES_EXISTS']);
  const listed = await call('list_market_data', { owner: 'workspace' });
  expect(listed.body.data).toMatchObject([{ symbol: 'AGENT', owner: 'workspace' }]);

  const bars = await call('get_bars', { symbol: 'AGENT', timeframe: '1d', last: 2 });
  const { time, ...prices } = days[89];
  expect(bars.body.columns).toEqual(['time', ...Object.keys(prices)]);
  expect(bars.body.rows[1]).toEqual([new Date(time).toISOString().replace(':00.000Z', 'Z'), ...Object.values(prices)]);
  const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 14 } };
  const high = { kind: 'compare', op: 'gt', left: rsi, right: { kind: 'const', value: 50 } };
  const computed = await call('compute_columns', {
    symbol: 'AGENT',
    timeframe: '1d',
    columns: { rsi, high },
    where: 'high',
    last: 3,
  });
  expect(computed.body).toMatchObject({ columns: ['time', 'rsi', 'high'], nextCursor: null, total: 3 });
  for (const [, value, isHigh] of computed.body.rows) expect([value > 50, isHigh]).toEqual([true, true]);

  const { body } = await live.run(averages(5), { ...SPX_CONFIG, signalInstrument: { symbol: 'AGENT' } });
  expect(body.status).toBe('completed');
  const gone = await call('delete_market_data', { symbol: 'AGENT', timeframe: '1d' });
  expect(gone.body).toEqual({ symbol: 'AGENT', timeframe: '1d', deleted: true });
  expect((await call('get_bars', { symbol: 'AGENT', timeframe: '1d' })).isError).toBe(true);
});

it('compares and combines up to ten backtests in answers under 8 KB, and none of another workspace', async () => {
  const other = (await live.run(averages(40))).body.id as string;
  const pair = await call('compare_backtests', { backtestIds: [id, other] });
  expect(pair.body.status).toBe('complete');
  expect(pair.body.settings).toMatchObject([{ values: [20, 40] }, { values: [20, 40] }]);
  expect(pair.body.correlations.returns[0][1]).toBeLessThan(1);
  expect(pair.body.trades[0].onlyA.rows.length).toBe(5);
  const backtests = [id, other].map((backtestId) => ({ backtestId, weight: 0.5 }));
  const combined = await call('combine_backtests', { backtests, rebalance: 'daily' });
  expect(combined.body).toMatchObject({ status: 'complete', backtests: [{ id }, { id: other }] });
  const refused = await call('combine_backtests', { backtests: backtests.slice(1) });
  expect([refused.isError, refused.body.code]).toEqual([true, 'VALIDATION_FAILED']);
  const { strategyVersionId, config } = (await live.client.get(`/backtests/${id}`)).body;
  const items = Array.from({ length: 8 }, (_, at) => ({
    strategyVersionId,
    config: { ...config, initialBalance: 9_000 + at },
  }));
  const { data } = (await live.client.post('/backtests/batch', { items })).body;
  const ids = (data as { id: string }[]).map((item) => item.id);
  for (const each of ids) await live.client.get(`/backtests/${each}?wait=30`);
  const ten = await call('compare_backtests', { backtestIds: [id, other, ...ids] });
  expect(ten.body).toMatchObject({ status: 'complete', correlations: { status: 'complete' } });
  expect(ten.body.metrics.length).toBe(13);
  for (const { bytes } of [pair, combined, ten]) expect(bytes).toBeLessThanOrEqual(8_000);
  const stranger = await live.api.client();
  const url = new URL('/mcp', `http://127.0.0.1:${(live.api.app.server.address() as AddressInfo).port}`);
  const headers = { authorization: `Bearer ${stranger.apiKey}` };
  const client = new McpClient({ name: 'stranger', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  for (const [name, args] of [
    ['compare_backtests', { backtestIds: [id, other] }],
    ['combine_backtests', { backtests }],
  ] as const) {
    const { content, isError } = await client.callTool({ name, arguments: args });
    expect([isError, (content as { text: string }[])[0].text]).toEqual([true, expect.stringContaining('NOT_FOUND')]);
  }
  await client.close();
});

it('adds what expressions without an id were, named by their text', async () => {
  const { body } = await call('get_backtest_artifact', { id, name: 'trades', values: true, maxBytes: 100_000 });
  const named = await live.run({
    ...averages(20),
    strategyAst: {
      ...averages(20).strategyAst,
      strategy: {
        ...averages(20).strategyAst.strategy,
        exits: [
          {
            kind: 'exit',
            when: {
              ...cross({ ...market('close'), id: 'price' }, 'cross_down', {
                ...indicator('sma', { length: 20 }),
                id: 'other',
              }),
              id: 'below',
            },
          },
        ],
      },
    },
  });
  const other = { id: named.body.id, name: 'trades', values: true, maxBytes: 100_000 };
  const { body: byId } = await call('get_backtest_artifact', other);
  const cells = ({ columns, rows }: { columns: string[]; rows: unknown[][] }, name: RegExp): unknown[] => {
    const place = columns.findIndex((column) => name.test(column));
    expect(place, `${name} in ${columns.join()}`).toBeGreaterThan(-1);
    return rows.map((row) => row[place]);
  };
  expect(cells(body, /^exit\.close$/)).toEqual(cells(byId, /^exit\.price$/));
  expect(cells(body, /^exit\..*(?:below|down).*sma/)).toEqual(cells(byId, /^exit\.below$/));
  expect(cells(body, /^entry\.close$/).every((value) => typeof value === 'number')).toBe(true);
});
