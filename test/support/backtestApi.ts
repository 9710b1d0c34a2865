// Backtests over HTTP for tests: a service with shipped data, a client with a ready strategy, and a worker of the
// stand-in engine.
import { expect } from 'vitest';
import { startWorker } from '../../src/jobs/runner.ts';
import type { Worker, WorkerSettings } from '../../src/jobs/runner.ts';
import { urlOf } from '../../src/db/connect.ts';
import { createApiApp } from './apiApp.ts';
import type { ApiApp, Client, Reply } from './apiApp.ts';
import { quiet } from './queue.ts';
import { STAND_IN_RUNNER, STRATEGY } from './runs.ts';

export const FEES = {
  kind: 'tiered_maker_taker',
  tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.001 }],
};
export const config = (more: object = {}) => ({
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  initialBalance: 10_000,
  execution: { feeModel: FEES, slippage: { kind: 'none' } },
  ...more,
});
/** The stand-in engine reads these; the strategy declares them, so that they pass the checks. */
const PARAMS = [
  { name: 'act', type: 'choice', default: 'none', values: ['none', 'spin', 'fail', 'throw'] },
  { name: 'ms', type: 'float', default: 0, min: 0, max: 1e6 },
  { name: 'value', type: 'float', default: 0 },
  { name: 'pieces', type: 'int', default: 0 },
];

export interface Versions {
  readonly strategyId: string;
  readonly versionId: string;
  /** A ready version of another strategy. */
  readonly draftId: string;
}
export interface BacktestApi extends AsyncDisposable, Versions {
  readonly api: ApiApp;
  readonly client: Client;
  readonly body: (more?: object, versionId?: string) => { strategyVersionId: string; config: object };
  readonly post: (more?: object) => Promise<Reply>;
  /** Posts and waits until it has ended. */
  readonly run: (more?: object) => Promise<Reply>;
  readonly withWorker: (settings?: Pick<WorkerSettings, 'maxArtifactBytes'>) => Promise<void>;
  readonly withoutWorker: () => Promise<void>;
}

export async function createBacktestApi(): Promise<BacktestApi> {
  const api = await createApiApp();
  const client = await api.client();
  const versions = await makeVersions(client);
  let worker: Worker | undefined;
  const body = (more: object = {}, id = versions.versionId) => ({ strategyVersionId: id, config: config(more) });
  const post = (more: object = {}) => client.post('/backtests', body(more));
  const withoutWorker = async (): Promise<void> => {
    await worker?.[Symbol.asyncDispose]();
    worker = undefined;
  };
  return {
    api,
    client,
    ...versions,
    body,
    post,
    run: async (more) => client.get(`/backtests/${(await post(more)).body.id}?wait=30`),
    withWorker: async (settings) => {
      const pool = { runner: STAND_IN_RUNNER };
      const url = urlOf(api.services.sql);
      const snapshots = () => api.services.catalogs;
      worker ??= await startWorker({ url, threads: 2, snapshots, pool, ...settings }, quiet);
    },
    withoutWorker,
    [Symbol.asyncDispose]: async () => {
      await withoutWorker();
      await api[Symbol.asyncDispose]();
    },
  };
}

export async function makeVersions(client: Client): Promise<Versions> {
  const payload = { settings: {}, strategyAst: { ...STRATEGY, strategy: { ...STRATEGY.strategy, params: PARAMS } } };
  const made = await client.post('/strategies', { name: 'test', description: '', ...payload });
  expect(made.status, made.text).toBe(201);
  const other = await client.post('/strategies', { name: 'draft', description: '', ...payload });
  const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, { ...payload, version: 1 });
  expect(ready.status, ready.text).toBe(200);
  return { strategyId: made.body.id, versionId: ready.body.id, draftId: other.body.versions[0].id };
}
