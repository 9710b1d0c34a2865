// The benchmark: equal money in each instrument of a run, or one symbol, bought at its first open, held, without costs.
import type { Bars } from '../../bars/bars.ts';
import type { TimeAxis } from '../../bars/timeAxis.ts';
import type { Dividends } from '../../config.ts';
import { dividendRows } from '../../simulate/carry.ts';
import type { SimulationInput } from '../../simulate/simulation.ts';

type Prices = Pick<Bars, 'open' | 'close'>;

type Part = Pick<SimulationInput, 'bars' | 'start' | 'end' | 'config'>;

/** The last benchmark of an axis: most variants of a sweep begin and end alike. */
const kept = new WeakMap<TimeAxis, { readonly parts: readonly Part[]; readonly prices: Prices }>();

/**
 * The value of 1 in equal parts in each instrument, at every instant: a part is cash until the first evaluated open of
 * its instrument, and keeps the last close after the data. Its changes are added up in the order of symbols.
 */
export function equalMoney(instruments: readonly Part[], axis: TimeAxis, start: number, end: number): Prices {
  // The rows of the instruments decide where the run begins and ends on its axis.
  const known = kept.get(axis);
  if (known !== undefined && isSame(known.parts, instruments)) return known.prices;
  const prices = equalParts(instruments, axis, start, end);
  kept.set(axis, {
    parts: instruments.map((each) => ({ bars: each.bars, start: each.start, end: each.end, config: each.config })),
    prices,
  });
  return prices;
}

const isSame = (a: readonly Part[], b: readonly Part[]): boolean =>
  a.length === b.length &&
  a.every(
    ({ bars, start, end, config }, at) =>
      bars === b[at].bars &&
      start === b[at].start &&
      end === b[at].end &&
      config.dividends === b[at].config.dividends &&
      config.dividendColumn === b[at].config.dividendColumn,
  );

function equalParts(instruments: readonly Part[], axis: TimeAxis, start: number, end: number): Prices {
  const close = new Float64Array(axis.time.length);
  const bySymbol = instruments
    .map((instrument, index) => ({ ...instrument, instants: axis.instants[index] }))
    .sort((a, b) => (a.bars.symbol < b.bars.symbol ? -1 : 1));
  for (const { bars, start: first, end: last, instants, config } of bySymbol) {
    const bought = bars.open[first];
    if (last <= first || !(bought > 0)) continue;
    const units = 1 / instruments.length / bought;
    addChanges(bars.close.subarray(first, last), bought, units, instants, first, close);
    for (const [row, dividend] of dividendRows(config, bars, bars.time))
      if (row > first && row < last) close[instants[row]] += units * dividend;
  }
  let value = 1;
  for (let instant = start; instant < end; instant++) close[instant] = value += close[instant];
  close.fill(1, 0, start);
  return { open: new Float64Array(axis.time.length).fill(1), close };
}

/** Adds what so many units gain at each close, the first against `bought`. A function: V8 compiles it for all rows. */
function addChanges(
  closes: Float64Array,
  bought: number,
  units: number,
  instants: Int32Array,
  firstRow: number,
  out: Float64Array,
): void {
  let before = bought;
  for (let at = 0; at < closes.length; at++) {
    const close = closes[at];
    out[instants[firstRow + at]] += units * (close - before);
    before = close;
  }
}

/**
 * The prices of a symbol at every one of these times: its first open from `start` on until its first bar, then the last
 * close that is known. NaN without a bar.
 */
export function alignedBenchmark(
  { time: times, open, close, length }: Bars,
  time: Float64Array,
  start: number,
): Prices {
  let next = 0;
  while (next < length && times[next] < time[start]) next++;
  const bought = next < length ? open[next] : NaN;
  const aligned = new Float64Array(time.length).fill(bought);
  let last = bought;
  for (let row = start; row < time.length; row++) {
    while (next < length && times[next] <= time[row]) last = close[next++];
    aligned[row] = last;
  }
  return { open: new Float64Array(time.length).fill(bought), close: aligned };
}

/** The value of one unit bought at the open of row `start`: its price and the dividends since, which stay in cash. */
export function withDividends(
  prices: Prices,
  config: Dividends,
  source: Bars,
  time: Float64Array,
  start: number,
): Prices {
  const dividends = dividendRows(config, source, time);
  if (dividends.size === 0) return prices;
  let received = 0;
  const close = prices.close.map((price, row) => {
    if (row > start) received += dividends.get(row) ?? 0;
    return price + received;
  });
  return { open: prices.open, close };
}
