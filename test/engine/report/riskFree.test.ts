// The risk-free rate in the statistics that measure against it, and dividends in the benchmark.
import { expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import type { BacktestConfig } from '../../../src/engine/config.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { astOf, compare, entry, market } from '../../support/builders.ts';
import { diceOf } from '../../support/dice.ts';

const DAY = 86_400_000;
const dice = diceOf(12);
const close = [100];
while (close.length < 60) close.push(close.at(-1)! * (1 + dice.number(-0.02, 0.022)));
const open = [100, ...close.slice(0, -1)];
const time = Float64Array.from(close, (_, row) => Date.UTC(2024, 0, 1) + row * DAY);
const bars = createMarket(
  [
    makeSnapshot(
      {
        time,
        open: Float64Array.from(open),
        high: Float64Array.from(close, (price, row) => Math.max(price, open[row])),
        low: Float64Array.from(close, (price, row) => Math.min(price, open[row])),
        close: Float64Array.from(close),
        volume: new Float64Array(60),
        series: new Map(),
      },
      {
        symbol: 'TEST',
        timeframe: '1d',
        instrument: {
          symbol: 'TEST',
          base: null,
          quote: null,
          tickSize: null,
          qtyStep: 0,
          minNotional: 0,
          tradesAllDay: true,
          synthetic: false,
        },
      },
    ),
  ],
  'TEST',
  '1d',
);

function run(more: Partial<BacktestConfig>) {
  const strategyAst = astOf({
    entry: entry(compare(market(), 'gt', 0), {
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 60 } },
    }),
  });
  const config: BacktestConfig = {
    timeframe: '1d',
    signalInstrument: { symbol: 'TEST' },
    initialBalance: 10_000,
    ...more,
  };
  const outcome = runBacktest({ id: '', strategyAst, settings: {}, strategyHash: '', config }, bars, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome;
}

it('enters Sharpe, Sortino and alpha as an even part of every day', () => {
  const { summary, report } = run({ riskFreeRatePerYear: 0.05 });
  const { equity } = report.simulation;
  const returns = Array.from(equity, (mark, at) => mark / (at === 0 ? 10_000 : equity[at - 1]) - 1);
  const benchmark = close.map((price, at) => price / (at === 0 ? open[0] : close[at - 1]) - 1);
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const daily = 0.05 / 365;
  const excess = returns.map((value) => value - daily);
  const deviation = Math.sqrt(excess.reduce((sum, value) => sum + (value - mean(excess)) ** 2, 0) / 59);
  const downside = Math.sqrt(mean(excess.map((value) => Math.min(value, 0) ** 2)));
  expect(summary.sharpeRatio).toBeCloseTo((mean(excess) / deviation) * Math.sqrt(365), 10);
  expect(summary.sortinoRatio).toBeCloseTo((mean(excess) / downside) * Math.sqrt(365), 10);
  const alpha = (mean(excess) - summary.beta! * (mean(benchmark) - daily)) * 365;
  expect(summary.alpha).toBeCloseTo(alpha, 10);
  expect(summary.conventions).toMatchObject({ riskFreeRate: 0.05 });
});

it('changes nothing at 0', () => {
  const [plain, zero] = [run({}), run({ riskFreeRatePerYear: 0, borrowRatePerYear: 0, dividends: [] })];
  expect(zero.reproducibility).toEqual(plain.reproducibility);
  expect(zero.summary).toEqual(plain.summary);
  expect(plain.summary).not.toHaveProperty('carry');
});

it('gives the benchmark its dividends, in cash', () => {
  const dividends = [
    // Before the first evaluated open, which the benchmark is not held through.
    { time: '2024-01-01', amount: 9 },
    { time: '2024-01-11', amount: 1.5 },
    { time: '2024-02-02', amount: 0.5 },
  ];
  const { summary, warnings } = run({ dividends });
  expect(summary.buyHoldReturnPct).toBeCloseTo((close[59] + 2) / 100 - 1, 12);
  const [{ quantity }] = run({ dividends }).trades;
  expect(summary.carry).toEqual({ borrowPaid: 0, dividendsReceived: expect.closeTo(2 * quantity, 9) as number });
  expect(warnings.map(({ code }) => code)).not.toContain('DIVIDENDS_UNUSED');
});

it('warns of dividends of a symbol that the run does not trade', () => {
  const { warnings } = run({ dividends: [{ symbol: 'TSET', time: '2024-01-11', amount: 1 }] });
  expect(warnings).toContainEqual(expect.objectContaining({ code: 'DIVIDENDS_UNUSED', path: '/config/dividends' }));
});
