// The strategy in the report: what is drawn of it against the columns, fills and levels of the run, and its words.
import { beforeAll, describe, expect, it } from 'vitest';
import { simulateTask } from '../../../../src/engine/backtest.ts';
import { createMarket, type BacktestTask, type StrategyAst } from '../../../../src/engine/index.ts';
import { hasBit } from '../../../../src/engine/kernels/bits.ts';
import { drawdowns } from '../../../../src/engine/report/drawdown.ts';
import { dailyOf } from '../../../../src/engine/report/flatSummary.ts';
import { chartData } from '../../../../src/engine/report/page/chartData.ts';
import { inPageWords } from '../../../../src/engine/report/page/pageWords.ts';
import { strategySection } from '../../../../src/engine/report/page/strategySection.ts';
import { tradeLevels } from '../../../../src/engine/report/page/tradeLevels.ts';
import { rollingWindow, yearRows } from '../../../../src/engine/report/page/yearSections.ts';
import type { CompletedRun } from '../../../../src/engine/report/simulatedRun.ts';
import { shippedData } from '../../../support/shippedData.ts';
import * as write from '../../../support/builders.ts';

const rsi = write.indicator('rsi', { length: 2 });
const average = write.sma(50);
const TRAILING = { distancePercent: 4, activateAfterPercent: 1 };

function taskOf(risk: object): BacktestTask {
  const strategyAst = write.astOf({
    entry: write.entry(write.cross(rsi, 'cross_up', write.constant(15)), {
      filters: [write.compare(write.market(), 'gt', average)],
    }),
    exits: [write.exit(write.compare(rsi, 'gt', write.constant(95)))],
    risk,
  });
  return {
    id: 'drawn',
    strategyAst,
    settings: {},
    strategyHash: '',
    config: { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 },
  };
}

async function ran(risk: object): Promise<CompletedRun> {
  const market = createMarket(await (await shippedData()).snapshots('SPX', '1d'), 'SPX', '1d');
  const run = simulateTask(taskOf(risk), market, null, false);
  if (!run.ok) throw new Error(run.error.message);
  return run;
}

let fixed: CompletedRun;
let trailing: CompletedRun;
beforeAll(async () => {
  fixed = await ran({
    stopLoss: { mode: 'percent', value: 2 },
    takeProfits: [{ triggerPercent: 3, closePercent: 50 }],
  });
  trailing = await ran({ trailingStop: TRAILING });
});

describe('the chart of a strategy', () => {
  it('draws values that have no id: over the price or in a pane with the numbers they are compared with', () => {
    const data = chartData(fixed, fixed.trades);
    expect(data.lines.map(({ name, pane }) => [name, pane])).toEqual([
      ['rsi(close, 2)', 1],
      ['sma(close, 50)', 0],
    ]);
    expect(data.thresholds).toEqual([[15, 95]]);
    const { bars, start } = fixed.report.input;
    const point = 900;
    const closes = bars.close.subarray(start + point - 49, start + point + 1);
    expect(data.lines[1].values[point]).toBeCloseTo(closes.reduce((sum, close) => sum + close, 0) / 50, 2);
  });

  it.each([20_000, 700])('marks the points with a bar on which a condition was true, of at most %i points', (most) => {
    const data = chartData(fixed, fixed.trades, most);
    const { evaluated, input, simulation } = fixed.report;
    const every = data.barsPerPoint;
    const decoded = (bits: string): boolean[] =>
      data.time.map((_, at) => ((Number.parseInt(bits[at >> 2], 16) >> (at % 4)) & 1) === 1);
    const expected = (isTrue: (bar: number) => boolean): boolean[] =>
      data.time.map((_, at) =>
        Array.from({ length: every }, (__, bar) => at * every + bar).some(
          (bar) => bar < simulation.equity.length && isTrue(bar),
        ),
      );
    const nodes = evaluated.plan.conditions.filter(({ slot }) => slot !== null);
    expect(data.conditions.length).toBe(3);
    for (const { name, bits } of data.conditions) {
      const { slot } = nodes.find(({ text }) => text === name)!;
      const { isTrue } = evaluated.condition(slot!);
      expect(decoded(bits)).toEqual(expected((bar) => hasBit(isTrue, input.start + bar)));
    }
    expect(decoded(data.held)).toEqual(expected((bar) => hasBit(simulation.inPosition, bar)));
  });

  it('places the stop where stops were hit, and the target where targets were', () => {
    const { input, simulation } = fixed.report;
    const levels = tradeLevels(input, [...simulation.trades.entries()], 0);
    const { open } = input.bars;
    let hits = 0;
    for (const [last, { stops, targets, exitRow }] of levels) {
      const trade = simulation.trades[last];
      expect(stops).toEqual([{ row: trade.entryRow, price: expect.closeTo(trade.entryPrice * 0.98, 8) }]);
      expect(targets).toEqual([expect.closeTo(trade.entryPrice * 1.03, 8)]);
      if (trade.exitReason !== 'stop_loss') continue;
      hits++;
      expect(trade.exitPrice).toBeCloseTo(Math.min(stops[0].price, open[exitRow]), 8);
    }
    expect(hits).toBeGreaterThan(5);
  });

  it('moves a trailing stop as a bar by bar reading of the rules does', () => {
    const { input, simulation } = trailing.report;
    const levels = tradeLevels(input, [...simulation.trades.entries()], 0);
    const { high, open } = input.bars;
    let hits = 0;
    for (const [last, { stops, exitRow }] of levels) {
      const { entryRow, entryPrice, exitReason, exitPrice } = simulation.trades[last];
      const inForce = (row: number): number | undefined => {
        const best = Math.max(entryPrice, ...high.subarray(entryRow, row));
        return best >= entryPrice * 1.01 ? best * 0.96 : undefined;
      };
      for (let row = entryRow; row <= exitRow; row++) {
        const drawn = stops.findLast((corner) => corner.row <= row)?.price;
        const expected = inForce(row);
        if (expected === undefined) expect(drawn).toBeUndefined();
        else expect(drawn).toBeCloseTo(expected, 8);
      }
      if (exitReason !== 'trailing_stop') continue;
      const price = stops.at(-1)?.price ?? Number.NaN;
      if (Math.abs(exitPrice - Math.min(price, open[exitRow])) < 1e-6) hits++;
    }
    expect(hits).toBeGreaterThan(10);
  });
});

describe('the strategy in words', () => {
  it('says its rules, its levels and its limits, and has the JSON that was sent', () => {
    const { strategyAst } = taskOf({}) as { strategyAst: StrategyAst };
    const { markup } = strategySection(fixed, { settings: {}, strategyAst });
    const text = markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    for (const part of [
      'rsi(close, 2) crosses above 15',
      'and close &gt; sma(close, 50) (filter)',
      'Exit Close the position, when rsi(close, 2) &gt; 95',
      'Stop loss 2 % away',
      'Take profit 3 % away, closes 50 % of the initial',
      'At most one position at a time',
    ])
      expect(text).toContain(part);
    const json = /<pre[^>]*>(.*?)<\/pre>/s.exec(markup)![1].replaceAll('&quot;', '"').replaceAll('&gt;', '>');
    expect(JSON.parse(json)).toEqual({ settings: {}, strategyAst });
  });

  it('names statistics and settings of a finding as the page does, with their values', () => {
    const { summary } = fixed;
    const text = inPageWords('Compare maxDrawdown with initialBalance: INSUFFICIENT_BALANCE.', fixed);
    const depth = (100 * summary.maxDrawdown).toFixed(2);
    expect(text).toBe(`Compare deepest drawdown (−${depth}\u00a0%) with capital (10,000): “not enough balance”.`);
  });
});

describe('returns over time', () => {
  it('compounds the years to the return of the run, each with its deepest drawdown', () => {
    const rows = yearRows(fixed);
    const compounded = rows.reduce((product, { returned }) => product * (1 + returned), 1) - 1;
    expect(compounded).toBeCloseTo(fixed.summary.returnPct, 10);
    const benchmark = rows.reduce((product, { benchmark }) => product * (1 + benchmark), 1) - 1;
    expect(benchmark).toBeCloseTo(fixed.summary.buyHoldReturnPct!, 10);
    const deepest = Math.min(...rows.map(({ drawdown }) => drawdown));
    expect(deepest).toBeCloseTo(-Math.max(...drawdowns(fixed.report.simulation.equity, 10_000)), 12);
    expect(rows.reduce((sum, { fills }) => sum + fills, 0)).toBe(fixed.trades.length);
  });

  it('has, over a window of all days, the statistics of the run', () => {
    const { returns } = dailyOf(fixed.report);
    const { summary } = fixed;
    const window = rollingWindow('all', returns.length, returns, { periods: 252, riskFree: 0 });
    expect(window.returned[0]).toBeCloseTo(summary.returnPct, 10);
    expect(window.sharpe[0]).toBeCloseTo(summary.sharpeRatio!, 10);
    expect(window.volatility[0]).toBeCloseTo(summary.annualVolatility!, 10);
  });
});
