// Sweeps of portfolios over HTTP, run by a worker with the real engine on shipped data: rows, a row as a backtest, the
// report, refusals with places in the space, and the limits of tiers.
import jsonPatch from 'fast-json-patch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type Client } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { listOf, ROTATION, SLOTTED } from '../support/portfolioSweeps.ts';

const SIX = ['AAPL', 'MSFT', 'IBM', 'GOOG', 'SPX', 'NASDAQ'];
const UNIVERSES = [SIX, ['IBM', 'AAPL', 'MSFT']];
const { signalInstrument: _, ...COMMON } = config({ range: { start: '2010-01-01', end: '2016-01-01' } });
const PORTFOLIO = { ...COMMON, instruments: listOf(SIX) };

const api = await createApiApp();
const client = await api.client();
let worker: Worker;
let rotation: string;
let slotted: string;
beforeAll(async () => {
  rotation = await readyVersionOf(client, ROTATION);
  slotted = await readyVersionOf(client, SLOTTED);
  worker = await startApiWorker(api.services, 2);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

async function readyVersionOf(own: Client, strategyAst: object): Promise<string> {
  const made = await own.post('/strategies', { name: 'portfolio', description: '', settings: {}, strategyAst });
  expect(made.status, made.text).toBe(201);
  const ready = await own.post(`/strategies/${made.body.id}/versions/finalize`, { version: 1 });
  expect(ready.status, ready.text).toBe(200);
  return ready.body.id;
}

const sweepOf = (more: object = {}) => ({
  strategyVersionId: rotation,
  config: PORTFOLIO,
  space: { instruments: { values: UNIVERSES }, top: { values: [1, 2] } },
  method: 'grid',
  ...more,
});

describe('a sweep of portfolios over HTTP', () => {
  it('ranks its variants, each of which is a backtest with the same numbers', async () => {
    const made = await client.post('/sweeps', sweepOf({ walkForward: { kind: 'rolling', folds: 2 } }));
    expect(made.status, made.text).toBe(201);
    expect(made.body.variants).toBe(4);
    const done = await client.get(`/sweeps/${made.body.id}?wait=60`);
    expect(done.body.status, JSON.stringify(done.body.error)).toBe('completed');
    const { result } = done.body;
    expect(result).toMatchObject({ evaluated: 4, failures: { count: 0 } });
    expect(result.walkForward.folds.map(({ status }: { status: string }) => status)).toEqual(['traded', 'traded']);
    const rows = (await client.get(`/sweeps/${made.body.id}/results`)).body as Record<string, number | string>[];
    expect(rows.map(({ instruments, top }) => [instruments, top])).toEqual([
      ['1: AAPL, MSFT, … (6)', 1],
      ['1: AAPL, MSFT, … (6)', 2],
      ['2: IBM, AAPL, MSFT', 1],
      ['2: IBM, AAPL, MSFT', 2],
    ]);
    const queued = await client.post(`/sweeps/${made.body.id}/rows/2/backtest`, {});
    expect(queued.status, queued.text).toBe(201);
    const backtest = await client.get(`/backtests/${queued.body.id}?wait=60`);
    expect(backtest.body.config).toMatchObject({ instruments: listOf(UNIVERSES[1]), params: { top: 1 } });
    for (const key of ['returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions', 'turnover', 'totalFees'])
      expect(backtest.body.result.summaryJson[key]).toBe(rows[2][key]);
    const report = await client.get(`/sweeps/${made.body.id}/report`);
    expect(report.text).toContain('Portfolios of 3 to 6 instruments: AAPL, MSFT, IBM, GOOG, SPX and NASDAQ');
    const heatmap = await client.get(`/sweeps/${made.body.id}/heatmap?x=instruments&y=top`);
    expect(heatmap.body.x.values).toEqual(['1: AAPL, MSFT, … (6)', '2: IBM, AAPL, MSFT']);
    const agent = await client.get(`/sweeps/${made.body.id}?view=agent`);
    expect(agent.body.table.columns.slice(2, 4)).toEqual(['instruments', 'top']);
  });

  it('varies slots, and finds better points by tpe', async () => {
    const space = { slots: { min: 1, max: 4 }, fast: { min: 3, max: 20 }, stop: { values: [5, 10] } };
    const asked = { strategyVersionId: slotted, space, method: 'tpe', budget: 40, metrics: 'headline' };
    const made = await client.post('/sweeps', sweepOf(asked));
    expect(made.status, made.text).toBe(201);
    const done = await client.get(`/sweeps/${made.body.id}?wait=60`);
    expect(done.body.result, JSON.stringify(done.body.error)).toMatchObject({ evaluated: 40, failures: { count: 0 } });
  });

  it('answers unknown instruments with their places in the space', async () => {
    const instruments = { values: [SIX, ['AAPL', 'MSFTT']] };
    const reply = await client.post('/sweeps', sweepOf({ space: { instruments, top: { values: [1] } } }));
    expect(reply).toMatchObject({
      status: 422,
      body: { code: 'BACKTEST_CONFIG_INVALID', issues: [{ path: '/space/instruments/values/1/1', field: 'space' }] },
    });
  });

  it('answers a space of single runs and slots of an allocation with SWEEP_INVALID', async () => {
    const space = { symbol: { values: ['SPX'] }, slots: { min: 1, max: 2 }, top: { values: [1] } };
    const reply = await client.post('/sweeps', sweepOf({ space }));
    expect(reply).toMatchObject({
      status: 422,
      body: { code: 'SWEEP_INVALID', issues: [{ path: '/space/symbol' }, { path: '/space/slots' }] },
    });
  });

  it('answers faults of the space, the instruments and the config together', async () => {
    const instruments = { values: [SIX, ['AAPL', 'MSFTT'], ['IBMM', 'AAPL'], ['AAPL', 'IBM', 'AAPL']] };
    const facedWith = async (space: object, params: object, constraints: object[] = []) => {
      const { body } = await client.post('/sweeps', sweepOf({ config: { ...PORTFOLIO, params }, space, constraints }));
      return [body.code, ...body.issues.map(({ path }: { path: string }) => path)];
    };
    const symbols = ['/space/instruments/values/1/1', '/space/instruments/values/2/0'];
    // Of the space and of its instruments; the first fault of the space hides no other one.
    expect(await facedWith({ instruments, top: { values: [0, 2] }, slots: { min: 1, max: 2 } }, {})).toEqual([
      'SWEEP_INVALID', '/space/instruments/values/3', '/space/slots', '/space/top/values/0', ...symbols,
    ]); // prettier-ignore
    // A dimension that cannot be read, and a constraint on it, of which nothing is known.
    const below = { left: 'nothing', op: 'lt', right: 'top' };
    expect(await facedWith({ nothing: { min: 1, max: 2 }, instruments, top: { values: [0] } }, {}, [below])).toEqual([
      'SWEEP_INVALID', '/space/nothing', '/space/instruments/values/3', '/space/top/values/0', ...symbols,
    ]); // prettier-ignore
    // Of the config; a param that the space varies has other values there.
    const sound = { values: instruments.values.slice(0, 3) };
    expect(await facedWith({ instruments: sound, slots: { min: 1, max: 2 } }, { top: 0 })).toEqual([
      'SWEEP_INVALID', '/space/slots', '/config/params/top', ...symbols,
    ]); // prettier-ignore
    expect(await facedWith({ top: { values: [1, 2] }, slots: { min: 1, max: 2 } }, { top: 0 })).toEqual([
      'SWEEP_INVALID', '/space/slots',
    ]); // prettier-ignore
    // Of several markets.
    expect(await facedWith({ instruments: sound }, { top: 0 })).toEqual([
      'BACKTEST_CONFIG_INVALID', '/config/params/top', ...symbols,
    ]); // prettier-ignore
    expect(await facedWith({ instruments: sound, top: { values: [1] } }, {})).toEqual([
      'BACKTEST_CONFIG_INVALID', ...symbols,
    ]); // prettier-ignore
  });

  it('answers a config without instruments with a patch that takes the first list of the space', async () => {
    const bare = sweepOf({ config: COMMON });
    const { status, body } = await client.post('/sweeps', bare);
    expect([status, body.issues]).toMatchObject([
      400,
      [
        {
          code: 'MISSING_FIELD',
          path: '/config/instruments',
          message: 'The space varies instruments, and the config has no list of its own.',
          suggestion: 'Give config.instruments too, such as the first list of the space.',
        },
      ],
    ]);
    const { newDocument } = jsonPatch.applyPatch(structuredClone(bare), body.issues[0].patch);
    expect(newDocument.config).toEqual({ ...COMMON, instruments: listOf(SIX) });
    expect((await client.post('/sweeps', newDocument)).status).toBe(201);
    // Without such lists, the config may be one of a single run.
    const other = await client.post('/sweeps', sweepOf({ config: COMMON, space: { top: { values: [1] } } }));
    expect(other.body.issues).toMatchObject([{ path: '/config/signalInstrument' }]);
  });

  it('answers lists of objects with 400 and the texts to write', async () => {
    const instruments = { values: [listOf(['AAPL', 'MSFT'])] };
    const reply = await client.post('/sweeps', sweepOf({ space: { instruments } }));
    expect(reply).toMatchObject({
      status: 400,
      body: {
        issues: [
          {
            path: '/space/instruments/values/0',
            patch: [{ op: 'replace', path: '/space/instruments/values/0', value: ['AAPL', 'MSFT'] }],
          },
        ],
      },
    });
  });
});

describe('the limits of a tier', () => {
  it('hold for each universe of a sweep, and for its variants', async () => {
    const free = await api.client({ tier: 'free' });
    const strategyVersionId = await readyVersionOf(free, ROTATION);
    const many = [...SIX, 'A', 'B', 'C', 'D', 'E'];
    const refusedBy = async (more: object) =>
      (await free.post('/sweeps', sweepOf({ strategyVersionId, ...more }))).body;
    expect(
      await refusedBy({ config: { ...PORTFOLIO, instruments: listOf(many) }, space: { top: { values: [1] } } }),
    ).toMatchObject({
      code: 'TIER_LIMIT_REACHED',
      limitName: 'maxInstrumentsPerRun',
      limit: 10,
      usage: 11,
    });
    expect(await refusedBy({ space: { instruments: { values: [SIX, many] }, top: { values: [1] } } })).toMatchObject({
      code: 'TIER_LIMIT_REACHED',
      limitName: 'maxInstrumentsPerRun',
      usage: 11,
    });
    expect(await refusedBy({ space: { lookback: { min: 2, max: 300 } } })).toMatchObject({
      code: 'TIER_LIMIT_REACHED',
      limitName: 'sweepVariants',
      usage: 299,
    });
  });

  it('let a sweep of another workspace not see its rows', async () => {
    const made = await client.post('/sweeps', sweepOf());
    const other = await api.client();
    expect((await other.get(`/sweeps/${made.body.id}`)).status).toBe(404);
  });
});
