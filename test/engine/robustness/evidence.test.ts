// The evidence behind a backtest: independent trades, profit of positions that nothing closed, and daily returns.
import { describe, expect, it } from 'vitest';
import type { CheckRun, RunNumbers } from '../../../src/engine/robustness/checkRuns.ts';
import { evidenceOf } from '../../../src/engine/robustness/evidence.ts';
import { TRADE, TradeLog } from '../../../src/engine/simulate/tradeLog.ts';
import { probabilisticSharpe } from '../../../src/engine/report/sharpeConfidence.ts';
import { runBacktest } from '../../../src/engine/backtest.ts';
import { baselineOf, robustnessContext } from '../../support/robustness.ts';
import { numbersOf } from '../../../src/engine/robustness/checkRuns.ts';
import { compiled, CROSSING, marketOf } from '../../support/sweeps.ts';

const bars = marketOf(700, 11, (row, noise) => 0.004 * Math.sin(row / 15) + 0.006 * noise);
const context = robustnessContext(compiled(CROSSING).strategyAst, bars);
const baseline = baselineOf(context);

interface Row {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly pnl?: number;
  readonly open?: boolean;
}

/** The baseline with other trades. */
function evidence(...rows: readonly Row[]) {
  const tradeLog = new TradeLog();
  for (const { id, from, to, pnl = 1, open = false } of rows) {
    const at = tradeLog.add(open ? 'end_of_data' : 'signal', 0 as never);
    tradeLog.numbers[at + TRADE.positionId] = id;
    tradeLog.numbers[at + TRADE.entryRow] = from;
    tradeLog.numbers[at + TRADE.entryDecisionRow] = from - 1;
    tradeLog.numbers[at + TRADE.exitRow] = to;
    tradeLog.numbers[at + TRADE.pnl] = pnl;
  }
  const run = { ...baseline, simulation: { ...baseline.simulation, tradeLog } } as CheckRun;
  return evidenceOf(run, { sharpeRatio: 1 } as RunNumbers);
}

describe('the independent trades', () => {
  it('are the most positions of which no two are open at the same time', () => {
    expect(evidence({ id: 1, from: 10, to: 20 }, { id: 2, from: 20, to: 30 }).independentTrades).toBe(2);
    const ladder = Array.from({ length: 9 }, (_, at) => ({ id: at, from: 10 + at, to: 40 + at }));
    expect(evidence(...ladder)).toMatchObject({ closedPositions: 9, independentTrades: 1 });
    const long = { id: 0, from: 1, to: 100 };
    const short = Array.from({ length: 5 }, (_, at) => ({ id: 1 + at, from: 10 * at + 2, to: 10 * at + 8 }));
    expect(evidence(long, ...short)).toMatchObject({ closedPositions: 6, independentTrades: 5 });
  });

  it('count a position closed in parts once, and one that only the end of the data closed not at all', () => {
    const found = evidence(
      { id: 1, from: 10, to: 15 },
      { id: 1, from: 10, to: 20 },
      { id: 2, from: 30, to: 40 },
      { id: 2, from: 30, to: 99, open: true },
    );
    expect(found).toMatchObject({ closedPositions: 1, independentTrades: 1 });
  });
});

describe('the profit of open positions', () => {
  it('is their share of the net profit', () => {
    const closed = { id: 1, from: 10, to: 20, pnl: 30 };
    expect(evidence(closed, { id: 2, from: 30, to: 99, pnl: 10, open: true }).openProfitShare).toBe(0.25);
    expect(evidence({ id: 2, from: 30, to: 99, pnl: 10, open: true }).openProfitShare).toBe(1);
    expect(evidence({ ...closed, pnl: -1 }).openProfitShare).toBeNull();
  });
});

describe('the daily returns', () => {
  it('give the probabilistic Sharpe ratio of the summary', () => {
    const outcome = runBacktest(context.task, bars, null);
    if (!outcome.ok) throw new Error(outcome.error.message);
    const { probabilisticSharpe: expected } = outcome.summary;
    const { sample } = evidenceOf(baseline, numbersOf(baseline));
    expect(probabilisticSharpe(sample!, 0)).toBeCloseTo(expected!, 12);
  });
});
