import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import { listGaps } from '../../src/market/gaps.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { synthesize, synthesizeBars, type SynthOptions } from '../../src/market/synth.ts';
import { scaled } from '../support/scale.ts';

const MINUTE = 60_000;
const snapshotOf = (options: SynthOptions): Snapshot =>
  makeSnapshot(synthesize(options), {
    symbol: options.symbol,
    timeframe: '1m',
    instrument: makeInstrument(options.symbol),
  });

describe('the generator of synthetic bars', () => {
  it('gives the same bars for the same seed, and others for another seed or symbol', () => {
    const make = (symbol: string, seed: number): string => snapshotOf({ symbol, days: 3, seed }).meta.sha256;
    expect(make('SYN-BTC', 1)).toBe(make('SYN-BTC', 1));
    expect(new Set([make('SYN-BTC', 1), make('SYN-BTC', 2), make('SYN-ETH', 1), make('SYN-X', 1)]).size).toBe(4);
  });

  it('does not change from version to version, because results on its bars are quoted', () => {
    expect(snapshotOf({ symbol: 'SYN-BTC', days: 1, seed: 1 }).meta.sha256).toMatchInlineSnapshot(
      `"d34d9951985040bdbae88b21aaa4e82411a8203482aff03da893548ca597463f"`,
    );
  });

  it('gives for fewer days the beginning of what it gives for more', () => {
    const [short, long] = [2, 5].map((days) => synthesize({ symbol: 'SYN-BTC', days, seed: 9 }));
    for (const name of ['time', 'open', 'high', 'low', 'close', 'volume'] as const) {
      expect([...long[name].subarray(0, short.time.length)]).toEqual([...short[name]]);
    }
  });

  it('gives consistent bars for every seed and price', () => {
    let rows = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0 }), fc.double({ min: 0.01, max: 1e6, noNaN: true }), (seed, price) => {
        const { time, open, high, low, close, volume } = synthesize({ symbol: 'SYN-T', days: 1, seed, price });
        for (let row = 0; row < time.length; row++) {
          const isSound =
            low[row] > 0 &&
            low[row] <= Math.min(open[row], close[row]) &&
            high[row] >= Math.max(open[row], close[row]) &&
            volume[row] >= 0;
          const isNext = row === 0 || (time[row] > time[row - 1] && (time[row] - time[row - 1]) % MINUTE === 0);
          if (!isSound || !isNext) throw new Error(`row ${row} of seed ${seed}`);
        }
        rows += time.length;
      }),
      { numRuns: scaled(200), seed: 3 },
    );
    expect(rows).toBeGreaterThan(scaled(200) * 100);
  });

  it('clusters volatility, with more frequent extremes than a normal distribution', () => {
    const { close } = synthesize({ symbol: 'SYN-BTC', days: 60, seed: 4 });
    const returns = close.slice(1).map((price, row) => Math.log(price / close[row]));
    const sizes = returns.map(Math.abs);
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const square = (values: Float64Array, power: number): number =>
      values.reduce((sum, value) => sum + value ** power, 0) / values.length;
    const lagged = sizes.reduce(
      (sum, size, row) => (row < 10 ? sum : sum + (size - mean) * (sizes[row - 10] - mean)),
      0,
    );
    const variance = sizes.reduce((sum, size) => sum + (size - mean) ** 2, 0);
    expect(lagged / variance).toBeGreaterThan(0.15);
    expect(square(returns, 4) / square(returns, 2) ** 2).toBeGreaterThan(6);
    const daily = Math.sqrt(square(returns, 2) * 1440);
    expect(daily).toBeGreaterThan(0.015);
    expect(daily).toBeLessThan(0.08);
  });

  it('makes outages of flat minutes without volume, then a gap that is counted', () => {
    const { columns, report } = synthesizeBars({ symbol: 'SYN-BTC', days: 365, seed: 1 });
    const gaps = listGaps(columns.time, '1m');
    expect(gaps.length).toBe(report.gaps);
    expect(report.gaps).toBeGreaterThan(3);
    expect(report.bars + report.missingBars).toBe(365 * 1440);
    for (const { from } of gaps) {
      const row = columns.time.indexOf(from - MINUTE);
      expect([columns.volume[row], columns.high[row] - columns.low[row]]).toEqual([0, 0]);
    }
  });

  it('gives every higher timeframe by resampling', () => {
    const snapshot = snapshotOf({ symbol: 'SYN-BTC', days: 30, seed: 1 });
    const market = createMarket([snapshot], 'SYN-BTC', '15m');
    expect(
      [market.base, market.bars('SYN-BTC', '4h')!, market.bars('SYN-BTC', '1d')!].map((bars) => bars.length),
    ).toEqual([2880, 180, 30]);
  });

  it('requires a name that says synthetic, and a sensible length', () => {
    expect(() => synthesize({ symbol: 'BTCUSDT', days: 1, seed: 1 })).toThrow('does not begin with SYN-');
    for (const days of [0, -1, 1.5, 4000, NaN])
      expect(() => synthesize({ symbol: 'SYN-A', days, seed: 1 })).toThrow('is not a number of days from 1 to');
  });
});
