// Universes in a thread: what is kept between runs of many instruments, and the markets that one is made of.
import { describe, expect, it } from 'vitest';
import { createMarket, createUniverse } from '../../../src/engine/bars/market.ts';
import { estimateRunBytes } from '../../../src/engine/pool/memory.ts';
import { LruMap } from '../../../src/engine/pool/lruMap.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { configOf, dailyColumns, INSTRUMENT, STRATEGY } from '../../support/runs.ts';

const snapshot = (symbol: string, bars = 10) =>
  makeSnapshot(dailyColumns(bars), { symbol, timeframe: '1d', instrument: { ...INSTRUMENT, symbol } });

describe('a map with spare room', () => {
  const mapOf = (spareBytes: number) =>
    new LruMap<string, string>(2, { bytes: spareBytes, bytesOf: (value) => value.length });

  it('keeps entries beyond its capacity while they are small, and evicts the oldest beyond that', () => {
    const map = mapOf(10);
    for (const key of ['a', 'b', 'c', 'd']) map.get(key, () => 'xx');
    expect(map.size).toBe(4);
    // Used again: no longer the oldest.
    map.get('a', () => 'made again');
    map.get('e', () => 'yyyy');
    expect(map.size).toBe(3);
    const made: string[] = [];
    for (const key of ['a', 'd', 'e']) map.get(key, () => (made.push(key), ''));
    expect(made).toEqual([]);
  });

  it('keeps as many entries as its capacity however large they are', () => {
    const map = mapOf(1);
    for (const key of ['a', 'b', 'c']) map.get(key, () => 'x'.repeat(100));
    expect(map.size).toBe(2);
  });

  it('frees the room of an entry that is deleted', () => {
    const map = mapOf(6);
    for (const key of ['a', 'b']) map.get(key, () => 'xx');
    map.delete('a');
    map.get('c', () => 'xx');
    map.get('d', () => 'x');
    expect(map.size).toBe(3);
  });

  it('has room for the two thousand small snapshots of the largest universe', () => {
    const small = new LruMap<number, number>(64, { bytes: 256 << 20, bytesOf: (bytes) => bytes });
    let made = 0;
    for (let turn = 0; turn < 2; turn++)
      for (let series = 0; series < 2_000; series++) small.get(series, () => (made++, 2_500 * 48));
    expect(made).toBe(2_000);
  });
});

describe('a universe', () => {
  it('has the market of each symbol in the order of the list, with the very bars of single markets', () => {
    const snapshots = [snapshot('A'), snapshot('B', 20), snapshot('C', 30)];
    const { instruments } = createUniverse(snapshots, ['C', 'A'], '1d');
    expect(instruments.map(({ base, instrument }) => [base.symbol, base.length, instrument.symbol])).toEqual([
      ['C', 30, 'C'],
      ['A', 10, 'A'],
    ]);
    expect(instruments[0].base).toBe(createMarket(snapshots, 'C', '1d').base);
    // Each reads the others and what else there is.
    expect(instruments[0].bars('B', '1d')).toBe(instruments[1].bars('B', '1d'));
    expect(() => createUniverse(snapshots, ['A', 'X'], '1d')).toThrow('No snapshot serves X 1d.');
  });

  it('is estimated by the columns of each instrument', () => {
    const symbols = Array.from({ length: 20 }, (_, at) => `S${at}`);
    const snapshots = symbols.map((symbol) => snapshot(symbol, 20_000));
    const { signalInstrument: _, ...common } = configOf();
    const bytesOf = (count: number): number =>
      estimateRunBytes(
        {
          strategyAst: STRATEGY,
          settings: {},
          config: { ...common, instruments: symbols.slice(0, count).map((symbol) => ({ symbol })) },
        },
        snapshots.slice(0, count),
      );
    const single = estimateRunBytes(
      { strategyAst: STRATEGY, settings: {}, config: { ...common, signalInstrument: { symbol: 'S0' } } },
      snapshots.slice(0, 1),
    );
    expect(bytesOf(1)).toBe(single);
    // Equity, drawdown, a condition and the times of the bars; trades are admitted by all bars together.
    const perInstrument = (bytesOf(20) - bytesOf(1)) / 19;
    expect(perInstrument / 20_000).toBeGreaterThan(24);
    expect(perInstrument / 20_000).toBeLessThan(60);
  });
});
