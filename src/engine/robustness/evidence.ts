// Evidence: how much of a record there is behind the baseline of a robustness check: its trades, and its daily returns.
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { populationShape } from '../report/moments.ts';
import { dailyOf } from '../report/flatSummary.ts';
import type { SharpeSample } from '../report/sharpeConfidence.ts';
import type { CheckRun, RunNumbers } from './checkRuns.ts';
import { decisionRow, isRotation, unitsOf, type TradeUnit } from './tradeUnits.ts';

export interface Evidence {
  /** What positions are in a rotation: the periods from one rebalance to the next. Absent in other runs. */
  readonly unit?: 'period';
  /** Positions that a rule closed; those that the end of the data closed are not counted. */
  readonly closedPositions: number;
  /** The most of them of which no two were open at the same time. */
  readonly independentTrades: number;
  /** The share of the net profit made by positions that only the end of the data closed; null without a profit. */
  readonly openProfitShare: number | null;
  /** Bars from the start to the first signal that was traded; null without trades. */
  readonly firstSignalBars: number | null;
  /** The daily returns of equity marked at every close; null when they do not vary. */
  readonly sample: SharpeSample | null;
}

export function evidenceOf(run: CheckRun, { sharpeRatio }: RunNumbers): Evidence {
  const positions = unitsOf(run);
  const closed = positions.filter(({ isOpen }) => !isOpen);
  const profit = positions.reduce((sum, { pnl }) => sum + pnl, 0);
  const openProfit = positions.reduce((sum, { pnl, isOpen }) => sum + (isOpen ? pnl : 0), 0);
  const { returns } = dailyOf(run);
  const shape = populationShape(returns);
  const sharpe = sharpeRatio === null ? null : sharpeRatio / Math.sqrt(periodsPerYear(run.input.instrument));
  return {
    ...(isRotation(run) && { unit: 'period' }),
    closedPositions: closed.length,
    independentTrades: independentOf(closed),
    openProfitShare: profit > 0 ? openProfit / profit : null,
    firstSignalBars: firstSignalBars(run),
    sample: shape === null || sharpe === null ? null : { ...shape, sharpe, days: returns.length },
  };
}

/** Bars from the start of a run to the first signal that was traded; null without trades. */
export function firstSignalBars(run: CheckRun): number | null {
  let first = Infinity;
  for (let trade = 0; trade < run.simulation.tradeLog.length; trade++) first = Math.min(first, decisionRow(run, trade));
  return first === Infinity ? null : Math.max(0, first - run.input.start);
}

/** The size of the largest set of units that do not overlap: always take the one that ends first. */
function independentOf(units: readonly TradeUnit[]): number {
  let count = 0;
  let free = -Infinity;
  for (const { entryRow, exitRow } of units.toSorted((a, b) => a.exitRow - b.exitRow)) {
    if (entryRow < free) continue;
    count++;
    free = exitRow;
  }
  return count;
}
