// Evidence: how much of a record there is behind the baseline of a robustness check: its trades, and its daily returns.
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { exitReasonOf } from '../definitions/exitReasons/exitReasons.ts';
import { populationShape } from '../report/moments.ts';
import { dailyOf } from '../report/flatSummary.ts';
import type { SharpeSample } from '../report/sharpeConfidence.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';
import type { CheckRun, RunNumbers } from './checkRuns.ts';

export interface Evidence {
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

export function evidenceOf({ prepared, simulation }: CheckRun, { sharpeRatio }: RunNumbers): Evidence {
  const positions = positionsIn(simulation.tradeLog);
  const closed = positions.filter(({ isOpen }) => !isOpen);
  const profit = positions.reduce((sum, { pnl }) => sum + pnl, 0);
  const openProfit = positions.reduce((sum, { pnl, isOpen }) => sum + (isOpen ? pnl : 0), 0);
  const { returns } = dailyOf({ ...prepared, simulation });
  const shape = populationShape(returns);
  const sharpe = sharpeRatio === null ? null : sharpeRatio / Math.sqrt(periodsPerYear(prepared.input.instrument));
  return {
    closedPositions: closed.length,
    independentTrades: independentOf(closed),
    openProfitShare: profit > 0 ? openProfit / profit : null,
    firstSignalBars: firstSignalBars({ prepared, simulation }),
    sample: shape === null || sharpe === null ? null : { ...shape, sharpe, days: returns.length },
  };
}

/** Bars from the start of a run to the first signal that was traded; null without trades. */
export function firstSignalBars({ prepared, simulation }: CheckRun): number | null {
  const { numbers, length } = simulation.tradeLog;
  let first = Infinity;
  for (let trade = 0; trade < length; trade++)
    first = Math.min(first, numbers[trade * TRADE_WIDTH + TRADE.entryDecisionRow]);
  return first === Infinity ? null : Math.max(0, first - prepared.input.start);
}

interface Span {
  readonly entryRow: number;
  exitRow: number;
  pnl: number;
  /** Whether a part of it was open when the data ended. */
  isOpen: boolean;
}

function positionsIn({ numbers, reasons, length }: TradeLog): Span[] {
  const spans = new Map<number, Span>();
  for (let trade = 0; trade < length; trade++) {
    const at = trade * TRADE_WIDTH;
    const id = numbers[at + TRADE.positionId];
    const span = spans.get(id) ?? { entryRow: numbers[at + TRADE.entryRow], exitRow: 0, pnl: 0, isOpen: false };
    span.exitRow = Math.max(span.exitRow, numbers[at + TRADE.exitRow]);
    span.pnl += numbers[at + TRADE.pnl];
    span.isOpen ||= exitReasonOf(reasons[trade]).endsWithData;
    spans.set(id, span);
  }
  return [...spans.values()];
}

/** The size of the largest set of spans that do not overlap: always take the one that ends first. */
function independentOf(spans: readonly Span[]): number {
  let count = 0;
  let free = -Infinity;
  for (const { entryRow, exitRow } of spans.toSorted((a, b) => a.exitRow - b.exitRow)) {
    if (entryRow < free) continue;
    count++;
    free = exitRow;
  }
  return count;
}
