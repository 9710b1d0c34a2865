// Markets cut short: the same bars as if the data ended, or began, at another row of the base series.
import type { Bars, Market } from '../bars/bars.ts';
import { rowsClosedBy } from '../bars/rowRange.ts';
import { closeOf } from '../bars/timeframes.ts';
import { lowerBound } from '../kernels/search.ts';

/** What was known at the close of base row `rows` - 1: every bar of any series that had closed by then. */
export function marketUpTo(market: Market, rows: number): Market {
  const { base } = market;
  const closed = closeOf(base.timeframe, base.time[rows - 1]);
  return cut(market, (bars) => [0, rowsClosedBy(bars, closed - (bars.overhangMs ?? 0))]);
}

/** The market whose data begins at base row `row`: every bar of any series that opens from then on. */
export const marketFrom = (market: Market, row: number): Market =>
  cut(market, (bars) => [lowerBound(bars.time, market.base.time[row]), bars.length]);

function cut(market: Market, rowsOf: (bars: Bars) => readonly [from: number, to: number]): Market {
  const [made] = changedMarkets([market], (bars) => cutBars(bars, ...rowsOf(bars)));
  return made;
}

/** The markets with every series replaced by another, made once for all that read it. */
export function changedMarkets(markets: readonly Market[], change: (bars: Bars) => Bars): Market[] {
  const made = new Map<Bars, Bars>();
  const changed = (bars: Bars): Bars => {
    let result = made.get(bars);
    if (result === undefined) made.set(bars, (result = change(bars)));
    return result;
  };
  return markets.map((market) => ({
    base: changed(market.base),
    instrument: market.instrument,
    fine: market.fine && changed(market.fine),
    bars: (symbol, timeframe) => {
      const bars = market.bars(symbol, timeframe);
      return bars && changed(bars);
    },
  }));
}

/** Rows [from, to) of a series. */
export function cutBars(bars: Bars, from: number, to: number): Bars {
  const part = (values: Float64Array): Float64Array => values.subarray(from, to);
  const { time, open, high, low, close, volume, series } = bars;
  return {
    ...bars,
    length: to - from,
    time: part(time),
    open: part(open),
    high: part(high),
    low: part(low),
    close: part(close),
    volume: part(volume),
    series: new Map([...series].map(([name, values]) => [name, part(values)])),
    sha256: `${bars.sha256} rows ${from} to ${to}`,
    cutFrom: { bars, firstRow: from },
  };
}
