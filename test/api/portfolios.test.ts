// Portfolios over HTTP: queued one by one and in batches, and listed by each of their symbols.
import { afterAll, describe, expect, it } from 'vitest';
import { config, createBacktestApi, makeVersions } from '../support/backtestApi.ts';

const backtests = await createBacktestApi();
const { client, versionId, body } = backtests;
afterAll(() => backtests[Symbol.asyncDispose]());

const { signalInstrument: _, ...common } = config();
const listed = (...symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));
const portfolio = (more: object) => ({ strategyVersionId: versionId, config: { ...common, ...more } });
const SIX = ['AAPL', 'MSFT', 'IBM', 'GOOG', 'SPX', 'NASDAQ'];
const queue = (more: object) => client.post('/backtests', portfolio(more));

interface Row {
  readonly id: string;
  readonly symbol: string;
  readonly instruments?: number;
}
const listBy = async (query: string): Promise<Row[]> => (await client.get(`/backtests?${query}`)).body.data;

describe('POST /backtests with instruments', () => {
  it('queues the portfolio and answers its config as it was sent', async () => {
    const sent = { instruments: listed(...SIX), portfolio: { slots: 3 }, benchmark: { symbol: 'SPX' } };
    const queued = await queue(sent);
    expect(queued.status, queued.text).toBe(201);
    const detail = await client.get(`/backtests/${queued.body.id}`);
    expect(detail.body.config).toEqual({ ...common, ...sent });
  });

  it('answers unknown symbols with 422 and an issue for each', async () => {
    const reply = await queue({ instruments: listed('AAPL', 'MSFTT', 'ibm') });
    expect(reply).toMatchObject({
      status: 422,
      body: {
        code: 'BACKTEST_CONFIG_INVALID',
        issues: [{ path: '/config/instruments/1/symbol' }, { path: '/config/instruments/2/symbol' }],
      },
    });
    // The example is a config that is accepted in place of the refused one.
    const { example } = reply.body;
    expect(example.instruments.length).toBeGreaterThan(1);
    const accepted = await client.post('/backtests', { strategyVersionId: versionId, config: example });
    expect(accepted.status, accepted.text).toBe(201);
    const one = await client.post('/backtests', {
      strategyVersionId: versionId,
      config: { ...common, signalInstrument: { symbol: 'NO' } },
    });
    expect(one.body.example).toMatchObject({ signalInstrument: { symbol: 'SPX' } });
  });

  it('answers symbols written as texts with 400 and the objects to write', async () => {
    const reply = await queue({ instruments: ['AAPL', 'MSFT'] });
    expect(reply).toMatchObject({
      status: 400,
      body: {
        issues: [
          { path: '/config/instruments/0', patch: [{ op: 'replace', value: { symbol: 'AAPL' } }] },
          { path: '/config/instruments/1', patch: [{ op: 'replace', value: { symbol: 'MSFT' } }] },
        ],
        example: { instruments: [{ symbol: 'AAPL' }, { symbol: 'IBM' }, { symbol: 'MSFT' }] },
      },
    });
  });

  it('answers more instruments than the tier allows with 403, and capabilities say how many', async () => {
    const free = await backtests.api.client({ tier: 'free' });
    const own = await makeVersions(free);
    const instruments = listed(...SIX, 'A', 'B', 'C', 'D', 'E');
    const reply = await free.post('/backtests', { ...portfolio({ instruments }), strategyVersionId: own.versionId });
    expect(reply).toMatchObject({
      status: 403,
      body: { code: 'TIER_LIMIT_REACHED', limitName: 'maxInstrumentsPerRun', limit: 10, usage: 11 },
    });
    const { limits } = (await free.get('/capabilities?sections=limits')).body;
    expect(limits.maxInstrumentsPerRun).toBe(10);
  });

  it('accepts and refuses the portfolios of a batch one by one', async () => {
    const items = [
      portfolio({ instruments: listed('AAPL', 'MSFT') }),
      portfolio({ instruments: listed('AAPL', 'NO') }),
    ];
    const { status, body: answer } = await client.post('/backtests/batch', { items });
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      accepted: 1,
      refused: 1,
      data: [{ status: 'queued' }, { error: { issues: [{ path: '/items/1/config/instruments/1/symbol' }] } }],
    });
  });
});

describe('a list of backtests', () => {
  it('finds portfolios by each of their symbols, and shows the first and how many there are', async () => {
    const { body: six } = await queue({ instruments: listed(...SIX), initialBalance: 77 });
    const { body: two } = await queue({ instruments: listed('MSFT', 'IBM'), initialBalance: 78 });
    const { body: one } = await client.post('/backtests', body({ initialBalance: 79 }));
    const rowsOf = async (symbol: string): Promise<(Row | undefined)[]> => {
      const rows = await listBy(`symbol=${symbol}&limit=100`);
      return [six, two, one].map(({ id }) => rows.find((row) => row.id === id));
    };
    const shown = { symbol: 'AAPL, MSFT, IBM, GOOG, SPX and 1 more', instruments: 6 };
    expect(await rowsOf('NASDAQ')).toMatchObject([shown, undefined, undefined]);
    expect(await rowsOf('IBM')).toMatchObject([shown, { symbol: 'MSFT, IBM', instruments: 2 }, undefined]);
    const [, , single] = await rowsOf('SPX');
    expect(single?.symbol).toBe('SPX');
    expect(single).not.toHaveProperty('instruments');
    // Names are compared whole.
    expect(await listBy('symbol=AAPL,%20MSFT')).toEqual([]);
    expect(await listBy('symbol=AAP')).toEqual([]);
  });
});
