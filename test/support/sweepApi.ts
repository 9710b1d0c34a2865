// Sweeps over HTTP for tests: a service with shipped data, and keys of workspaces that have a ready version to sweep.
import { expect } from 'vitest';
import { createApiApp, type ApiApp, type Client } from './apiApp.ts';
import { config } from './backtestApi.ts';
import { eventually } from './eventually.ts';
import { CROSSING } from './sweeps.ts';

export interface SweepClient extends Client {
  readonly strategyVersionId: string;
  /** Starts a sweep of `fast` and `slow`, by default of 2,400 variants in several shards. @returns its id */
  start(more?: object): Promise<string>;
  csvOf(id: string): Promise<string>;
}

export interface SweepApi extends AsyncDisposable {
  readonly api: ApiApp;
  client(): Promise<SweepClient>;
}

export async function createSweepApi(): Promise<SweepApi> {
  const api = await createApiApp();
  return {
    api,
    client: async () => sweepClient(await api.client()),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** Makes a ready version of a strategy with the params `fast` and `slow`. @returns its id */
export async function readyVersion(client: Client): Promise<string> {
  const payload = { settings: {}, strategyAst: CROSSING };
  const { id } = (await client.post('/strategies', { name: 'crossing', description: '', ...payload })).body;
  return (await client.post(`/strategies/${id}/versions/finalize`, payload)).body.id as string;
}

async function sweepClient(client: Client): Promise<SweepClient> {
  const strategyVersionId = await readyVersion(client);
  return {
    ...client,
    strategyVersionId,
    start: async (more = {}) => {
      const space = { fast: { min: 1, max: 40 }, slow: { min: 41, max: 100 } };
      const asked = { strategyVersionId, config: config(), space, method: 'grid', metrics: 'headline', ...more };
      const made = await client.post('/sweeps', asked);
      expect(made.status, made.text).toBe(201);
      return made.body.id as string;
    },
    csvOf: async (id) => {
      const done = await eventually(async () => {
        const reply = await client.get(`/sweeps/${id}?wait=30`);
        return !['queued', 'running'].includes(reply.body.status) && reply;
      });
      expect(done.body.status, done.text).toBe('completed');
      return (await client.get(`/sweeps/${id}/results?format=csv`)).text;
    },
  };
}
