// Comparing and combining backtests over HTTP, with the real engine behind the worker.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMBINE_EXAMPLES, COMPARE_EXAMPLES } from '../../src/api/backtests/compareExamples.ts';
import { createLiveApi } from '../support/liveApi.ts';
import type { Reply } from '../support/apiApp.ts';

const live = await createLiveApi();
const { client, api } = live;
afterAll(() => live[Symbol.asyncDispose]());

const RANGE = { start: '2005-01-01', end: '2015-01-01' };
const cross = (fast: number) => ({
  settings: {},
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: {
        kind: 'entry',
        trigger: {
          kind: 'cross',
          op: 'cross_up',
          left: { kind: 'indicator', indicator: 'sma', args: { length: fast } },
          right: { kind: 'indicator', indicator: 'sma', args: { length: 50 } },
        },
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
      },
      risk: { stopLoss: { mode: 'percent', value: 5 }, takeProfits: [{ triggerPercent: 8, closePercent: 100 }] },
    },
  },
});
let first: Reply;
let second: Reply;
let later: Reply;
beforeAll(async () => {
  first = await live.run(cross(10), { range: RANGE });
  second = await live.run(cross(20), { range: RANGE });
  later = await live.run(cross(10), { range: { start: '2010-01-01', end: '2018-01-01' }, initialBalance: 5_000 });
});
const idOf = ({ body }: Reply): string => body.id as string;
const compare = (more: object = {}) =>
  client.post('/backtests/compare', { backtestIds: [idOf(first), idOf(second)], wait: 60, ...more });
const combine = (runs: readonly Reply[], weights: readonly number[], more: object = {}) =>
  client.post('/backtests/combine', {
    backtests: runs.map((run, at) => ({ backtestId: idOf(run), weight: weights[at] })),
    wait: 60,
    ...more,
  });

interface Row {
  readonly time: number;
  readonly equity: number;
}
const equityOf = async (run: Reply): Promise<readonly Row[]> =>
  (await client.get(`/backtests/${idOf(run)}/artifacts/equity`)).body;

/** Pearson's correlation, written as its definition. */
function pearson(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [centerA, centerB] = [mean(a), mean(b)];
  const product = (x: readonly number[], y: readonly number[], cx: number, cy: number) =>
    x.reduce((sum, value, at) => sum + (value - cx) * (y[at] - cy), 0);
  return product(a, b, centerA, centerB) / Math.sqrt(product(a, a, centerA, centerA) * product(b, b, centerB, centerB));
}

describe('POST /backtests/compare', () => {
  it('answers what differs: settings, metrics, positions and the correlation of daily returns', async () => {
    const { status, body, text } = await compare({ metrics: ['sharpeRatio', 'totalPositions'], equityPoints: 50 });
    expect(status, text).toBe(200);
    expect(body.status).toBe('complete');
    expect(body.backtests).toMatchObject([
      { id: idOf(first), symbol: 'SPX', timeframe: '1d', initialBalance: 10_000, version: 1 },
      { id: idOf(second) },
    ]);
    expect(body.settings).toEqual([
      {
        path: '/strategy/entry/0/trigger/left/args/length',
        text: 'strategy: entry 1, trigger, left (sma), args, length',
        values: [10, 20],
      },
    ]);
    const summaries = [first, second].map((run) => run.body.result.summaryJson);
    expect(body.metrics).toEqual([
      { key: 'sharpeRatio', values: summaries.map(({ sharpeRatio }) => sharpeRatio) },
      { key: 'totalPositions', values: summaries.map(({ totalPositions }) => totalPositions) },
    ]);
    const [pair] = body.trades;
    expect(pair.both + pair.onlyA.count).toBe(summaries[0].totalPositions);
    expect(pair.both + pair.onlyB.count).toBe(summaries[1].totalPositions);
    expect(pair.onlyA.rows.length).toBe(Math.min(10, pair.onlyA.count));
    const curves = await Promise.all([first, second].map(equityOf));
    const [a, b] = curves.map((rows) =>
      rows.map(({ equity }, at) => equity / (at === 0 ? 10_000 : rows[at - 1].equity) - 1),
    );
    expect(body.correlations.returns[0][1]).toBeCloseTo(pearson(a, b), 12);
    expect(body.correlations.returns[0][0]).toBeCloseTo(1, 12);
    expect(body.correlations.days[0]).toEqual([a.length, a.length]);
    expect([body.equity.time.length, body.equity.backtests[1].at(-1)]).toEqual([50, curves[1].at(-1)!.equity / 10_000]);
    expect(body.warnings).toEqual([]);
  });

  it('warns of what misleads, and counts positions outside the other period', async () => {
    const { body } = await compare({ backtestIds: [idOf(first), idOf(later)] });
    expect(body.warnings.map(({ code }: { code: string }) => code)).toEqual(['PERIODS_DIFFER', 'BALANCES_DIFFER']);
    const [{ onlyA, onlyB }] = body.trades;
    expect(onlyA.outsidePeriod).toBeGreaterThan(5);
    expect(onlyB.outsidePeriod).toBeGreaterThan(2);
    expect(body.correlations.days[0][1]).toBe(1258);
    expect(body.settings.map(({ path }: { path: string }) => path)).toEqual([
      '/config/range/start',
      '/config/range/end',
      '/config/initialBalance',
    ]);
  });

  it('calls a backtest by its name where it has one', async () => {
    await client.patch(`/backtests/${idOf(second)}`, { name: 'slower' });
    const { body } = await compare({ trades: false, correlations: false });
    expect(body.backtests.map(({ label }: { label: string }) => label)).toEqual(['Strategy 1 v1, SPX 1d', 'slower']);
  });

  it('leaves out what is not asked for, and needs no worker for it', async () => {
    const { status, body } = await compare({ trades: false, correlations: false });
    expect([status, body.trades, body.correlations, body.equity]).toEqual([200, null, null, null]);
    expect(body.metrics.length).toBe(13);
  });

  it('answers 202 with the rest while daily equity is being made, and 200 when it is asked again', async () => {
    const { sql } = api.services;
    await sql`delete from reruns`;
    const pending = await compare({ wait: 0 });
    expect([pending.status, pending.body.status, pending.body.correlations.status]).toEqual([
      202,
      'pending',
      'pending',
    ]);
    expect(pending.body.correlations.waitingFor).toContain(idOf(second));
    expect(pending.body.trades.length).toBe(1);
    const done = await compare();
    expect([done.status, done.body.correlations.status]).toEqual([200, 'complete']);
    const [{ count }] = await sql<[{ count: number }]>`select count(*)::int as count from reruns`;
    expect(count).toBe(2);
  });

  it('says why a backtest that cannot run again has no correlation, and does not try again at once', async () => {
    const { sql } = api.services;
    const gone = await live.run(cross(15), { range: RANGE });
    await sql`update backtests set snapshots = ${['0'.repeat(64)]} where id = ${idOf(gone)}`;
    const ids = [idOf(first), idOf(gone)];
    const failed = await compare({ backtestIds: ids });
    expect([failed.status, failed.body.correlations.status]).toEqual([200, 'failed']);
    expect(failed.body.correlations.message).toContain(`The backtest ${idOf(gone)} could not be run again`);
    expect(failed.body.metrics.length).toBe(13);
    const reruns = () => sql`select id from reruns where backtest_id = ${idOf(gone)}`;
    const before = await reruns();
    expect((await compare({ backtestIds: ids, wait: 0 })).body.correlations.status).toBe('failed');
    expect((await reruns()).length).toBe(before.length);
    const refused = await combine([first, gone], [0.5, 0.5]);
    expect([refused.status, refused.body.code]).toEqual([409, 'ARTIFACT_NOT_REPRODUCIBLE']);
  });

  it('does not find backtests of others, unknown ones and unfinished ones', async () => {
    const other = await api.client();
    const ids = [idOf(first), idOf(second)];
    expect((await other.post('/backtests/compare', { backtestIds: ids })).status).toBe(404);
    const half = { backtests: ids.map((backtestId) => ({ backtestId, weight: 0.5 })) };
    expect((await other.post('/backtests/combine', half)).status).toBe(404);
    const unknown = await compare({ backtestIds: [idOf(first), '019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d08'] });
    expect([unknown.status, unknown.body.message]).toEqual([
      404,
      'No backtest "019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d08" in this workspace.',
    ]);
    // Neither claimed nor ended.
    const [{ id }] = await api.services.sql<[{ id: string }]>`
      insert into backtests (workspace_id, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots,
        run_key)
      select workspace_id, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots, run_key
      from backtests where id = ${idOf(first)} returning id`;
    const refused = await compare({ backtestIds: [idOf(first), id] });
    const message = `The backtest ${id} is queued. Only completed ones can be compared and combined.`;
    expect([refused.status, refused.body.message]).toEqual([404, message]);
  });

  it('refuses repeated ids, one alone, eleven, and unknown metrics, with their places', async () => {
    const ids = Array.from({ length: 11 }, (_, at) => `019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d${at + 10}`);
    for (const [body, path] of [
      [{ backtestIds: [idOf(first), idOf(first).toUpperCase()] }, '/backtestIds/1'],
      [{ backtestIds: [idOf(first)] }, '/backtestIds'],
      [{ backtestIds: ids }, '/backtestIds'],
      [{ metrics: ['sharpe'] }, '/metrics/0'],
      [{ tradeRows: 101 }, '/tradeRows'],
    ] as const) {
      const refused = await compare(body);
      expect([refused.status, refused.body.code, refused.body.issues[0].path]).toEqual([
        400,
        'VALIDATION_FAILED',
        path,
      ]);
    }
  });
});

describe('POST /backtests/combine', () => {
  it('of one backtest answers its own numbers', async () => {
    const { body, status, text } = await combine([first], [1]);
    expect(status, text).toBe(200);
    const own = first.body.result.summaryJson;
    for (const [key, value] of Object.entries(body.summary as Record<string, number | null>))
      expect(value, key).toBeCloseTo(own[key], 12);
    expect(Object.keys(body.summary).length).toBeGreaterThan(14);
    expect(body.initialBalance).toBe(10_000);
    expect(body.drawdown.depth).toBe(own.maxDrawdown);
    expect(body.equity.combined.at(-1)).toBe(own.finalEquity);
    expect(body.warnings).toEqual([]);
  });

  it('combines the days that all cover, says what is cut, and adds the parts up', async () => {
    const { body } = await combine([first, later], [0.6, 0.4], { rebalance: 'monthly', equityPoints: 0 });
    expect(body.status).toBe('complete');
    expect(body.period.days).toBe(1258);
    expect(new Date(body.period.start as number).toISOString().slice(0, 7)).toBe('2010-01');
    expect(body.initialBalance).toBe(8_000);
    expect(body.warnings.map(({ code }: { code: string }) => code)).toEqual(['PERIOD_CUT']);
    const [old, recent] = body.backtests;
    expect([old.daysCutBefore, old.daysCutAfter, recent.daysCutBefore]).toEqual([1259, 0, 0]);
    expect(recent.daysCutAfter).toBeGreaterThan(700);
    expect(old.contribution + recent.contribution).toBeCloseTo(body.summary.returnPct, 12);
    expect(body.equity).toBeNull();
    expect(body.diversificationRatio).toBeGreaterThanOrEqual(1 - 1e-12);
  });

  it('refuses weights that do not add up to 1 unless asked to divide them, and runs without a common day', async () => {
    const refused = await combine([first, second], [1, 2]);
    expect([refused.status, refused.body.issues[0].path]).toEqual([400, '/backtests']);
    expect(refused.body.message).toContain('weights that add up to 3, not 1');
    const { body } = await combine([first, second], [1, 2], { normalize: true });
    expect(body.backtests.map(({ weight }: { weight: number }) => weight)).toEqual([1 / 3, 2 / 3]);
    const early = await live.run(cross(10), { range: { start: '1999-01-01', end: '2003-01-01' } });
    const apart = await combine([first, early], [0.5, 0.5]);
    expect([apart.status, apart.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(apart.body.message).toMatch(
      /^The backtests have no day in common: .* covers 2005-01-03 to 2014-12-31; .*1999/,
    );
  });

  it('takes the documented examples and those of docs/compare.md, with ids that exist', async () => {
    const ids = [idOf(first), idOf(second)];
    const [compared, combined] = [...readFileSync('docs/compare.md', 'utf8').matchAll(/```json\n(.*?)```/gs)].map(
      ([, text]) => text.replaceAll(/019f4a52[\w-]+(\d)/g, (_, digit) => ids[digit - 8]),
    );
    expect((await client.post('/backtests/compare', JSON.parse(compared))).status).toBe(200);
    expect((await client.post('/backtests/combine', JSON.parse(combined))).status).toBe(200);
    for (const example of COMPARE_EXAMPLES)
      expect((await client.post('/backtests/compare', { ...example, backtestIds: ids })).status).toBe(200);
    for (const example of COMBINE_EXAMPLES) {
      const backtests = example.backtests.map(({ weight }, at) => ({ backtestId: ids[at], weight }));
      expect((await client.post('/backtests/combine', { ...example, backtests })).status).toBe(200);
    }
  });
});
