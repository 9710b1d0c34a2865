// The summary's keys against formulas written again, each in a line or two, from the trade rows and the equity of the
// run itself.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Summary, TradeRow } from '../../../src/engine/index.ts';
import { normalCdf, normalQuantile } from '../../../src/engine/report/normal.ts';
import { drawdownStatistics } from '../../../src/engine/report/drawdown.ts';
import { runCross } from '../../support/crossRun.ts';

interface EquityRow {
  readonly time: number;
  readonly equity: number;
  readonly inPosition: boolean;
}
let summary: Summary;
let trades: readonly TradeRow[];
let equity: readonly EquityRow[];
beforeAll(async () => {
  const run = await runCross();
  summary = run.outcome.summary;
  trades = run.outcome.trades;
  equity = JSON.parse(new TextDecoder().decode(run.artifact({ name: 'equity', format: 'json' }))) as EquityRow[];
});
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const average = (values: readonly number[]): number => total(values) / values.length;
const deviation = (values: readonly number[]): number =>
  Math.sqrt(total(values.map((value) => (value - average(values)) ** 2)) / (values.length - 1));
const near = (ours: number | null, expected: number): void =>
  expect(Math.abs(ours! - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));

describe('summaryJson', () => {
  it('has a final equity of the initial balance plus the P&L of every trade', () => {
    near(summary.finalEquity, 10_000 + total(trades.map((trade) => trade.pnl)));
    near(summary.netProfit, summary.finalEquity - 10_000);
    near(summary.returnPct, summary.netProfit / 10_000);
    near(summary.excessReturnPct, summary.returnPct - summary.buyHoldReturnPct!);
    near(summary.totalFees, total(trades.map((trade) => trade.entryFee + trade.exitFee)));
    near(summary.makerFees + summary.takerFees, summary.totalFees);
    const notional = total(trades.map((trade) => trade.quantity * (trade.entryPrice + trade.exitPrice)));
    near(summary.totalNotional, notional);
    near(summary.turnover, notional / average(equity.map((row) => row.equity)));
    near(summary.feesPctOfGross, summary.totalFees / Math.abs(summary.netProfit + summary.totalFees));
  });

  it('has counts, rates, streaks and the numbers named after people', () => {
    const pnls = trades.map((trade) => trade.pnl);
    const wins = pnls.filter((pnl) => pnl > 0);
    const losses = pnls.filter((pnl) => pnl < 0);
    expect(summary.totalPositions).toBe(trades.length);
    expect(summary.longPositions + summary.shortPositions).toBe(trades.length);
    near(summary.winRate, wins.length / pnls.length);
    near(summary.profitFactor, total(wins) / -total(losses));
    near(summary.expectancy, average(pnls));
    near(summary.avgWin, average(wins));
    near(summary.avgLoss, average(losses));
    near(summary.winLossRatio, average(wins) / -average(losses));
    near(summary.kellyFraction, summary.winRate! - (1 - summary.winRate!) / summary.winLossRatio!);
    near(summary.systemQualityNumber, (Math.sqrt(pnls.length) * average(pnls)) / deviation(pnls));
    // A stop of 3 % below the entry fill: R is 3 % of the entry's notional.
    near(summary.expectancyR, average(trades.map((trade) => trade.pnl / (trade.quantity * trade.entryPrice * 0.03))));
    const streaks = (sign: string): number[] =>
      pnls
        .map((pnl) => (pnl > 0 ? 'w' : 'l'))
        .join('')
        .split(sign === 'w' ? 'l' : 'w')
        .map((streak) => streak.length);
    expect(summary.maxConsecutiveWins).toBe(Math.max(...streaks('w')));
    expect(summary.maxConsecutiveLosses).toBe(Math.max(...streaks('l')));
    near(summary.avgBarsHeld, average(trades.map((trade) => trade.exitBar - trade.entryBar)));
    near(summary.bestTradePct, Math.max(...trades.map((trade) => trade.returnPct)));
    near(summary.worstTradePct, Math.min(...trades.map((trade) => trade.returnPct)));
    near(summary.avgMaePct, average(trades.map((trade) => trade.maePct)));
    near(summary.avgMfePct, average(trades.map((trade) => trade.mfePct)));
  });

  it('has Sharpe, Sortino and drawdown as the equity column gives them on daily bars', () => {
    const marks = equity.map((row) => row.equity);
    const returns = marks.map((mark, index) => mark / (index === 0 ? 10_000 : marks[index - 1]) - 1);
    near(summary.sharpeRatio, (average(returns) / deviation(returns)) * Math.sqrt(252));
    const downside = Math.sqrt(average(returns.map((value) => Math.min(value, 0) ** 2)));
    near(summary.sortinoRatio, (average(returns) / downside) * Math.sqrt(252));
    near(summary.annualVolatility, deviation(returns) * Math.sqrt(252));
    const peaks = marks.map((_, index) => Math.max(10_000, ...marks.slice(0, index + 1)));
    near(summary.maxDrawdown, Math.max(...marks.map((mark, index) => 1 - mark / peaks[index])));
    near(summary.timeUnderwaterPct, marks.filter((mark, index) => mark < peaks[index]).length / marks.length);
    near(summary.recoveryFactor, summary.netProfit / Math.max(...marks.map((mark, index) => peaks[index] - mark)));
    near(summary.calmarRatio, summary.cagr! / summary.maxDrawdown);
    near(summary.exposurePct, equity.filter((row) => row.inPosition).length / equity.length);
    const years = (equity.at(-1)!.time + 86_400_000 - equity[0].time) / (365.25 * 86_400_000);
    near(summary.cagr, (summary.finalEquity / 10_000) ** (1 / years) - 1);
  });

  it('has months that multiply to the whole return, and sides and reasons that sum to the net profit', () => {
    near(summary.byMonth.reduce((product, month) => product * (1 + month.returnPct), 1) - 1, summary.returnPct);
    near(summary.bySide.long.pnl + summary.bySide.short.pnl, summary.netProfit);
    near(total(Object.values(summary.byExitReason).map((reason) => reason.pnl)), summary.netProfit);
    expect(summary.equityPreview.length).toBeLessThanOrEqual(500);
    expect(summary.equityPreview.at(-1)).toEqual([equity.at(-1)!.time, summary.finalEquity]);
    const traced = JSON.stringify(summary.strategyTrace) + JSON.stringify(summary.ruleStatsSummary);
    expect(Buffer.byteLength(traced)).toBeLessThanOrEqual(32 * 1024);
    expect(JSON.stringify(summary)).not.toMatch(/NaN|Infinity/);
  });

  it('has rule statistics in which the cross is true where the fast mean has just passed the slow one', () => {
    const [trigger] = summary.ruleStatsSummary!.rules;
    expect(trigger.trueCount).toBe(summary.strategyTrace!.funnel.triggerTrue);
    expect(trigger.trueCount + trigger.falseCount + trigger.unknownCount).toBe(trigger.evaluated);
    expect(trigger.transitions).toBe(2 * trigger.trueCount);
    expect(trigger.maxStreakTrue).toBe(1);
  });
});

describe('the drawdown of a few marks', () => {
  it('has its peak, trough and recovery, and the longest time below a peak', () => {
    const statistics = drawdownStatistics(Float64Array.of(110, 99, 105, 120, 114, 60, 90), 100);
    expect(statistics).toMatchObject({
      maxDrawdown: 0.5,
      maxDrawdownMoney: 60,
      peakIndex: 3,
      troughIndex: 5,
      recoveredIndex: null,
    });
    near(statistics.avgDrawdown, (0.1 + 0.5) / 2);
    expect(statistics.maxDrawdownDurationBars).toBe(3);
    expect(statistics.underwaterBars).toBe(5);
  });

  it('counts from the initial balance on, to the mark that recovers it', () => {
    const statistics = drawdownStatistics(Float64Array.of(75, 110, 108), 100);
    expect(statistics).toMatchObject({ maxDrawdown: 0.25, peakIndex: -1, troughIndex: 0, recoveredIndex: 1 });
  });
});

describe('the normal distribution', () => {
  // scipy.stats.norm.cdf
  it.each([
    [0, 0.5],
    [1, 0.8413447460685429],
    [-1.96, 0.024997895148220435],
    [3.5, 0.9997673709209645],
    [-6, 9.865876450376981e-10],
  ])('gives Φ(%d) = %d, and back', (x, p) => {
    expect(Math.abs(normalCdf(x) / p - 1)).toBeLessThan(1e-12);
    expect(Math.abs(normalQuantile(p) - x)).toBeLessThan(1e-7);
  });
});
