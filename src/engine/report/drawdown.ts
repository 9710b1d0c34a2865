// Drawdown of bar-close equity, the initial balance included as the first peak (semantics §5.1).
import { fallsOf, type Falls } from '../kernels/falls.ts';
import type { ReportedSimulation } from './reportInput.ts';

export interface DrawdownStatistics {
  /**
   * Largest fall from a peak, as a fraction of the peak: 0 … 1, or more if leverage loses more than the account held.
   */
  readonly maxDrawdown: number;
  /** Largest fall from a peak in money. */
  readonly maxDrawdownMoney: number;
  /** Mean depth of all drawdowns, each from its peak to its recovery; null if there are none. */
  readonly avgDrawdown: number | null;
  /** Longest time below a peak, in bars, recovered or not. */
  readonly maxDrawdownDurationBars: number;
  /**
   * Bars of the deepest drawdown, relative to the first equity mark: the peak (-1: the initial balance), the trough,
   * the recovery.
   */
  readonly peakIndex: number | null;
  readonly troughIndex: number | null;
  readonly recoveredIndex: number | null;
  readonly underwaterBars: number;
  readonly equityPeak: number;
  /** null without a mark. */
  readonly meanEquity: number | null;
}

/** The drawdown statistics of a column of equity, one mark per bar. */
export const drawdownStatistics = (equity: Float64Array, initialBalance: number): DrawdownStatistics =>
  statisticsOf(fallsOf(equity, initialBalance), equity.length);

/** The drawdown statistics of a run, whether its equity is a column or was streamed. */
export function drawdownOf({ simulation, input }: ReportedSimulation): DrawdownStatistics {
  const { equity, streamed } = simulation;
  if (streamed === null) return drawdownStatistics(equity, input.config.initialBalance);
  return statisticsOf(streamed.falls, input.end - input.start);
}

function statisticsOf(falls: Falls, marks: number): DrawdownStatistics {
  const isUnderwater = falls.depth > 0;
  const episodes = falls.recoveries + (isUnderwater ? 1 : 0);
  const depthSum = isUnderwater ? falls.depthSum + falls.depth : falls.depthSum;
  const hasDrawdown = falls.deepest > 0;
  return {
    maxDrawdown: falls.deepest,
    maxDrawdownMoney: falls.money,
    avgDrawdown: episodes === 0 ? null : depthSum / episodes,
    maxDrawdownDurationBars: falls.longestBelow,
    peakIndex: hasDrawdown ? falls.peakIndex : null,
    troughIndex: hasDrawdown ? falls.troughIndex : null,
    recoveredIndex: hasDrawdown && falls.recoveredIndex >= 0 ? falls.recoveredIndex : null,
    underwaterBars: falls.belowCount,
    equityPeak: falls.peak,
    meanEquity: marks === 0 ? null : falls.total / marks,
  };
}

/** For each mark, the fall from the highest equity so far, as a fraction of it. */
export function drawdowns(equity: Float64Array, initialBalance: number): Float64Array {
  let peak = initialBalance;
  return equity.map((value) => {
    if (value > peak) peak = value;
    return 1 - value / peak;
  });
}
