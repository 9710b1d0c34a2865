// What a robustness check over HTTP knows of earlier tries: the sweeps that its backtest comes from, deleted ones,
// other backtests of the strategy, and nothing of other strategies. And the same on the command line, from files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../src/jobs/runner.ts';
import type { Client, Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { callCommand } from '../support/command.ts';
import { createSweepApi, readyVersion, type SweepClient } from '../support/sweepApi.ts';
import { CROSSING } from '../support/sweeps.ts';

const service = await createSweepApi();
let worker: Worker;
beforeAll(async () => {
  worker = await startApiWorker(service.api.services, 2);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const space = { fast: { min: 2, max: 11 }, slow: { min: 20, max: 60, step: 10 } };
const range = { start: '2008-01-01', end: '2014-01-01' };

async function swept(client: SweepClient): Promise<Reply> {
  const id = await client.start({ space, config: config({ range }), metrics: 'all' });
  const done = await client.get(`/sweeps/${id}?wait=60`);
  expect(done.body.status, done.text).toBe('completed');
  return done;
}

async function completed(client: Client, body: object): Promise<string> {
  const made = await client.post('/backtests', body);
  expect(made.status, made.text).toBe(201);
  expect((await client.get(`/backtests/${made.body.id}?wait=60`)).body.status).toBe('completed');
  return made.body.id as string;
}

async function checkOf(client: Client, id: string, body: object = {}) {
  const done = await client.post(`/backtests/${id}/robustness?wait=60`, { analyses: ['startShift'], ...body });
  expect(done.body.status, done.text).toBe('completed');
  return done.body.result;
}

describe('a robustness check', () => {
  it('of a portfolio comes from no sweep of its instruments one by one, and counts its variants', async () => {
    const client = await service.client();
    const symbols = ['SPX', 'NASDAQ'];
    const id = await client.start({
      space: { ...space, symbol: { values: symbols } },
      config: config({ range }),
      metrics: 'all',
    });
    const sweep = (await client.get(`/sweeps/${id}?wait=60`)).body;
    expect(sweep.result.verdict.code).toBe('luck');
    const { signalInstrument: _, ...common } = config({ range });
    const backtest = await completed(client, {
      strategyVersionId: client.strategyVersionId,
      config: { ...common, instruments: symbols.map((symbol) => ({ symbol })) },
    });
    const { luck } = await checkOf(client, backtest);
    expect(luck.sweeps).toEqual([]);
    expect(luck.trials).toBe(sweep.result.trials.sweep + 1);
  });

  it('carries the luck of the sweep whose row it checks, however the row is run', async () => {
    const client = await service.client();
    const sweep = (await swept(client)).body;
    expect(sweep.result.verdict.code).toBe('luck');
    const [best] = sweep.result.top;
    const opened = (await client.post(`/sweeps/${sweep.id}/rows/${best.variant}/backtest`)).body.id;
    await client.get(`/backtests/${opened}?wait=60`);
    const found = await checkOf(client, opened);
    expect(found.verdict.code).toBe('luck');
    expect(found.verdict.text).toContain(
      `The backtest is row 1 of the best of sweep ${sweep.id}, whose verdict is luck`,
    );
    expect(found.luck.sweeps).toMatchObject([{ name: sweep.id, verdict: 'luck', rank: 1 }]);
    // 50 of the sweep, and this backtest.
    expect(found.luck.trials).toBe(sweep.result.trials.sweep + 1);
    expect(found.luck.deflatedSharpe).toBeLessThanOrEqual(sweep.result.workspaceDeflatedSharpe);
    expect(found.bounds).toContainEqual(
      expect.objectContaining({ name: 'sweepsCallingItLuck', value: 1, must: '<=', limit: 0, passed: false }),
    );

    // The numbers of the row as defaults of a new version of the strategy, which was never swept.
    const { strategyVersionId } = client;
    const { strategyId } = (await client.get(`/backtests/${opened}`)).body;
    const params = CROSSING.strategy.params.map((param) => ({
      ...param,
      default: best.params[param.name] ?? param.default,
    }));
    const strategyAst = { ...CROSSING, strategy: { ...CROSSING.strategy, params } };
    const next = await client.post(`/strategies/${strategyId}/versions/finalize`, { settings: {}, strategyAst });
    expect(next.body.status, next.text).toBe('ready');
    expect(next.body.id).not.toBe(strategyVersionId);
    const copied = await completed(client, { strategyVersionId: next.body.id, config: config({ range }) });
    expect((await checkOf(client, copied)).luck.sweeps).toMatchObject([{ name: sweep.id, rank: 1 }]);

    // Bars that the sweep has not seen: its trials count, and its verdict is about other bars.
    const later = { start: '2015-01-01', end: '2018-01-01' };
    const outside = await completed(client, {
      strategyVersionId,
      config: config({ range: later, params: best.params }),
    });
    const unseen = await checkOf(client, outside);
    expect(unseen.luck).toMatchObject({ trials: sweep.result.trials.sweep + 3, sweeps: [] });

    // The verdict of a deleted sweep is gone, and its trials are not.
    expect((await client.delete(`/sweeps/${sweep.id}`)).status).toBe(200);
    const after = await checkOf(client, opened);
    expect(after.luck).toMatchObject({ trials: sweep.result.trials.sweep + 3, sweeps: [] });
    expect(after.verdict.code).toBe('luck');
    expect(after.verdict.text).toContain('variants of this strategy were tried on this data');
  });

  it('knows nothing of another strategy, and takes a larger number of trials that is stated', async () => {
    const client = await service.client();
    await swept(client);
    const strategyVersionId = await readyVersion(client);
    const id = await completed(client, { strategyVersionId, config: config({ range }) });
    expect((await checkOf(client, id)).luck).toMatchObject({ trials: 1, sweeps: [], expectedMaximum: 0 });
    expect((await checkOf(client, id, { trials: 400 })).luck.trials).toBe(400);
  });
});

describe('candlepool robustness', () => {
  it('reads the sweep that a backtest comes from, and does not call robust what it knows no tries of', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'candlepool-lineage-'));
    const file = (name: string): string => join(folder, name);
    try {
      await writeFile(file('strategy.json'), JSON.stringify(CROSSING));
      await writeFile(file('space.json'), JSON.stringify({ config: config({ range }), space, method: 'grid' }));
      const strategy = ['--strategy', file('strategy.json')];
      const swept = await callCommand(['sweep', ...strategy, '--space', file('space.json'), '--json']);
      expect(swept.code, swept.stderr).toBe(0);
      await writeFile(file('sweep.json'), swept.stdout);
      const { top } = JSON.parse(swept.stdout) as { top: { params: object }[] };
      await writeFile(file('config.json'), JSON.stringify(config({ range, params: top[0].params })));
      const check = async (...options: string[]) => {
        const given = ['--config', file('config.json'), '--analysis', 'startShift', ...options, '--json'];
        const ran = await callCommand(['robustness', ...strategy, ...given]);
        expect(ran.code, ran.stderr).toBe(0);
        return JSON.parse(ran.stdout);
      };
      const known = await check('--sweep', file('sweep.json'));
      expect(known.verdict.code).toBe('luck');
      expect(known.luck).toMatchObject({ trials: 50, sweeps: [{ verdict: 'luck', rank: 1 }] });
      const unknown = await check();
      expect(unknown.luck).toMatchObject({ trials: null, deflatedSharpe: null, sweeps: [] });
      expect(unknown.findings.map(({ code }: { code: string }) => code)).toContain('TRIALS_UNKNOWN');
      expect((await check('--trials', '1')).luck.trials).toBe(1);
      const wrong = await callCommand([
        'robustness', ...strategy, '--config', file('config.json'), '--sweep', file('config.json'),
      ]); // prettier-ignore
      expect(wrong.code).not.toBe(0);
      expect(wrong.stderr).toContain('does not hold the result of a sweep');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
