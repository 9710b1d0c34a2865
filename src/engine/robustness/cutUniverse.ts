// Universes cut short: the same bars as if no price were known after an instant, or as if the data of every instrument
// began at a row of its own.
import { DAY_MS, type Bars, type Universe } from '../bars/bars.ts';
import { rowsClosedBy } from '../bars/rowRange.ts';
import { timeAxisOf } from '../bars/timeAxis.ts';
import { closeOf } from '../bars/timeframes.ts';
import { lowerBound } from '../kernels/search.ts';
import { changedMarkets, cutBars } from './cutMarket.ts';

/** Whether data ends early is known only so long after its last bar (semantics §8.2). */
const KNOWN_AFTER_MS = 7 * DAY_MS;

/**
 * What was known at the close of an instant. Every bar that had closed by then stays. Later bars keep their times,
 * since the rules know in advance which bar of an instrument is its last (semantics §8.2), but no prices: trading
 * stands still at the last known close. The bars end once nothing before the cut depends on when they end: a little
 * more than seven days later, and not before each instrument has one more.
 */
export function universeKnownAt({ instruments }: Universe, instant: number): Universe {
  const { time } = timeAxisOf(instruments.map(({ base }) => base));
  const { timeframe } = instruments[0].base;
  const closed = closeOf(timeframe, time[instant]);
  const lastTime = time[Math.min(time.length - 1, lowerBound(time, time[instant] + KNOWN_AFTER_MS + 1))];
  const known = changedMarkets(instruments, (bars) => {
    const rows = rowsClosedBy(bars, closed - (bars.overhangMs ?? 0));
    const length = Math.min(bars.length, Math.max(rows + 1, lowerBound(bars.time, lastTime + 1)));
    return stoodStill(bars, rows, length);
  });
  return { instruments: known };
}

/** The first `length` bars, of which those from row `known` on have the close before them and nothing else. */
function stoodStill(bars: Bars, known: number, length: number): Bars {
  // Before its first bar, nothing is known of a price.
  const last = known > 0 ? bars.close[known - 1] : 1;
  const flat = (values: Float64Array, value: number): Float64Array => values.slice(0, length).fill(value, known);
  const { time, open, high, low, close, volume, series } = bars;
  return {
    ...bars,
    length,
    time: time.subarray(0, length),
    open: flat(open, last),
    high: flat(high, last),
    low: flat(low, last),
    close: flat(close, last),
    volume: flat(volume, 0),
    series: new Map([...series].map(([name, values]) => [name, flat(values, NaN)])),
    sha256: `${bars.sha256} known ${known} of ${length}`,
    cutFrom: { bars, firstRow: 0 },
  };
}

/**
 * The universe in which the data of each instrument begins at a row of its own. Other series begin with the earliest of
 * them.
 */
export function universeFrom({ instruments }: Universe, rows: readonly number[]): Universe {
  const begins = new Map<string, number>();
  let earliest = Infinity;
  instruments.forEach(({ base }, index) => {
    const begin = base.time[rows[index]] ?? Infinity;
    begins.set(base.symbol, begin);
    earliest = Math.min(earliest, begin);
  });
  const cut = changedMarkets(instruments, (bars) =>
    cutBars(bars, lowerBound(bars.time, begins.get(bars.symbol) ?? earliest), bars.length),
  );
  return { instruments: cut };
}
