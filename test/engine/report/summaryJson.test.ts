// The summary as text, which is written without its objects: what JSON.stringify makes of them, member by member.
import { expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { FLAT_KEYS } from '../../../src/engine/definitions/statistics/statistics.ts';
import { flatNumbersOf } from '../../../src/engine/report/flatSummary.ts';
import { simulateTask } from '../../../src/engine/backtest.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../../support/builders.ts';
import { storedSummary, writtenText } from '../../support/summaries.ts';

const bars = createMarket([randomSnapshot({ count: 600 })], 'TEST', '1h');

function writtenOf(trigger: object) {
  const strategyAst = astOf({ entry: entry(trigger), exits: [exit(compare(market(), 'lt', sma(20)))] });
  const config = { timeframe: '1h', signalInstrument: { symbol: 'TEST' }, initialBalance: 10_000 } as const;
  const run = simulateTask({ id: 'run', strategyAst, settings: {}, config, strategyHash: '' }, bars, null, false);
  if (!run.ok) throw new Error(JSON.stringify(run));
  const text = writtenText(run.written);
  return {
    text,
    summary: run.summary,
    flat: storedSummary({ summary: new Uint8Array(Float64Array.from(run.written.flatNumbers).buffer) }),
  };
}

/** A comparison and its left side, by these ids. */
const named = (id: string, valueId: string, length: number) => ({
  ...compare({ ...sma(length), id: valueId } as never, 'gt', sma(length + 30)),
  id,
});

it('is what JSON.stringify writes, whatever the nodes are called', () => {
  const items = [named('10', '2', 5), named('__proto__', 'é – "金"', 8), named('constructor', 'a\nb', 11)];
  const { text, summary, flat } = writtenOf({ kind: 'all', items });
  expect(text).toBe(JSON.stringify(summary));
  const [sample] = summary.strategyTrace!.samples;
  expect(Object.keys(sample.values)).toEqual(expect.arrayContaining(['2', '10', 'é – "金"', '__proto__']));
  expect(summary.strategyTrace!.nearMisses).not.toHaveLength(0);
  expect(flat).toEqual(
    Object.fromEntries(Object.entries(summary).filter(([, value]) => typeof value !== 'object' || value === null)),
  );
});

it('has one value of two nodes with one name, as an object has', () => {
  // The right side of the second has no id: its name is its text.
  const items = [named('a', 'sma(close, 40)', 5), named('b', 'c', 10)];
  const { text, summary } = writtenOf({ kind: 'all', items });
  expect(text).toBe(JSON.stringify(summary));
  expect(Object.keys(summary.strategyTrace!.samples[0].values)).toContain('sma(close, 40)');
});

it('leaves samples out before near misses until the trace fits', () => {
  const long = 'x'.repeat(150);
  const items = Array.from({ length: 16 }, (_, at) => named(`c${at}${long}`, `v${at}${long}`, at + 2));
  const { text, summary } = writtenOf({ kind: 'any', items });
  expect(text).toBe(JSON.stringify(summary));
  const { strategyTrace, ruleStatsSummary } = summary;
  expect(strategyTrace!.truncated).toBe(true);
  expect(strategyTrace!.samples.length).toBeLessThan(8);
  expect(strategyTrace!.nearMisses.length).toBeGreaterThan(0);
  const length = (part: unknown): number => Buffer.byteLength(JSON.stringify(part));
  expect(length(strategyTrace) + length(ruleStatsSummary)).toBeLessThanOrEqual(32 * 1024);
});

it('is what JSON.stringify writes of exits, filters, fee tiers and undecided bars', () => {
  const strategyAst = astOf({
    entry: {
      ...entry(compare(market(), 'gt', sma(10))),
      filters: [compare(market(), 'lt', sma(50)), compare(sma(5), 'gt', sma(9))],
    },
    exits: [exit(compare(market(), 'lt', sma(20)))],
    risk: {
      stopLoss: { mode: 'percent', value: 1 },
      takeProfits: [{ triggerPercent: 1, closePercent: 50 }],
      timeStop: { maxBars: 5 },
    },
  });
  const tiers = [
    { takerRate: 0.001, makerRate: 0.0002, minCumulativeNotional: 0 },
    { minCumulativeNotional: 50_000, makerRate: 0, takerRate: 1 / 3000 },
  ];
  const config = {
    timeframe: '1h',
    signalInstrument: { symbol: 'TEST' },
    initialBalance: 10_000,
    execution: { feeModel: { kind: 'tiered_maker_taker', tiers }, slippage: { kind: 'none' } },
  } as const;
  const run = simulateTask({ id: 'run', strategyAst, settings: {}, config, strategyHash: '' }, bars, null, false);
  if (!run.ok) throw new Error(JSON.stringify(run));
  const { byExitReason, strategyTrace, fees, ambiguity } = run.summary;
  expect(writtenText(run.written)).toBe(JSON.stringify(run.summary));
  expect(Object.keys(byExitReason).length).toBeGreaterThan(2);
  expect(strategyTrace!.funnel.afterFilter).toHaveLength(2);
  expect(fees.tiers).toHaveLength(2);
  expect(ambiguity.exitsByMethod.fallback).toBeGreaterThan(0);
});

it('is stored as numbers that JSON would give back: 0 for -0, and NaN for null and what JSON writes as null', () => {
  const values = [-0, Infinity, -Infinity, NaN, null, 1 / 3];
  const keys = FLAT_KEYS.slice(0, values.length);
  const money = Object.fromEntries(keys.map((key, at) => [key, values[at]]));
  const parts = { money, drawdown: {}, returns: {}, use: {}, positions: {}, costs: {} };
  const numbers = flatNumbersOf(parts as never);
  const read = JSON.parse(JSON.stringify(values)) as (number | null)[];
  expect([...numbers.subarray(0, read.length)]).toEqual(read.map((value) => value ?? NaN));
});
