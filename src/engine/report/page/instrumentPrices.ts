// Prices of the instruments of a portfolio for the chart: each on the points of the axis, with gaps without a bar.
import type { PortfolioRun } from '../reportInput.ts';
import { priceDecimals } from '../kit/numberText.ts';
import type { ChartCondition, ChartLine, RowsOfPoint } from './strategyLines.ts';

/** Most instruments whose prices a page contains, and most candles of all of them: 16 bytes each. */
const MOST_CHARTED = 24;
const MOST_CANDLES = 120_000;

/** One instrument: a candle per point, null where it has no bar. */
interface InstrumentPrices {
  readonly symbol: string;
  readonly priceDecimals: number;
  readonly open: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly close: readonly (number | null)[];
  /** The rows of its bars in each point. */
  readonly rows: readonly RowsOfPoint[];
  readonly lines?: readonly ChartLine[];
  readonly conditions?: readonly ChartCondition[];
}

/** The instruments that can be chosen: those with the most trades, indexes into the list, in the order of symbols. */
export function chartedInstruments({ simulation, bySymbol }: PortfolioRun): number[] {
  const trades = new Map<number, number>();
  const { tradeInstruments, tradeLog } = simulation;
  for (let trade = 0; trade < tradeLog.length; trade++)
    trades.set(tradeInstruments[trade], (trades.get(tradeInstruments[trade]) ?? 0) + 1);
  const most = bySymbol.toSorted((a, b) => (trades.get(b) ?? 0) - (trades.get(a) ?? 0)).slice(0, MOST_CHARTED);
  return bySymbol.filter((index) => most.includes(index));
}

/** The most points of the chart of a portfolio. */
export const mostPoints = (portfolio: PortfolioRun): number =>
  Math.floor(MOST_CANDLES / chartedInstruments(portfolio).length);

/** @param start the first instant of the run @param every instants per point @param points how many there are */
export function instrumentPrices(
  portfolio: PortfolioRun,
  start: number,
  every: number,
  points: number,
): InstrumentPrices[] {
  return chartedInstruments(portfolio).map((index) => {
    const { symbol, input } = portfolio.instruments[index];
    const { bars, instrument, end } = input;
    const instants = portfolio.axis.instants[index];
    const column = (): (number | null)[] => new Array<number | null>(points).fill(null);
    const [open, high, low, close] = [column(), column(), column(), column()];
    const rows = new Array<RowsOfPoint>(points).fill(null);
    for (let row = 0; row < end; row++) {
      const point = Math.floor((instants[row] - start) / every);
      if (instants[row] < start || point >= points) continue;
      open[point] ??= bars.open[row];
      high[point] = Math.max(high[point] ?? -Infinity, bars.high[row]);
      low[point] = Math.min(low[point] ?? Infinity, bars.low[row]);
      close[point] = bars.close[row];
      rows[point] = { first: rows[point]?.first ?? row, last: row };
    }
    const sample = bars.close.subarray(input.start, Math.max(input.start, end));
    return { symbol, priceDecimals: priceDecimals(instrument.tickSize, sample), open, high, low, close, rows };
  });
}
