// The block of a portfolio: how much of the account was at work, in how many positions, and its turnover.
import { DAY_MS } from '../../bars/bars.ts';
import { closeOf } from '../../bars/timeframes.ts';
import { daysOf } from '../../bars/days.ts';
import { countBits } from '../../kernels/bits.ts';
import type { PortfolioRun, ReportInput } from '../reportInput.ts';

/** Percents are fractions of equity, at the marks; null: undefined. */
export interface PortfolioBlock {
  readonly instruments: number;
  /** Those with at least one closing fill. */
  readonly instrumentsTraded: number;
  /** Σ |value| / equity. */
  readonly averageGrossExposurePct: number | null;
  readonly maxGrossExposurePct: number | null;
  /** Σ value / equity, shorts negative; the largest is the one farthest from 0. */
  readonly averageNetExposurePct: number | null;
  readonly maxNetExposurePct: number | null;
  readonly averagePositions: number | null;
  readonly maxPositions: number;
  readonly turnoverPerYear: number | null;
  /** Mean over the marks of Σ (value / equity)²: 1 with everything in one instrument, 1 / n with equal parts in n. */
  readonly concentration: number | null;
  /** UTC days with bars on which no position was open at any time. */
  readonly daysInCash: number;
}

const YEAR_MS = 365.25 * DAY_MS;

/** @param turnover notional of all fills / mean equity */
export function portfolioBlock(
  { input, simulation }: Pick<ReportInput, 'input' | 'simulation'>,
  portfolio: PortfolioRun,
  turnover: number | null,
): PortfolioBlock {
  const { start, end, bars } = input;
  const instants = Math.max(0, end - start);
  const { grossExposure, netExposure, openPositions, byInstrument, tradeInstruments } = portfolio.simulation;
  const gross = exposureOf(grossExposure, simulation.equity);
  const net = exposureOf(netExposure, simulation.equity);
  let positions = 0;
  let maxPositions = 0;
  for (let instant = 0; instant < instants; instant++) {
    positions += openPositions[instant];
    maxPositions = Math.max(maxPositions, openPositions[instant]);
  }
  const squares = portfolio.bySymbol.reduce((sum, index) => sum + byInstrument[index].squaredWeightSum, 0);
  const years = instants === 0 ? 0 : (closeOf(bars.timeframe, bars.time[end - 1]) - bars.time[start]) / YEAR_MS;
  return {
    instruments: portfolio.instruments.length,
    instrumentsTraded: new Set(tradeInstruments.subarray(0, simulation.tradeLog.length)).size,
    averageGrossExposurePct: gross.average,
    maxGrossExposurePct: gross.largest,
    averageNetExposurePct: net.average,
    maxNetExposurePct: net.largest,
    averagePositions: instants === 0 ? null : positions / instants,
    maxPositions,
    turnoverPerYear: turnover === null || years === 0 ? null : turnover / years,
    concentration: instants === 0 ? null : squares / instants,
    daysInCash: daysInCash(input, simulation.inPosition),
  };
}

/** The mean share of equity, and the share farthest from 0; marks without equity count as 0. */
function exposureOf(
  values: Float64Array,
  equity: Float64Array,
): { readonly average: number | null; readonly largest: number | null } {
  if (equity.length === 0) return { average: null, largest: null };
  let total = 0;
  let largest = 0;
  for (let instant = 0; instant < equity.length; instant++) {
    if (!(equity[instant] > 0)) continue;
    const share = values[instant] / equity[instant];
    total += share;
    if (Math.abs(share) > Math.abs(largest)) largest = share;
  }
  return { average: total / equity.length, largest };
}

function daysInCash({ bars, start, end }: ReportInput['input'], inPosition: Uint32Array): number {
  let days = 0;
  let first = 0;
  for (const lastRow of daysOf(bars.time, start, end).lastRows) {
    const next = lastRow - start + 1;
    if (countBits(inPosition, first, next) === 0) days++;
    first = next;
  }
  return days;
}
