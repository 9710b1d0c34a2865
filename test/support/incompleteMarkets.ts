// Markets that lack something: a second instrument, a column or a timeframe that covers a part of the base, or opens at
// other times, and finer bars that contradict it.
import type { Snapshot, SnapshotColumns } from '../../src/engine/bars/arrow.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import type { Market } from '../../src/engine/bars/bars.ts';
import { resample } from '../../src/engine/bars/resample.ts';
import type { Catalog } from '../../src/market/catalog.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';

const HOUR_MS = 3_600_000;

/** By what is special about each. @param catalog of the shipped series */
export async function incompleteMarkets(catalog: Catalog): Promise<ReadonlyMap<string, Market>> {
  const markets = new Map<string, Market>();
  const index = await catalog.snapshots('SPX', '1d');
  const own = createMarket(index, 'SPX', '1d').base;
  /** Bars of another name with the days of the index, some of them, and at another time. */
  const others = (symbol: string, timeframe: '1h' | '1d', change: Partial<SnapshotColumns>): Snapshot =>
    makeSnapshot({ ...own, ...change }, { symbol, timeframe, instrument: makeInstrument(symbol) });
  const marketWith = (...more: Snapshot[]): Market => createMarket([...index, ...more], 'SPX', '1d');
  const until = (rows: number): SnapshotColumns => {
    const part = (values: Float64Array): Float64Array => values.slice(0, rows);
    const { time, open, high, low, close, volume } = own;
    const columns = { time, open, high, low, close, volume };
    return {
      ...(Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, part(values)])) as typeof columns),
      series: new Map(),
    };
  };
  markets.set('with GOOG', marketWith(...(await catalog.snapshots('GOOG', '1d'))));
  const afternoons = own.time.map((time) => time + 13.5 * HOUR_MS);
  markets.set('with other times', marketWith(others('OTHER', '1d', { time: afternoons })));
  const wrong = (values: Float64Array): Float64Array => values.map((value) => value * 1.3);
  const { open, high, low, close: closes } = own;
  const hours = { time: afternoons, open: wrong(open), high: wrong(high), low: wrong(low), close: wrong(closes) };
  markets.set('with wrong hours', marketWith(others('SPX', '1h', hours)));
  const days = until(3_000);
  const column = days.time.map((_, row) => (row < 1_500 ? NaN : row % 3 === 0 ? NaN : row));
  markets.set(
    'with a late column',
    createMarket([others('SPX', '1d', { ...days, series: new Map([['late', column]]) })], 'SPX', '1d'),
  );
  const euros = await catalog.snapshots('EURUSD', '1h');
  const { base } = createMarket(euros, 'EURUSD', '1d');
  const early = resample(createMarket(euros, 'EURUSD', '1h').base, '1d');
  const half = Math.floor(base.length / 2);
  const cut = (values: Float64Array): Float64Array => values.slice(0, half);
  const earlyDays = {
    time: cut(early.time),
    open: cut(early.open),
    high: cut(early.high),
    low: cut(early.low),
    close: cut(early.close),
    volume: cut(early.volume),
    series: new Map(),
  };
  const stale = makeSnapshot(earlyDays, { symbol: 'EURUSD', timeframe: '1d', instrument: makeInstrument('EURUSD') });
  markets.set('with early days', createMarket([...euros, stale], 'EURUSD', '1h'));
  return markets;
}
