import { describe, expect, it } from 'vitest';
import { createMarket, sourceTimeframe } from '../../../src/engine/bars/market.ts';
import type { Instrument, Timeframe } from '../../../src/engine/bars/bars.ts';
import { contradictionsOf } from '../../../src/engine/bars/contradictions.ts';
import { openSnapshot } from '../../../src/engine/bars/arrow.ts';
import { periodsPerYear } from '../../../src/engine/bars/periodsPerYear.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { coversBars } from '../../../src/engine/bars/coverage.ts';
import type { TimedBars } from '../../../src/engine/bars/coverage.ts';
import type { Snapshot } from '../../../src/engine/bars/arrow.ts';
import { randomSnapshot, START } from '../../support/bars.ts';

const minutes = randomSnapshot({ symbol: 'A', timeframe: '1m', count: 3000 });
const quarters = madeOf(minutes, '15m', { qtyStep: 5 });
const otherHours = randomSnapshot({ symbol: 'B', timeframe: '1h', count: 50 });

/** Bars as an exchange publishes them beside its finer ones. */
function madeOf(finer: Snapshot, timeframe: Timeframe, instrument: Partial<Instrument> = {}): Snapshot {
  const { symbol } = finer.meta;
  const about = { symbol, timeframe, instrument: { ...finer.meta.instrument, ...instrument } };
  return makeSnapshot(resample(openSnapshot(finer), timeframe), about);
}

describe('a market', () => {
  it('prefers stored bars to resampled ones', () => {
    const market = createMarket([minutes, quarters], 'A', '15m');
    expect(market.base).toMatchObject({ length: 200, isResampled: false, sha256: quarters.meta.sha256 });
    expect(market.instrument.qtyStep).toBe(5);
  });

  it('resamples what is not stored from the finest stored bars', () => {
    const { base } = createMarket([quarters, minutes], 'A', '1h');
    expect(base).toMatchObject({ length: 50, isResampled: true, sha256: minutes.meta.sha256 });
  });

  it('makes a timeframe of stored bars of which whole ones make it, and of no others', () => {
    const stored: Timeframe[] = ['3m', '4h', '1w'];
    const source = (wanted: Timeframe) => sourceTimeframe(stored, wanted, () => true);
    expect((['1m', '5m', '15m', '6h', '8h', '1d', '1w', '1M'] as const).map(source)).toEqual([
      undefined,
      undefined,
      '3m',
      '3m',
      '3m',
      '3m',
      '1w',
      '3m',
    ]);
    expect(sourceTimeframe(['4h', '1w'], '6h', () => true)).toBeUndefined();
    expect(sourceTimeframe(['1w'], '1M', () => true)).toBeUndefined();
  });

  it('looks inside a bar at finer ones of which whole bars make it', () => {
    const days = randomSnapshot({ symbol: 'A', timeframe: '1d', count: 80 });
    const weeks = madeOf(days, '1w');
    const months = madeOf(days, '1M');
    expect(createMarket([days, weeks, months], 'A', '1M').fine).toMatchObject({ timeframe: '1d' });
    expect(createMarket([weeks, months], 'A', '1M').fine).toBeUndefined();
  });

  it('has one period per bar of a week or a month', () => {
    const days = randomSnapshot({ symbol: 'A', timeframe: '1d', count: 80 });
    const periods = (['1d', '1w', '1M'] as const).map((timeframe) => {
      const { instrument } = createMarket([days], 'A', timeframe);
      expect(createMarket([days], 'A', timeframe).instrument).toBe(instrument);
      return periodsPerYear(instrument);
    });
    expect(periods).toEqual([365, 52, 12]);
  });

  it('drills into the finest imported bars below the base, never into resampled ones', () => {
    expect(createMarket([minutes, quarters], 'A', '1h').fine).toMatchObject({ timeframe: '1m', isResampled: false });
    expect(createMarket([quarters], 'A', '1h').fine).toMatchObject({ timeframe: '15m' });
    expect(createMarket([quarters], 'A', '15m').fine).toBeUndefined();
  });

  it('offers other instruments and coarser timeframes, and nothing finer than is stored', () => {
    const market = createMarket([quarters, otherHours], 'A', '15m');
    expect(market.bars('B', '1h')?.length).toBe(50);
    expect(market.bars('B', '4h')?.isResampled).toBe(true);
    expect(market.bars('B', '15m')).toBeUndefined();
    expect(market.bars('C', '1h')).toBeUndefined();
  });

  it('opens and resamples a snapshot once, even across markets', () => {
    const first = createMarket([quarters, otherHours], 'A', '15m');
    const second = createMarket([quarters, otherHours], 'B', '1h');
    expect(second.bars('A', '15m')).toBe(first.base);
    expect(second.bars('A', '4h')).toBe(first.bars('A', '4h'));
  });

  it('throws when the base series is absent', () => {
    expect(() => createMarket([quarters], 'A', '5m')).toThrow('No snapshot serves A 5m');
    expect(() => createMarket([quarters, quarters], 'A', '15m')).toThrow('Two snapshots of A 15m');
  });

  it('names the stored timeframe that answers a request', () => {
    const always = (): boolean => true;
    expect(sourceTimeframe(['1h', '1d'], '1d', always)).toBe('1d');
    expect(sourceTimeframe(['1h', '5m', '1d'], '4h', always)).toBe('5m');
    expect(sourceTimeframe(['1h'], '15m', always)).toBeUndefined();
    expect(sourceTimeframe(['1h', '15m', '1m'], '4h', (finer) => finer === '1m')).toBe('1m');
    expect(sourceTimeframe(['1h', '15m', '1m'], '4h', () => false)).toBe('1h');
  });
});

describe('a market with finer bars imported later (semantics §1.13)', () => {
  const wholeMinutes = randomSnapshot({ symbol: 'A', timeframe: '1m', count: 240 * 60, seed: 2 });
  const hours = madeOf(wholeMinutes, '1h');
  const lateMinutes = minutesBut(0, 120 * 60);
  const brokenMinutes = minutesBut(100 * 60, 101 * 60);

  /** Minutes of the same span with those from row `from` to before `to` absent. */
  function minutesBut(from: number, to: number): Snapshot {
    const times = Array.from({ length: 240 * 60 }, (_, minute) => START + minute * 60_000);
    return randomSnapshot({ symbol: 'A', timeframe: '1m', times: times.toSpliced(from, to - from), seed: 2 });
  }

  it('resamples from the finest series that covers the whole of the base', () => {
    const market = createMarket([hours, wholeMinutes], 'A', '1h');
    expect(market.bars('A', '4h')).toMatchObject({ sha256: wholeMinutes.meta.sha256, length: 60 });
  });

  it('resamples nothing from bars that contradict the base, and nothing is drilled into them', () => {
    const { time, volume, series, ...prices } = openSnapshot(wholeMinutes);
    const [open, high, low, close] = (['open', 'high', 'low', 'close'] as const).map((name) =>
      prices[name].map((price) => price * 1.3),
    );
    const wrong = makeSnapshot({ time, open, high, low, close, volume, series }, wholeMinutes.meta);
    for (const timeframe of ['1h', '4h', '1d'] as const) {
      const market = createMarket([hours, wrong], 'A', timeframe);
      expect(market.bars('A', '1d')?.sha256).toBe(hours.meta.sha256);
      expect(contradictionsOf(market.base, market.fine!)?.isDrillingOff).toBe(true);
    }
    expect(createMarket([hours, wrong, otherHours], 'B', '1h').bars('A', '4h')?.sha256).toBe(hours.meta.sha256);
  });

  it.each([
    ['part of the base', lateMinutes],
    ['all of it except one hour', brokenMinutes],
  ])('drills into finer bars that cover %s, and resamples nothing from them', (_, minutes) => {
    const before = createMarket([hours], 'A', '1h');
    const after = createMarket([hours, minutes], 'A', '1h');
    expect([...after.bars('A', '4h')!.close]).toEqual([...before.bars('A', '4h')!.close]);
    expect(after.bars('A', '4h')?.sha256).toBe(hours.meta.sha256);
    expect(after.fine?.sha256).toBe(minutes.meta.sha256);
  });

  it('does not change a base that is itself resampled, or other instruments', () => {
    expect(createMarket([hours, lateMinutes], 'A', '4h').base.sha256).toBe(hours.meta.sha256);
    expect(createMarket([hours, lateMinutes, otherHours], 'B', '1h').bars('A', '4h')?.sha256).toBe(hours.meta.sha256);
  });

  it('measures coverage against the base, not against a longer history of a coarser timeframe', () => {
    const days = randomSnapshot({ symbol: 'A', timeframe: '1h', count: 2400, seed: 3 });
    const base = randomSnapshot({ symbol: 'A', timeframe: '15m', count: 960, seed: 4 });
    expect(createMarket([days, base], 'A', '15m').bars('A', '4h')?.sha256).toBe(base.meta.sha256);
  });

  it('offers a timeframe below the base even if only part of it is stored', () => {
    const days = randomSnapshot({ symbol: 'A', timeframe: '1d', count: 10 });
    expect(createMarket([days, lateMinutes], 'A', '1d').bars('A', '1h')?.sha256).toBe(lateMinutes.meta.sha256);
  });
});

it('counts finer bars as covering coarser ones if every coarser bar holds one of them', () => {
  const timed = (timeframe: Timeframe, ...hours: number[]): TimedBars => ({
    timeframe,
    length: hours.length,
    time: Float64Array.from(hours, (hour) => START + hour * 3_600_000),
  });
  const days = timed('1d', 0, 24, 72);
  expect(coversBars(timed('1h', 14.5, 15.5, 38.5, 86.5), days)).toBe(true);
  expect(coversBars(timed('1h', 14.5, 15.5, 38.5), days)).toBe(false);
  expect(coversBars(timed('1h', 14.5, 86.5), days)).toBe(false);
  expect(coversBars(timed('1h', -5, 20, 30, 50, 80, 99), days)).toBe(true);
});
