// A random walk as a market: the same bars for every suite that needs a whole market.
import { TIMEFRAME_MS, type Market } from '../src/engine/bars/bars.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import type { Snapshot } from '../src/engine/bars/arrow.ts';
import { allocateShared } from '../src/engine/kernels/sharedMemory.ts';
import { makeSnapshot } from '../src/market/snapshotFiles.ts';
import { seededRandom } from '../test/support/scale.ts';
import { INSTRUMENT } from '../test/support/runs.ts';
import type { PriceColumns } from '../test/engine/patterns/jagged.ts';

export const SYMBOL = INSTRUMENT.symbol;

/** Bars from 1900 on that move about 0.6 % per bar and never touch zero. */
export function walkSnapshot(
  count: number,
  timeframe: '1d' | '1h' | '15m' | '5m' = '1h',
  { symbol = SYMBOL, seed = 23 } = {},
): Snapshot {
  const random = seededRandom(seed);
  const [time, open, high, low, close, volume] = Array.from({ length: 6 }, () => new Float64Array(count));
  let price = 100;
  for (let row = 0; row < count; row++) {
    time[row] = Date.UTC(1900, 0, 1) + row * TIMEFRAME_MS[timeframe];
    open[row] = price;
    price *= 1 + (random() - 0.5) * 0.012;
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + random() * 0.003);
    low[row] = Math.min(open[row], price) * (1 - random() * 0.003);
    volume[row] = random() * 1000;
  }
  const columns = { time, open, high, low, close, volume, series: new Map<string, Float64Array>() };
  return makeSnapshot(columns, { symbol, timeframe, instrument: { ...INSTRUMENT, symbol } });
}

export const walkMarket = (count: number): Market => createMarket([walkSnapshot(count)], SYMBOL, '1h');

let copies = 0;
/** Bars with another hash are other bars, for which nothing is cached. */
export const unseen = (market: Market): Market => ({ ...market, base: { ...market.base, sha256: `run ${copies++}` } });

/** The same columns where a market's are: in shared memory, behind the head of its file. */
export function sharedColumns([open, high, low, close]: PriceColumns): PriceColumns {
  const { buffer } = allocateShared(HEAD_BYTES + 4 * open.byteLength).memory;
  const place = (column: Float64Array, index: number): Float64Array => {
    const view = new Float64Array(buffer, HEAD_BYTES + index * column.byteLength, column.length);
    view.set(column);
    return view;
  };
  return [place(open, 0), place(high, 1), place(low, 2), place(close, 3)];
}

/** Of a file with six columns, about. */
const HEAD_BYTES = 1024;
