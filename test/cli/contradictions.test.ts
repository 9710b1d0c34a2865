// On the command line: hours that are not adjusted under days that are, and state of an instrument that is not traded.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resample } from '../../src/engine/bars/resample.ts';
import { astOf, compare, entry, market, sma, type Json } from '../support/builders.ts';
import { randomBars } from '../support/bars.ts';
import { callCommand } from '../support/command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

const hours = randomBars({ count: 24 * 300, seed: 4 });
function csvOf({ time, open, high, low, close }: typeof hours, factor: number): string {
  const rows = Array.from(time, (ms, row) => [ms, ...[open, high, low, close].map((prices) => prices[row] * factor)]);
  return ['time,open,high,low,close', ...rows].join('\n');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-contradictions-'));
  const strategy = (trigger: Json): Json =>
    astOf({
      entry: entry(trigger),
      risk: { stopLoss: { mode: 'percent', value: 4 }, takeProfits: [{ triggerPercent: 4, closePercent: 100 }] },
    });
  const state = { kind: 'state', field: 'position_exists', instrument: { symbol: 'OTHER' } };
  const config = { timeframe: '1d', signalInstrument: { symbol: 'TEST' }, initialBalance: 10_000 };
  await Promise.all([
    writeFile(at('strategy.json'), JSON.stringify(strategy(compare(market(), 'gt', sma(5))))),
    writeFile(at('state.json'), JSON.stringify(strategy(compare(state, 'eq', 0)))),
    writeFile(at('config.json'), JSON.stringify(config)),
    writeFile(at('days.csv'), csvOf(resample(hours, '1d'), 1)),
    writeFile(at('hours.csv'), csvOf(hours, 1)),
    writeFile(at('raw.csv'), csvOf(hours, 1.3)),
  ]);
});
afterAll(() => rm(folder, { recursive: true }));

const backtest = (strategy: string, ...more: string[]) => {
  const inputs = ['--strategy', at(strategy), '--config', at('config.json'), '--bars', at('days.csv')];
  return callCommand(['backtest', ...inputs, ...more]);
};
const returnIn = (stdout: string): string | undefined => /^return +(\S+)/m.exec(stdout.replaceAll('\t', ' '))?.[1];

it('does not drill into hours that contradict the days, and says why', async () => {
  const [without, good, raw] = await Promise.all([
    backtest('strategy.json'),
    backtest('strategy.json', '--bars', `TEST:1h=${at('hours.csv')}`),
    backtest('strategy.json', '--bars', `TEST:1h=${at('raw.csv')}`),
  ]);
  expect([without.code, good.code, raw.code]).toEqual([0, 0, 0]);
  expect(good.stdout).not.toContain('FINER_BARS_CONTRADICT');
  expect(returnIn(good.stdout)).not.toBe(returnIn(without.stdout));
  expect(returnIn(raw.stdout)).toBe(returnIn(without.stdout));
  const lines = raw.stdout.split('\n').filter((line) => line.startsWith('warning FINER_BARS_CONTRADICT: '));
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toContain('The 1h bars contradict 300 of the 300 1d bars that they lie in. The first opens at ');
    expect(line).toContain('Likely cause: adjusted prices beside raw ones, 1h to 1d ratio 1.30.');
  }
});

it('refuses state of an instrument that is not traded, with its place and what to do', async () => {
  const { code, stderr } = await backtest('state.json');
  expect(code).toBe(1);
  expect(stderr).toContain(
    '/strategyAst/strategy/entry/trigger/left/instrument/symbol: This reads the state of "OTHER", and only "TEST" is ' +
      'traded: nothing else has a position. (Remove `instrument` to read the state of TEST, or run the strategy on ' +
      'OTHER.)',
  );
});
