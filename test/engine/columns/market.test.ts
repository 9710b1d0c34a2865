import { describe, expect, test } from 'vitest';
import { createMarket, sourceTimeframe } from '../../../src/engine/columns/market.ts';
import { randomSnapshot } from '../../support/bars.ts';

const minutes = randomSnapshot({ symbol: 'A', timeframe: '1m', count: 3000 });
const quarters = randomSnapshot({ symbol: 'A', timeframe: '15m', count: 200, instrument: { qtyStep: 5 } });
const otherHours = randomSnapshot({ symbol: 'B', timeframe: '1h', count: 50 });

describe('a market', () => {
  test('prefers stored bars to resampled ones', () => {
    const market = createMarket([minutes, quarters], 'A', '15m');
    expect(market.base).toMatchObject({ length: 200, isResampled: false, sha256: quarters.meta.sha256 });
    expect(market.instrument.qtyStep).toBe(5);
  });

  test('resamples what is not stored from the finest stored bars', () => {
    const { base } = createMarket([quarters, minutes], 'A', '1h');
    expect(base).toMatchObject({ length: 50, isResampled: true, sha256: minutes.meta.sha256 });
  });

  test('drills into the finest imported bars below the base, never into resampled ones', () => {
    expect(createMarket([minutes, quarters], 'A', '1h').fine).toMatchObject({ timeframe: '1m', isResampled: false });
    expect(createMarket([quarters], 'A', '1h').fine).toMatchObject({ timeframe: '15m' });
    expect(createMarket([quarters], 'A', '15m').fine).toBeUndefined();
  });

  test('offers other instruments and coarser timeframes, and nothing finer than is stored', () => {
    const market = createMarket([quarters, otherHours], 'A', '15m');
    expect(market.bars('B', '1h')?.length).toBe(50);
    expect(market.bars('B', '4h')?.isResampled).toBe(true);
    expect(market.bars('B', '15m')).toBeUndefined();
    expect(market.bars('C', '1h')).toBeUndefined();
  });

  test('opens and resamples a snapshot once, also for the next market', () => {
    const first = createMarket([quarters, otherHours], 'A', '15m');
    const second = createMarket([quarters, otherHours], 'B', '1h');
    expect(second.bars('A', '15m')).toBe(first.base);
    expect(second.bars('A', '4h')).toBe(first.bars('A', '4h'));
  });

  test('without the base series is a fault of the caller', () => {
    expect(() => createMarket([quarters], 'A', '5m')).toThrow('No snapshot serves A 5m');
    expect(() => createMarket([quarters, quarters], 'A', '15m')).toThrow('Two snapshots of A 15m');
  });

  test('names the stored timeframe that answers', () => {
    expect(sourceTimeframe(['1h', '1d'], '1d')).toBe('1d');
    expect(sourceTimeframe(['1h', '5m', '1d'], '4h')).toBe('5m');
    expect(sourceTimeframe(['1h'], '15m')).toBeUndefined();
  });
});
