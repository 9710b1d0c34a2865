// Denominators that only rounding has made: they count as zero, and the statistic is null (semantics §5).
import { describe, expect, it } from 'vitest';
import { createMarket, runBacktest, strategyHash, type BacktestTask, type Summary } from '../../../src/engine/index.ts';
import { positionsOf } from '../../../src/engine/report/positions.ts';
import { positionStatistics } from '../../../src/engine/report/positionStatistics.ts';
import { dailySeries, returnStatistics } from '../../../src/engine/report/returns.ts';
import { TRADE, TradeLog } from '../../../src/engine/simulate/tradeLog.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { astOf, compare, constant, entry, market } from '../../support/builders.ts';
import { barsOf, flatFee, INSTRUMENT } from '../simulate/input.ts';

/** The same price up to rounding. */
const PRICE = 3.3;
const ROUNDED_UP = 3.3 * (1 + 2 ** -50);

/** Statistics of positions of 100 units at a price of 10, bought and sold, with these results. */
function statisticsOf(pnls: readonly number[]) {
  const log = new TradeLog();
  for (const [index, pnl] of pnls.entries()) {
    const at = log.add('signal', { method: 'direct', resolution: '1h', policy: null, fineTime: null });
    log.numbers.set([index + 1, 1, index, index + 1, index - 1, index, 10, 10, 100, 0, 0, 0, pnl], at);
    log.numbers[at + TRADE.initialRisk] = NaN;
  }
  return positionStatistics(positionsOf(log), pnls.length * 2_000);
}

/** Statistics of daily returns of a balance, and of a benchmark with these closes. */
function returnsOf(equity: readonly number[], closes: readonly number[] = equity) {
  const bars = barsOf(
    closes.map((close, day) => [day === 0 ? 100 : close, close, close, close]),
    '1d',
  );
  return returnStatistics(dailySeries(bars, Float64Array.from(equity), 0, equity.length, 100), 365);
}

/** The summary of buying at the second open and holding to the last close. */
function summaryOf(prices: readonly number[], takerRate: number): Summary {
  const bars = barsOf(
    prices.map((price) => [price, price, price, price]),
    '1d',
  );
  const base = makeSnapshot(
    { ...bars, series: new Map() },
    { symbol: 'TEST', timeframe: '1d', instrument: INSTRUMENT },
  );
  const strategyAst = astOf({ entry: entry(compare(market(), 'gt', constant(1))) });
  const task: BacktestTask = {
    id: 'rounding',
    strategyAst,
    settings: {},
    strategyHash: strategyHash(strategyAst, {}),
    config: {
      timeframe: '1d',
      signalInstrument: { symbol: 'TEST' },
      initialBalance: 10_000,
      execution: {
        feeModel: flatFee(takerRate),
        slippage: { kind: 'none' },
      },
    },
  };
  const outcome = runBacktest(task, createMarket([base], 'TEST', '1d'), { isCancelled: () => false, report: () => {} });
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.summary;
}

describe('statistics of positions', () => {
  it('have no system quality number where every position has the same result up to rounding', () => {
    expect(statisticsOf([-0.3, -0.3, -0.1 - 0.2, -0.3]).systemQualityNumber).toBeNull();
    expect(statisticsOf([1e-14, -1e-14, 2e-14]).systemQualityNumber).toBeNull();
    expect(statisticsOf([-0.3, -0.3, -0.3, -0.300_001]).systemQualityNumber).toBeCloseTo(-1_200_001, 0);
  });

  it('have no profit factor, ratio of wins to losses or Kelly fraction where the only loss is rounding', () => {
    const none = { profitFactor: null, winLossRatio: null, kellyFraction: null };
    expect(statisticsOf([5, 10, -1e-14])).toMatchObject({ ...none, avgLoss: -1e-14 });
    expect(statisticsOf([5, 10, -1e-6])).toMatchObject({ profitFactor: 15e6, winLossRatio: 7.5e6 });
  });
});

describe('statistics of returns', () => {
  const constantGrowth = Array.from({ length: 40 }, (_, day) => 100 * 1.001 ** (day + 1));
  /** 101 on four days, of which two lose `step` each, then 0.1 more each day. */
  const afterLosses = (step: number): number[] =>
    Array.from(
      { length: 30 },
      (_, day) => 101 + Math.max(0, day - 3) * 0.1 - (day === 1 || day === 2 ? day * step : 0),
    );

  it('have no ratio to a deviation where every return is the same up to rounding', () => {
    const growth = returnsOf(constantGrowth);
    expect(growth.annualVolatility).toBeGreaterThan(0);
    expect(growth).toMatchObject({
      sharpeRatio: null,
      skew: null,
      kurtosis: null,
      probabilisticSharpe: null,
      minTrackRecordDays: null,
      beta: null,
      alpha: null,
    });
  });

  it('have no ratio to losses that are rounding', () => {
    const equity = afterLosses(2 ** -46);
    expect(equity[2]).toBeLessThan(equity[1]);
    const found = returnsOf(equity);
    expect(found).toMatchObject({ sortinoRatio: null, omegaRatio: null, tailRatio: null });
    expect(found.sharpeRatio).not.toBeNull();
  });

  it('are ratios to small deviations and losses that are not', () => {
    const equity = constantGrowth.map((value, day) => value + (day % 2) * 1e-8);
    const found = returnsOf(equity);
    expect(found.sharpeRatio).toBeGreaterThan(1e6);
    expect(found.beta).toBeCloseTo(1, 6);
    const falling = returnsOf(afterLosses(1e-7));
    expect(falling.sortinoRatio).toBeGreaterThan(1e5);
    expect(falling.omegaRatio).toBeGreaterThan(1e5);
  });
});

describe('a summary', () => {
  it('has no ratio to a drawdown that is rounding', () => {
    const found = summaryOf([ROUNDED_UP, ROUNDED_UP, PRICE, 3.4, 3.5], 0);
    expect(found.maxDrawdown).toBeGreaterThan(0);
    expect(found.returnPct).toBeGreaterThan(0.03);
    expect(found).toMatchObject({ calmarRatio: null, recoveryFactor: null, sortinoRatio: null, omegaRatio: null });
  });

  it('has no share of fees in a gross profit that is rounding', () => {
    const found = summaryOf([ROUNDED_UP, ROUNDED_UP, PRICE], 0.001);
    expect(found.totalFees).toBeGreaterThan(9);
    expect(found.feesPctOfGross).toBeNull();
    expect(summaryOf([PRICE, PRICE, 3.301], 0.001).feesPctOfGross).toBeGreaterThan(1);
  });
});
