// One dialect of paths over HTTP: issues, results, overrides and sweeps name places of the payload as its author sent
// it, here of a graph and of an AST with a single entry.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOLDEN_CROSS } from '../../src/api/templates/catalog.ts';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';

type Json = Record<string, unknown>;

let api: ApiApp;
let client: Client;
let worker: Worker;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  worker = await startApiWorker(api.services);
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

/** A payload, and the place of a number in it that matters: the length of the fast average. */
const CASES: [string, Json, string][] = [
  ['a graph', { signalGraph: structuredClone(GOLDEN_CROSS.signalGraph) }, '/signalGraph/nodes/0/args/length'],
  [
    'an AST with a single entry',
    { strategyAst: structuredClone(EXAMPLE_STRATEGY_AST) },
    '/strategyAst/strategy/entry/trigger/left/args/length',
  ],
];
const OTHER_LENGTH = 20;

/** What an RFC 6901 pointer leads to in a body; undefined when it leads nowhere. */
function at(body: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  const plain = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return plain.reduce<unknown>((found, name) => (found as Json | undefined)?.[name], body);
}

function changed(body: Json, pointer: string, value: unknown): Json {
  const copy = structuredClone(body);
  const end = pointer.lastIndexOf('/');
  (at(copy, pointer.slice(0, end)) as Json)[pointer.slice(end + 1)] = value;
  return copy;
}

/** Every pointer into a payload that an answer names, in its members and in its words. */
function pointersIn(answer: unknown): string[] {
  const texts = JSON.stringify(answer).matchAll(/\/(?:strategyAst|signalGraph|strategy|nodes)(?:\/[\w~-]+)*/g);
  return [...new Set([...texts].map(([pointer]) => pointer))];
}

async function readyVersion(payload: Json): Promise<string> {
  const made = await client.post('/strategies', { name: 'Paths', settings: {}, ...payload });
  expect(made.status, made.text).toBe(201);
  const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, { version: 1 });
  expect(ready.status, ready.text).toBe(200);
  return ready.body.id as string;
}

async function run(strategyVersionId: string, more: object = {}): Promise<{ summary: Json; trades: Json[] }> {
  const queued = await client.post('/backtests', { strategyVersionId, config: config(more) });
  expect(queued.status, queued.text).toBe(201);
  const done = await client.get(`/backtests/${queued.body.id}?wait=60`);
  expect(done.body.status, done.text).toBe('completed');
  const trades = await client.get(`/backtests/${queued.body.id}/artifacts/trades?format=json`);
  return { summary: done.body.result.summaryJson as Json, trades: trades.body as Json[] };
}

describe.each(CASES)('%s', (_what, payload, pointer) => {
  it('gets issues that point into the body as it was sent', async () => {
    const owner = pointer.slice(0, pointer.indexOf('/args'));
    const broken = { settings: {}, ...changed(payload, `${owner}/indicator`, 'no_such_indicator') };
    const { body } = await client.post('/strategies/validate', changed(broken, pointer, 'long'));
    expect(body.valid).toBe(false);
    const paths = body.issues.map((issue: { path: string }) => issue.path) as string[];
    expect(paths).toContain(`${owner}/indicator`);
    expect(paths.filter((path) => at(broken, path) === undefined)).toEqual([]);
  });

  it('is run with a result that names places of the payload as it was sent', async () => {
    const { summary } = await run(await readyVersion(payload));
    const pointers = pointersIn(summary);
    expect(pointers.length).toBeGreaterThan(0);
    expect(pointers.filter((each) => at(payload, each) === undefined)).toEqual([]);
  });

  it('is run with another number by an override of its place, as if the author had written that number', async () => {
    const versionId = await readyVersion(payload);
    const overridden = await run(versionId, { overrides: { [pointer]: OTHER_LENGTH } });
    const written = await run(await readyVersion(changed(payload, pointer, OTHER_LENGTH)));
    expect(overridden.trades).toEqual(written.trades);
    expect(overridden.trades).not.toEqual((await run(versionId)).trades);
    expect(overridden.trades.length).toBeGreaterThan(0);
  });

  it('is swept over a place of it, with the results of the runs', async () => {
    const strategyVersionId = await readyVersion(payload);
    const values = [OTHER_LENGTH, at(payload, pointer) as number];
    const asked = { strategyVersionId, config: config(), space: { [pointer]: { values } }, method: 'grid' };
    const sweep = await client.post('/sweeps', asked);
    expect(sweep.status, sweep.text).toBe(201);
    const done = await client.get(`/sweeps/${sweep.body.id}?wait=60`);
    expect(done.body.status, done.text).toBe('completed');
    const rows = (await client.get(`/sweeps/${sweep.body.id}/results?format=json`)).body as Json[];
    expect(rows.map((row) => row[pointer])).toEqual(values);
    const overridden = await run(strategyVersionId, { overrides: { [pointer]: OTHER_LENGTH } });
    const plain = await run(strategyVersionId);
    expect(rows.map(({ returnPct }) => returnPct)).toEqual([overridden.summary.returnPct, plain.summary.returnPct]);
    expect(rows[0].returnPct).not.toBe(rows[1].returnPct);
  });

  it('is refused an override of a place that it does not have, by the name that was sent', async () => {
    const strategyVersionId = await readyVersion(payload);
    const overrides = { [`${pointer}/no/such/place`]: 1 };
    const refused = await client.post('/backtests', { strategyVersionId, config: config({ overrides }) });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(pointer);
  });
});
