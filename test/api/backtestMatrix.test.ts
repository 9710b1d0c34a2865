// Matrices of backtests, and batches answered in short: what they run, what they refuse, and how little they say.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsAnswer, shortAnswer } from '../../src/api/backtests/batchAnswers.ts';
import { MatrixBody, runsOf } from '../../src/api/backtests/matrix.ts';
import { problem } from '../../src/api/http/problems.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { eventually } from '../support/eventually.ts';
import { ast } from '../support/strategyPayloads.ts';

let api: ApiApp;
let client: Client;
let strategyId: string;
let versions: string[];
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  const base = ast();
  const params = [{ name: 'unused', type: 'int', default: 5, min: 1, max: 1_000 }];
  const strategyAst = { ...base, strategy: { ...base.strategy, params } };
  const created = await client.post('/strategies', { name: 'Matrix', settings: {}, strategyAst });
  strategyId = created.body.id;
  const path = `/strategies/${strategyId}/versions/finalize`;
  const first = await client.post(path, { settings: {}, strategyAst });
  const second = await client.post(path, { settings: { warmupPeriod: 100 }, strategyAst });
  versions = [first.body.id, second.body.id];
});
afterAll(() => api?.[Symbol.asyncDispose]());

const BASE = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
const PERIODS = [
  { start: '2010-01-01', end: '2012-01-01' },
  { start: '2015-01-01', end: null },
];
const COSTS = {
  slippage: { kind: 'none' },
  feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.001 }] },
};

/** The runs of a matrix of every list, written out by loops. */
function writtenOut(): object[] {
  const items: object[] = [];
  for (const strategyVersionId of versions)
    for (const change of [{}, { execution: COSTS }])
      for (const symbol of ['SPX', 'NASDAQ'])
        for (const range of PERIODS)
          for (const unused of [5, 6])
            items.push({
              strategyVersionId,
              config: { ...BASE, ...change, signalInstrument: { symbol }, range, params: { unused } },
            });
  return items;
}
const everyList = () => ({
  versions,
  configs: [{}, { execution: COSTS }],
  symbols: ['SPX', 'NASDAQ'],
  periods: PERIODS,
  params: { unused: [5, 6] },
  config: BASE,
});

const idsOf = async (batchId: string): Promise<string[]> => {
  const { data } = (await client.get(`/backtests?batchId=${batchId}&limit=100&sort=createdAt`)).body;
  return data.map(({ id }: { id: string }) => id).toSorted();
};
const ended = (id: string) =>
  eventually(async () => {
    const { body } = await client.get(`/backtests/${id}?wait=10`);
    return body.status === 'completed' && body;
  });

describe('POST /backtests/matrix', () => {
  it('runs what the separately written configs run, in the order of the lists', async () => {
    await using _worker = await startApiWorker(api.services);
    const alone = writtenOut();
    const { items } = runsOf(MatrixBody.parse(everyList()));
    expect(items).toEqual(alone);
    const { status, body } = await client.post('/backtests/matrix', everyList());
    expect([status, body]).toMatchObject([200, { accepted: 32, refused: 0, refusals: [] }]);
    const listed = await idsOf(body.batchId);
    expect(listed.length).toBe(32);
    expect(body.first.map(({ index }: { index: number }) => index)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    const single = await client.post('/backtests/batch', { items: alone });
    for (const index of [0, 5, 13, 18]) {
      const [ours, theirs] = [await ended(body.first[index].id), await ended(single.body.data[index].id)];
      const { configHash, resultHash, runKey } = ours.reproducibility;
      expect(theirs.reproducibility).toMatchObject({ configHash, resultHash, runKey });
      expect([listed.includes(ours.id), ours.config, ours.strategyVersionId]).toEqual([
        true,
        (alone[index] as { config: object }).config,
        (alone[index] as { strategyVersionId: string }).strategyVersionId,
      ]);
    }
  });

  it('takes less than 2 KB for 500 runs, sent and answered', async () => {
    const unused = Array.from({ length: 125 }, (_, index) => index + 1);
    const matrix = { versions, symbols: ['SPX', 'NASDAQ'], params: { unused }, config: BASE };
    expect(JSON.stringify(matrix).length).toBeLessThan(2_000);
    const queued = await client.post('/backtests/matrix', matrix);
    expect(queued.body).toMatchObject({ accepted: 500, refused: 0 });
    expect(queued.text.length).toBeLessThan(2_000);
    const { body } = await client.get(queued.body.links.backtests.replace('/public/v1', ''));
    expect(body.pagination.total).toBe(500);
  });

  it('says where a value is that cannot run, once for all of its runs, with a patch of the matrix', async () => {
    const wrong = {
      versions,
      symbols: ['SPX', 'NOPE'],
      timeframes: ['1d', '1D'],
      params: { unused: [5, 2_000] },
      config: BASE,
    };
    const { status, body, text } = await client.post('/backtests/matrix', wrong);
    expect([status, body.accepted, body.refused]).toEqual([200, 2, 14]);
    const issues = body.refusals.flatMap(({ error }: { error: { issues: object[] } }) => error.issues);
    expect(new Set(issues.map(({ path }: { path: string }) => path))).toEqual(
      new Set(['/symbols/1', '/timeframes/1', '/params/unused/1']),
    );
    expect(issues.find(({ path }: { path: string }) => path === '/timeframes/1').patch).toEqual([
      { op: 'replace', path: '/timeframes/1', value: '1d' },
    ]);
    expect(issues.find(({ path }: { path: string }) => path === '/symbols/1').message).toContain('NOPE');
    expect(text.length).toBeLessThan(8_000);
  });

  it.each([
    [
      'too many runs',
      { params: { a: Array.from({ length: 600 }, (_, i) => i), b: [1, 2] } },
      '',
      /2400 runs; 1000 are/,
    ],
    ['a value that is there twice', { symbols: ['SPX', 'SPX'] }, '/symbols/1', /"SPX" is in the list twice/],
    ['an empty list', { symbols: [] }, '/symbols', /at least 1/],
    [
      'a large config, many times',
      { params: { a: Array.from({ length: 450 }, (_, i) => i) }, config: { ...BASE, note: 'x'.repeat(10_000) } },
      '',
      /bytes of configs; 4194304 are allowed/,
    ],
    ['a list that is unknown', { symbol: ['SPX'] }, '/symbol', /Unknown member/],
  ])('refuses %s as a whole', async (_, change, path, message) => {
    const { status, body } = await client.post('/backtests/matrix', { versions, config: BASE, ...change });
    expect([status, body.issues]).toMatchObject([400, [{ path, message: expect.stringMatching(message) as string }]]);
  });

  it('takes a thousand values of one list, since each run has one of them', () => {
    const unused = Array.from({ length: 1_000 }, (_, index) => 1_000_000 + index);
    const { items } = runsOf(MatrixBody.parse({ versions: [versions[0]], params: { unused }, config: BASE }));
    expect(items.length).toBe(1_000);
    expect(items.at(-1)).toMatchObject({ config: { ...BASE, params: { unused: 1_000_999 } } });
  });

  it('queues once per Idempotency-Key, and shows the batch to its own workspace only', async () => {
    const headers = { 'idempotency-key': 'matrix' };
    const matrix = { versions, symbols: ['SPX', 'NASDAQ'], config: BASE };
    const [first, second] = [
      await client.post('/backtests/matrix', matrix, headers),
      await client.post('/backtests/matrix', matrix, headers),
    ];
    expect(second.body).toEqual(first.body);
    expect((await idsOf(first.body.batchId)).length).toBe(4);
    const other = await api.client();
    expect((await other.get(`/backtests?batchId=${first.body.batchId}`)).body.pagination.total).toBe(0);
    const foreign = await other.post('/backtests/matrix', matrix);
    expect(foreign.body).toMatchObject({ accepted: 0, refused: 4, links: {} });
    expect(foreign.body.refusals.map(({ error }: { error: { code: string } }) => error.code)).toEqual([
      'NOT_FOUND',
      'NOT_FOUND',
    ]);
  });

  it('replaces a member of the config by that of configs, and shows faults of it there', async () => {
    const configs = [{}, { execution: { feeModel: { kind: 'none' } } }];
    const { body } = await client.post('/backtests/matrix', { versions: [versions[0]], configs, config: BASE });
    expect([body.accepted, body.refused]).toEqual([1, 1]);
    expect(body.refusals[0].error.issues[0].path).toMatch(/^\/configs\/1\/execution\/feeModel/);
  });
});

describe('a batch', () => {
  it('says 500 refusals of one kind once with view=agent, in less than 2 KB', async () => {
    const item = { strategyVersionId: versions[0], config: { ...BASE, signalInstrument: { symbol: 'NOPE' } } };
    const items = [{ ...item, config: BASE }, ...Array.from({ length: 500 }, () => item)];
    const short = await client.post('/backtests/batch?view=agent', { items });
    expect(short.text.length).toBeLessThan(2_000);
    expect(short.body).toMatchObject({
      accepted: 1,
      refused: 500,
      first: [{ index: 0 }],
      refusals: [
        { count: 500, indices: '1-500', error: { issues: [{ path: '/items/1/config/signalInstrument/symbol' }] } },
      ],
    });
    expect(await idsOf(short.body.batchId)).toEqual([short.body.first[0].id]);
  });

  it('names the ready version for the id of a strategy', async () => {
    const items = [strategyId, versions[0], '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f'].map((strategyVersionId) => ({
      strategyVersionId,
      config: BASE,
    }));
    const { body } = await client.post('/backtests/batch', { items });
    expect(body).toMatchObject({ accepted: 1, refused: 2 });
    const alone = await client.post('/backtests', items[0]);
    expect(body.data[0].error).toMatchObject({ code: 'NOT_FOUND', message: alone.body.message });
    expect(body.data[0].error).toMatchObject({ nextSteps: [`Send strategyVersionId ${versions[1]}`] });
    expect(body.data[2].error.message).toMatch(/No strategy version|no strategy version/);
  });
});

describe('the short answer', () => {
  const config = { publicUrl: undefined };

  const refused = (index: number, message: string) => ({
    index,
    error: problem('BACKTEST_CONFIG_INVALID', {
      message,
      issues: [{ code: 'X', path: `/items/${index}/config/a`, field: 'a', severity: 'error', message }],
    }),
  });

  it('keeps different texts apart while they are few, and counts every refusal', () => {
    const few = shortAnswer(
      [refused(0, 'a'), { index: 1, id: 'x' }, refused(2, 'b'), refused(3, 'a')],
      'batch',
      config,
    );
    expect(few).toMatchObject({ accepted: 1, refused: 3, refusals: [{ count: 2, indices: '0, 3' }, { indices: '2' }] });
    const many = Array.from({ length: 700 }, (_, index) => refused(index, `${index}`));
    expect(shortAnswer(many, 'batch', config)).toMatchObject({
      refused: 700,
      refusals: [{ count: 700, indices: '0-699' }],
    });
    const kinds = Array.from({ length: 30 }, (_, index) => ({
      index,
      error: problem('BACKTEST_CONFIG_INVALID', {
        issues: [{ code: `X${index}`, path: '', field: '', severity: 'error', message: '' }],
      }),
    }));
    const { refusals, otherRefusals } = shortAnswer(kinds, 'batch', config);
    expect(refusals.reduce((sum, { count }) => sum + count, otherRefusals!)).toBe(30);
    expect(rowsAnswer(kinds).data.length).toBe(30);
  });
});
