// Portfolios over HTTP from request to report, run by a worker with the real engine on shipped data: the whole path,
// and the same run from the command line.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BacktestConfig, createUniverse, ROBUSTNESS_ANALYSES } from '../../src/engine/index.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { shippedData } from '../support/shippedData.ts';
import { createApiApp } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { callCommand } from '../support/command.ts';
import { checked, robustnessContext } from '../support/robustness.ts';
import { astOf, compare, entry, market, sma } from '../support/builders.ts';

const SIX = ['AAPL', 'MSFT', 'IBM', 'GOOG', 'SPX', 'NASDAQ'];
const listed = (symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));
const { signalInstrument: _, ...COMMON } = config({ range: { start: '2010-01-01', end: '2016-01-01' } });
const portfolio = (symbols: readonly string[], more: object = {}) => ({
  ...COMMON,
  instruments: listed(symbols),
  ...more,
});
/** Above its average of 50 bars, the strongest of a quarter first, a third of the account each. */
const STRATEGY = astOf({
  entry: entry(compare(market(), 'gt', sma(50)), {
    rank: { kind: 'percent_change', source: market(), bars: 63 },
    action: { side: 'long', sizing: { mode: 'equal_slots' } },
  }),
  exits: [{ kind: 'exit', when: compare(market(), 'lt', sma(50)) }],
});
/** The two strongest of half a year, chosen at the beginning of each month. */
const ROTATION = astOf({
  allocation: {
    kind: 'allocation',
    when: { kind: 'schedule', every: 'month', on: 'first' },
    long: { by: { kind: 'percent_change', source: market(), bars: 126 }, top: 2 },
  },
});
const THREE_SLOTS = { portfolio: { slots: 3 } };

const api = await createApiApp();
const client = await api.client();
let worker: Worker;
let folder: string;
let versionId: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-portfolio-'));
  versionId = await readyVersionOf(STRATEGY);
  worker = await startApiWorker(api.services, 2);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function readyVersionOf(strategyAst: object): Promise<string> {
  const made = await client.post('/strategies', { name: 'portfolio', description: '', settings: {}, strategyAst });
  expect(made.status, made.text).toBe(201);
  const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, { version: 1 });
  expect(ready.status, ready.text).toBe(200);
  return ready.body.id;
}

async function run(sent: object, strategyVersionId = versionId) {
  const queued = await client.post('/backtests', { strategyVersionId, config: sent });
  expect(queued.status, queued.text).toBe(201);
  const ended = await client.get(`/backtests/${queued.body.id}?wait=60`);
  expect(ended.body.status, JSON.stringify(ended.body.error)).toBe('completed');
  return ended.body;
}

interface Trade {
  readonly symbol: string;
  readonly pnl: number;
}
const tradesOf = async (id: string): Promise<Trade[]> =>
  (await client.get(`/backtests/${id}/artifacts/trades?format=json`)).body;

describe('a portfolio over HTTP', () => {
  it('gives a result in which instruments, trades and the account agree', async () => {
    const { id, result, resolvedConfig, readFirst } = await run(portfolio(SIX, THREE_SLOTS));
    expect(readFirst.slice(-2)).toEqual(['/result/summaryJson/portfolio', '/result/summaryJson/instruments']);
    const { summaryJson } = result;
    const trades = await tradesOf(id);
    expect(trades.length).toBeGreaterThan(20);
    expect(resolvedConfig.instruments).toEqual(listed(SIX));
    const bySymbol = Map.groupBy(trades, ({ symbol }) => symbol);
    expect(SIX).toEqual(expect.arrayContaining([...bySymbol.keys()]));
    expect(bySymbol.size).toBeGreaterThan(3);
    for (const { symbol, trades: count, netPnl } of summaryJson.instruments) {
      const own = bySymbol.get(symbol) ?? [];
      expect(count, symbol).toBe(own.length);
      expect(netPnl, symbol).toBeCloseTo(
        own.reduce((sum, { pnl }) => sum + pnl, 0),
        6,
      );
    }
    const contributions = summaryJson.instruments.map(({ contribution }: { contribution: number }) => contribution);
    expect(contributions.reduce((sum: number, each: number) => sum + each, 0)).toBeCloseTo(summaryJson.returnPct, 9);
    expect(contributions).toEqual(contributions.toSorted((a: number, b: number) => b - a));
    expect(summaryJson.portfolio.maxPositions).toBe(3);
  });

  it('does not depend on the order of the list where the ranks differ', async () => {
    const [one, other] = [await run(portfolio(SIX, THREE_SLOTS)), await run(portfolio(SIX.toReversed(), THREE_SLOTS))];
    const sorted = async (id: string): Promise<string[]> =>
      (await tradesOf(id)).map((trade) => JSON.stringify({ ...trade, tradeId: 0, positionId: 0 })).toSorted();
    expect(await sorted(other.id)).toEqual(await sorted(one.id));
    expect(other.result.summaryJson.finalEquity).toBe(one.result.summaryJson.finalEquity);
  });

  it('of one instrument is the run of that instrument, of whose result it makes use', async () => {
    const sizing = { mode: 'percent_equity', value: 90 };
    const strategyVersionId = await readyVersionOf(
      astOf({
        entry: entry(compare(market(), 'gt', sma(20)), { action: { side: 'long', sizing } }),
        exits: [{ kind: 'exit', when: compare(market(), 'lt', sma(20)) }],
      }),
    );
    const single = await run({ ...COMMON, signalInstrument: { symbol: 'IBM' } }, strategyVersionId);
    const list = await run(portfolio(['IBM']), strategyVersionId);
    expect(list.reproducibility.resultHash).toBe(single.reproducibility.resultHash);
    expect(list.reproducibility.runKey).toBe(single.reproducibility.runKey);
    expect(list.result.summaryJson).toEqual(single.result.summaryJson);
    expect(list.readFirst).toEqual(single.readFirst);
  });

  it('is reproduced by verify, and gives its artifacts in every format', async () => {
    const { id, result } = await run(portfolio(SIX, THREE_SLOTS));
    const verified = await client.post(`/backtests/${id}/verify`);
    expect(verified.body.verified, verified.text).toBe(true);
    for (const { name, formats } of result.artifacts as { name: string; formats: string[] }[])
      for (const format of formats) {
        const file = await client.get(`/backtests/${id}/artifacts/${name}?format=${format}`);
        expect(file.status, `${name} as ${format}: ${file.text.slice(0, 300)}`).toBe(200);
        expect(file.headers['artifact-notice'], `${name} as ${format}`).toBeUndefined();
      }
    const report = await client.get(`/backtests/${id}/artifacts/report?format=html`);
    for (const symbol of SIX) expect(report.text).toContain(symbol);
    const orders = await client.get(`/backtests/${id}/artifacts/orders?format=json`);
    expect(new Set(orders.body.map(({ symbol }: Trade) => symbol)).size).toBeGreaterThan(3);
    const signals = await client.get(`/backtests/${id}/artifacts/signals?format=csv`);
    expect(signals.text.split('\n')[0]).toContain('symbol');
  });

  it('has an agent view that fits, with what each instrument did', async () => {
    const { id } = await run(portfolio(SIX, THREE_SLOTS));
    for (const maxBytes of [2_000, 8_000, 32_000]) {
      const view = await client.get(`/backtests/${id}?view=agent&maxBytes=${maxBytes}`);
      expect(Buffer.byteLength(view.text)).toBeLessThanOrEqual(maxBytes);
      if (maxBytes === 2_000) continue;
      expect(view.body.readFirst).toEqual(expect.arrayContaining(['/portfolio', '/instruments']));
      expect(view.body.portfolio).toMatchObject({ maxPositions: 3 });
      expect(view.body.instruments[0]).toHaveProperty('contribution');
    }
  });

  it('warns of an instrument without bars in the range, and runs the others', async () => {
    const { warnings, result } = await run(
      portfolio(SIX, { ...THREE_SLOTS, range: { start: '1999-01-01', end: '2003-01-01' } }),
    );
    const absent = warnings.filter(({ code }: { code: string }) => code === 'INSTRUMENT_WITHOUT_BARS');
    expect(absent).toMatchObject([{ message: expect.stringContaining('GOOG') }]);
    expect(result.summaryJson.portfolio.instruments).toBe(6);
  });

  it('rotates between its instruments by an allocation', async () => {
    const strategyVersionId = await readyVersionOf(ROTATION);
    const { id, result } = await run(portfolio(SIX), strategyVersionId);
    const trades = await tradesOf(id);
    expect(trades.length).toBeGreaterThan(5);
    expect(result.summaryJson.portfolio.maxPositions).toBeLessThanOrEqual(2);
    // The funnel of a rotation speaks of rebalances, however small the view is.
    const { allocation } = result.summaryJson.strategyTrace.funnel;
    expect(allocation.ordersFilled).toBeGreaterThan(5);
    for (const maxBytes of [2_000, 32_000]) {
      const { body } = await client.get(`/backtests/${id}?view=agent&maxBytes=${maxBytes}`);
      expect({ ...body.funnel, ...body.funnel.allocation }).toMatchObject({
        whenTrue: allocation.whenTrue,
        rebalances: allocation.rebalances,
        ordersFilled: allocation.ordersFilled,
      });
      expect(body.funnel).not.toHaveProperty('entrySignals');
      expect(body.rules[0].path).toBe('/strategyAst/strategy/allocation/when');
    }
    const check = (await client.post(`/backtests/${id}/robustness?wait=60`, { samples: 10 })).body;
    expect(check.status, JSON.stringify(check.error)).toBe('completed');
    expect(check.result.baseline.returnPct).toBe(result.summaryJson.returnPct);
    expect(check.result.lookAheadAudit).toMatchObject({ passed: true });
    expect(check.result.evidence).toMatchObject({ unit: 'period' });
    expect(check.result.monteCarlo).toMatchObject({ basis: 'rebalances' });
    expect(check.result.monteCarlo.positions).toBeGreaterThan(5);
  });
});

describe('a portfolio on the command line', () => {
  const file = (name: string): string => join(folder, name);
  const backtest = (...options: string[]) =>
    callCommand(['backtest', '--strategy', file('strategy.json'), '--config', file('config.json'), ...options]);
  beforeAll(async () => {
    await writeFile(file('strategy.json'), JSON.stringify({ settings: {}, strategyAst: STRATEGY }));
    await writeFile(file('config.json'), JSON.stringify({ ...COMMON, signalInstrument: { symbol: 'SPX' } }));
  });

  it('says of a rotation how often it was rebalanced, and how many orders were filled', async () => {
    await writeFile(file('rotation.json'), JSON.stringify({ settings: {}, strategyAst: ROTATION }));
    const given = ['--strategy', file('rotation.json'), '--config', file('config.json'), '--symbols', SIX.join()];
    const { stdout } = await callCommand(['backtest', ...given]);
    const months = 6 * 12;
    expect(stdout).toMatch(new RegExp(`^rebalances\\s+${months} of ${months} due$`, 'm'));
    expect(stdout).toMatch(/^orders filled\s+\d+ of \d+$/m);
    expect(stdout).toMatch(/^equal money in each\s+[\d.]+ %$/m);
    expect(stdout).not.toContain('buy and hold');
  });

  it('gives the result of the API, and names its instruments', async () => {
    const { id, reproducibility } = await run(portfolio(SIX, THREE_SLOTS));
    const json = await backtest('--symbols', SIX.join(), '--slots', '3', '--json');
    expect(json).toMatchObject({ code: 0, stderr: '' });
    const printed = JSON.parse(json.stdout) as {
      reproducibility: { resultHash: string };
      trades: readonly unknown[];
      bars: readonly { symbol: string }[];
    };
    expect(printed.reproducibility.resultHash).toBe(reproducibility.resultHash);
    expect(printed.trades).toHaveLength((await tradesOf(id)).length);
    expect(printed.bars.map(({ symbol }) => symbol)).toEqual(SIX);
    const text = await backtest('--symbols', SIX.join(), '--slots', '3');
    expect(text.stdout).toMatch(/^AAPL, MSFT, IBM, GOOG, SPX and 1 more 1d, 6 instruments, \d+ bars, \d+ trades\n/);
    expect(text.stdout).toContain('NASDAQ 1d: shipped with Candlepool');
  });

  it('names every missing instrument at once', async () => {
    const refused = await backtest('--symbols', 'AAPL,MSFTT,NOPE');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('/config/instruments/1/symbol: There are no 1d bars of MSFTT');
    expect(refused.stderr).toContain('Did you mean MSFT?');
    expect(refused.stderr).toContain('/config/instruments/2/symbol: There are no 1d bars of NOPE');
  });

  it('refuses options that do not fit a list', async () => {
    const slots = await backtest('--slots', '3');
    expect(slots.stderr).toContain('Only a run of several instruments has a portfolio.');
    const unnamed = await backtest('--symbols', 'AAPL,MSFT', '--bars', 'bars.csv');
    expect(unnamed.stderr).toContain('--bars bars.csv must say whose bars it holds: --bars SYMBOL:1d=FILE.');
  });

  it('explains the one plan of all instruments, and where the bars of each come from', async () => {
    const { stdout, code } = await callCommand([
      'explain',
      '--strategy',
      file('strategy.json'),
      '--timeframe',
      '1d',
      '--symbols',
      'AAPL,MSFT',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Portfolio of 2 instruments: AAPL, MSFT; one account/);
    expect(stdout).toMatch(/\n  open .*\n  inside .*\n  close .*\n  rank    entry 0: the largest .*\n  slots /);
    expect(stdout).toContain('Plan on 1d bars of each instrument: ');
    expect(stdout).not.toContain('SYMBOL');
    expect(stdout).not.toContain('No timeframe is named');
    expect(stdout).toContain('AAPL 1d: shipped with Candlepool');
    expect(stdout).toContain('MSFT 1d: shipped with Candlepool');
  });
});

describe('a robustness check of a portfolio', () => {
  const asked = { samples: 10, seed: 3 };

  it('gives over HTTP, on the command line and in one thread the same result', async () => {
    const { id, result } = await run(portfolio(SIX, THREE_SLOTS));
    const check = (await client.post(`/backtests/${id}/robustness?wait=60`, asked)).body;
    expect(check.status, JSON.stringify(check.error)).toBe('completed');
    const { returnPct, sharpeRatio, maxDrawdown, totalPositions } = result.summaryJson;
    expect(check.result.baseline).toMatchObject({ returnPct, sharpeRatio, maxDrawdown, totalPositions });
    for (const name of ROBUSTNESS_ANALYSES) expect(check.result, name).toHaveProperty(name);
    expect(check.result.lookAheadAudit).toMatchObject({ passed: true });
    expect(check.result.blockBootstrap).toMatchObject({ runs: 10, failed: 0 });
    expect(check.progress.runsDone).toBe(check.progress.runsTotal);

    const { trials } = check.result.luck;
    const [strategyFile, configFile] = [join(folder, 'checked.json'), join(folder, 'one.json')];
    await writeFile(strategyFile, JSON.stringify({ settings: {}, strategyAst: STRATEGY }));
    await writeFile(configFile, JSON.stringify({ ...COMMON, signalInstrument: { symbol: 'SPX' } }));
    const files = ['--strategy', strategyFile, '--config', configFile, '--symbols', SIX.join(), '--slots', '3'];
    const drawn = ['--samples', '10', '--seed', '3', '--trials', String(trials)];
    const json = await callCommand(['robustness', ...files, ...drawn, '--json']);
    expect(json, json.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toEqual(check.result);
    const table = await callCommand(['robustness', ...files, '--analysis', 'feeStress']);
    expect(table.stdout).toContain('fees × 2');

    const shipped = await shippedData();
    const snapshots = (await Promise.all(SIX.map((symbol) => shipped.snapshots(symbol, '1d')))).flat();
    const universe = createUniverse(snapshots, SIX, '1d');
    const given = BacktestConfig.parse(portfolio(SIX, THREE_SLOTS));
    const context = robustnessContext(STRATEGY, universe, { config: given, spec: asked });
    const here = checked(context, undefined, { trials, sweeps: [] });
    expect(JSON.parse(JSON.stringify(here))).toEqual(check.result);
  });

  it('names an instrument without bars', async () => {
    const configFile = join(folder, 'unknown.json');
    await writeFile(configFile, JSON.stringify(portfolio(['AAPL', 'MSFTT'])));
    const refused = await callCommand([
      'robustness',
      '--strategy',
      join(folder, 'checked.json'),
      '--config',
      configFile,
    ]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('/config/instruments/1/symbol: There are no 1d bars of MSFTT');
  });
});
