import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SHIPPED_FOLDER } from '../../src/market/shipped.ts';
import { astOf, cross, entry, exit, sma } from '../support/builders.ts';
import { callCommand } from '../support/command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-annualization-'));
  const crossed = (op: string): object => cross(sma(50), op, sma(200));
  const strategyAst = astOf({
    entry: entry(crossed('cross_up'), { action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } } }),
    exits: [exit(crossed('cross_down'))],
  });
  const feeModel = {
    kind: 'tiered_maker_taker',
    tiers: [{ minCumulativeNotional: 0, makerRate: 0.001, takerRate: 0.001 }],
  };
  const config = {
    timeframe: '1d',
    signalInstrument: { symbol: 'SPX' },
    initialBalance: 10_000,
    execution: { feeModel, slippage: { kind: 'none' } },
  };
  await writeFile(join(folder, 'strategy.json'), JSON.stringify(strategyAst));
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const currency = { ...config, timeframe: '1h', signalInstrument: { symbol: 'EURUSD' } };
  await writeFile(join(folder, 'EURUSD.json'), JSON.stringify(currency));
  const range = { start: '2017-03-01', end: '2017-04-01' };
  await writeFile(join(folder, 'EURUSD-march.json'), JSON.stringify({ ...currency, range }));
});
afterAll(() => rm(folder, { recursive: true }));

interface Result {
  readonly sharpeRatio: number;
  readonly conventions: { readonly periodsPerYear: number; readonly periodsPerYearReason: string };
}
const backtest = (...args: readonly string[]): Promise<Result> => backtestOf('config.json', ...args);
async function backtestOf(config: string, ...args: readonly string[]): Promise<Result> {
  const inputs = ['--strategy', join(folder, 'strategy.json'), '--config', join(folder, config)];
  const { code, stdout, stderr } = await callCommand(['backtest', ...inputs, ...args, '--json']);
  if (code !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { summaryJson: Result }).summaryJson;
}

it('annualizes a stock’s bars from a file by 252, as in the catalog, unless told otherwise', async () => {
  const bars = ['--bars', join(SHIPPED_FOLDER, 'SPX-1d.csv.gz')];
  const shipped = await backtest();
  const fromFile = await backtest(...bars);
  expect(fromFile.conventions).toMatchObject({
    periodsPerYear: 252,
    periodsPerYearReason: 'inferred from the bars, which leave out the same days of every week',
  });
  expect(fromFile.sharpeRatio).toBe(shipped.sharpeRatio);
  const stated = await backtest(...bars, '--instrument', '{"tradesAllDay":true}');
  expect(stated.conventions).toMatchObject({ periodsPerYear: 365, periodsPerYearReason: 'stated for the instrument' });
  expect(stated.sharpeRatio).toBeCloseTo(fromFile.sharpeRatio * Math.sqrt(365 / 252), 9);
});

it('annualizes a currency by the UTC days that have bars, Sunday evenings included, for every range', async () => {
  const counted = {
    periodsPerYear: 314,
    periodsPerYearReason: 'counted in the bars: the UTC days that have some, per year of data',
  };
  const whole = await backtestOf('EURUSD.json');
  expect(whole.conventions).toMatchObject(counted);
  expect((await backtestOf('EURUSD-march.json')).conventions).toMatchObject(counted);
  const bars = ['--bars', join(SHIPPED_FOLDER, 'EURUSD-1h.csv.gz')];
  expect((await backtestOf('EURUSD.json', ...bars)).sharpeRatio).toBe(whole.sharpeRatio);
  const stated = await backtestOf('EURUSD.json', ...bars, '--instrument', '{"periodsPerYear":252}');
  expect(stated.conventions.periodsPerYear).toBe(252);
  expect(whole.sharpeRatio).toBeCloseTo(stated.sharpeRatio * Math.sqrt(314 / 252), 9);
});
