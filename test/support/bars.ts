// Bars for tests: made in a line, with prices that satisfy every check.
import type { Bars, Instrument, Timeframe } from '../../src/engine/bars/bars.ts';
import type { Snapshot, SnapshotColumns } from '../../src/engine/bars/arrow.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { seededRandom } from './scale.ts';
import { laterOpen } from './timeGrid.ts';

export interface BarsOptions {
  readonly symbol?: string;
  readonly timeframe?: Timeframe;
  /** Open times, ms UTC; default `count` of them from 2024-01-01. */
  readonly times?: readonly number[];
  readonly count?: number;
  readonly seed?: number;
  readonly instrument?: Partial<Instrument>;
  readonly series?: Readonly<Record<string, readonly number[]>>;
}

export const START = Date.UTC(2024, 0, 1);

/** Random bars: a walk of two decimals, volumes of five. */
export function randomColumns(options: BarsOptions = {}): SnapshotColumns {
  const random = seededRandom(options.seed ?? 1);
  const time = Float64Array.from(
    options.times ??
      Array.from({ length: options.count ?? 100 }, (_, at) => laterOpen(options.timeframe ?? '1h', START, at)),
  );
  const column = (): Float64Array => new Float64Array(time.length);
  const [open, high, low, close, volume] = [column(), column(), column(), column(), column()];
  let price = 100;
  const cents = (value: number): number => Math.round(value * 100) / 100;
  for (let row = 0; row < time.length; row++) {
    open[row] = cents(price);
    close[row] = cents(Math.max(1, price + random() * 4 - 2));
    high[row] = cents(Math.max(open[row], close[row]) + random());
    low[row] = cents(Math.max(0.01, Math.min(open[row], close[row]) - random()));
    volume[row] = Math.round(random() * 1e7) / 1e5;
    price = close[row];
  }
  const series = new Map(
    Object.entries(options.series ?? {}).map(([name, values]) => [name, Float64Array.from(values)]),
  );
  return { time, open, high, low, close, volume, series };
}

export function randomSnapshot(options: BarsOptions = {}): Snapshot {
  const symbol = options.symbol ?? 'TEST';
  const instrument = { ...makeInstrument(symbol), ...options.instrument };
  return makeSnapshot(randomColumns(options), { symbol, timeframe: options.timeframe ?? '1h', instrument });
}

/** Bars without a snapshot, for what only reads columns. */
export function randomBars(options: BarsOptions = {}): Bars {
  const columns = randomColumns(options);
  return {
    symbol: options.symbol ?? 'TEST',
    timeframe: options.timeframe ?? '1h',
    length: columns.time.length,
    ...columns,
    sha256: 'test',
    isResampled: false,
    partialBars: 0,
  };
}
