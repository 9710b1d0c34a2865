// The memory that the runs of a thread share: an outcome is the same however many runs come after it.
import { expect, it } from 'vitest';
import { createMarket } from '../../src/engine/bars/market.ts';
import { runBacktest, simulateTask } from '../../src/engine/backtest.ts';
import { decodeDetail, encodeResult } from '../../src/engine/pool/result.ts';
import { randomSnapshot } from '../support/bars.ts';
import { astOf, compare, entry, exit, market } from '../support/builders.ts';
import { storedSummary, writtenText } from '../support/summaries.ts';
import { flatFee } from './simulate/input.ts';

const bars = createMarket([randomSnapshot({ count: 600 })], 'TEST', '1h');

/** Buys above the median price, sells below it. */
function taskOf(quantity: number, policy: 'worst' | 'bar_direction') {
  const median = [...bars.base.close].sort((a, b) => a - b)[300];
  return {
    id: `quantity ${quantity}`,
    strategyAst: astOf({
      entry: entry(compare(market(), 'gt', median), {
        action: { side: 'long', sizing: { mode: 'fixed', value: quantity } },
      }),
      exits: [exit(compare(market(), 'lt', median))],
      risk: { stopLoss: { mode: 'percent', value: 0.1 }, takeProfits: [{ triggerPercent: 0.1, closePercent: 100 }] },
    }),
    settings: {},
    config: {
      timeframe: '1h',
      signalInstrument: { symbol: 'TEST' },
      initialBalance: 10_000,
      ambiguityFallback: policy,
      execution: { feeModel: flatFee(0.001), slippage: { kind: 'none' } },
    },
    strategyHash: '',
  } as const;
}

it.each(['worst', 'bar_direction'] as const)('shows what a run of its own memory does under %s', (policy) => {
  const outcomes = [1, 2, 3].map((quantity) => runBacktest(taskOf(quantity, policy), bars, null));
  outcomes.forEach((outcome, index) => {
    const alone = simulateTask(taskOf(index + 1, policy), bars, null, true);
    if (!outcome.ok || !alone.ok) throw new Error('A run failed.');
    expect(alone.report.simulation.ambiguity.fallbackBars).toBeGreaterThan(0);
    expect(alone.trades.length).toBeGreaterThan(10);
    expect(outcome.trades).toEqual(alone.trades);
    expect(outcome.summary).toEqual(alone.summary);
    expect(outcome.reproducibility.resultHash).toBe(alone.resultHash);
    const encoded = encodeResult(outcome);
    const stored = { ...storedSummary(encoded), ...decodeDetail(encoded.detail).summary };
    expect(stored).toEqual(JSON.parse(JSON.stringify(alone.summary)));
    // As the hash reads it: no member may change its place.
    const hashed = writtenText(alone.written);
    expect(JSON.stringify(stored)).toBe(hashed);
    expect(JSON.stringify(alone.summary)).toBe(hashed);
  });
});

it('writes the runs of a batch on the same memory, each encoded before the next one begins', () => {
  const quantities = [1, 2, 3, 1];
  const encoded = quantities.map((quantity) => {
    const outcome = runBacktest(taskOf(quantity, 'bar_direction'), bars, null);
    if (!outcome.ok) throw new Error('A run failed.');
    const { buffer } = outcome.written.flatNumbers;
    return { buffer, result: encodeResult(outcome) };
  });
  // Earlier tests may have left too little room for the first.
  expect(new Set(encoded.slice(1).map(({ buffer }) => buffer)).size).toBe(1);
  encoded.forEach(({ result }, index) => {
    const alone = simulateTask(taskOf(quantities[index], 'bar_direction'), bars, null, true);
    if (!alone.ok) throw new Error('A run failed.');
    const stored = { ...storedSummary(result), ...decodeDetail(result.detail).summary };
    expect(JSON.stringify(stored)).toBe(writtenText(alone.written));
  });
});

const above = (level: number) => compare(market(), 'gt', level);

it.each<[string, (level: number) => object]>([
  ['computed of others', (level) => ({ kind: 'any', items: [above(level), above(level + 2)] })],
  [
    'as another has them',
    (level) => ({ kind: 'rolling_window', expr: above(level), mode: 'streak', value: 1, window: 5 }),
  ],
])('keeps the bits of a condition, %s, through the runs that come after it', (_, trigger) => {
  const encodedRun = (level: number) => {
    const strategyAst = astOf({ entry: entry(trigger(level)), exits: [exit(compare(market(), 'lt', 99))] });
    const outcome = runBacktest({ ...taskOf(1, 'bar_direction'), strategyAst }, bars, null);
    if (!outcome.ok) throw new Error(JSON.stringify(outcome));
    encodeResult(outcome);
    return outcome.reproducibility.resultHash;
  };
  // The first run may begin where other tests have left the buffer, and continue in another.
  const [, first] = [97, 99, 101, 103].map(encodedRun);
  expect(encodedRun(99)).toBe(first);
});
