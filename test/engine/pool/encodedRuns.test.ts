// Encoded results of generated runs: what is read back is, member by member, the text that was hashed.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { runBacktest, simulateTask } from '../../../src/engine/backtest.ts';
import { decodeDetail, decodeTrades, encodeResult } from '../../../src/engine/pool/result.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../../support/builders.ts';
import { scaled } from '../../support/scale.ts';
import { strategyArbitrary } from '../../support/strategies.ts';
import { storedSummary, writtenText } from '../../support/summaries.ts';
import type { BacktestTask } from '../../../src/engine/task.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';

const bars = createMarket([randomSnapshot({ count: 400 })], 'TEST', '1h');

const taskOf = (strategyAst: StrategyAst, initialBalance = 10_000): BacktestTask => ({
  id: 'run',
  strategyAst,
  settings: {},
  config: { timeframe: '1h', signalInstrument: { symbol: 'TEST' }, initialBalance },
  strategyHash: 'c0'.repeat(32),
});

/** The text of the summary, of a run of its own; what is read back of another run must equal it. */
function expectSame(task: BacktestTask): void {
  const outcome = runBacktest(task, bars, null);
  const alone = simulateTask(task, bars, null, true);
  if (!outcome.ok || !alone.ok) throw new Error(JSON.stringify(outcome));
  const hashed = writtenText(alone.written);
  const result = encodeResult(outcome);
  const read = decodeDetail(result.detail);
  expect(JSON.stringify({ ...storedSummary(result), ...read.summary })).toBe(hashed);
  const { warnings, resolvedConfig, reproducibility } = outcome;
  const { summary: _, ...rest } = read;
  expect(JSON.stringify(rest)).toBe(JSON.stringify({ warnings, resolvedConfig, reproducibility }));
  expect(JSON.stringify([...decodeTrades(result.trades)].flat())).toBe(JSON.stringify(alone.trades));
}

it('reads the results of generated strategies back', () => {
  fc.assert(
    fc.property(strategyArbitrary(), fc.constantFrom(1e-300, 1, 10_000, 1e300), (strategy, balance) =>
      expectSame(taskOf(strategy, balance)),
    ),
    { numRuns: scaled(150) },
  );
});

/** A comparison and its left side, by these ids. */
const named = (id: string, valueId: string, length: number) => ({
  ...compare({ ...sma(length), id: valueId } as never, 'gt', sma(length + 30)),
  id,
});

const strategyOf = (trigger: object): StrategyAst =>
  astOf({ entry: entry(trigger), exits: [exit(compare(market(), 'lt', sma(20)))] });

it.each([
  [
    'of numbers, signs and other scripts',
    [named('10', '-2', 5), named('1e5', 'é – "金"', 8), named('0-0', '\0\n', 11)],
  ],
  ['so long that the trace is cut', Array.from({ length: 16 }, (_, at) => named(`c${at}`.repeat(60), `${at}`, at + 2))],
])('reads names back that are %s', (_, items) => {
  expectSame(taskOf(strategyOf({ kind: 'any', items })));
});

it('reads a result without trades and one without points back', () => {
  expectSame(taskOf(strategyOf(compare(market(), 'gt', 1e9))));
  expectSame(taskOf(strategyOf(compare(market(), 'gt', sma(450)))));
});

it('reads back what differs from the result before in its numbers alone, or in its text alone', () => {
  for (const level of [100, 100.5, 101]) expectSame(taskOf(strategyOf(compare(market(), 'gt', level))));
  for (const op of ['gt', 'lt', 'gt'] as const) expectSame(taskOf(strategyOf(compare(market(), op, 100))));
});
