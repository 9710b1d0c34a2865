// What a thread keeps between runs stays within its bound, and the bound is a part of the memory of the pool.
import { describe, expect, it } from 'vitest';
import { ColumnStore, type ColumnSet } from '../../../src/engine/evaluate/columnStore.ts';
import {
  createPool,
  keptBytesPerThread,
  QUICK_SHARD_THREADS,
  QUICK_THREADS,
  reliefThreads,
} from '../../../src/engine/pool/pool.ts';
import { dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

const LENGTH = 10_000;
const column = () => ({ values: new Float64Array(LENGTH) }) as never;

/** The keys of 0 to `count` - 1 that a set has. */
const keysOf = (set: ColumnSet, count: number): number[] =>
  Array.from({ length: count }, (_, key) => key).filter((key) => set.has(String(key)));

describe('a column store', () => {
  it('keeps as many columns as its limit allows, and as much again in free buffers', () => {
    const store = new ColumnStore(1e9);
    const set = store.columnsOf('', 'bars');
    for (let key = 0; key < 20; key++) set.set(String(key), column());
    store.limit(5.5 * 8 * LENGTH);
    store.trim();
    expect(store.bytes).toBeLessThanOrEqual(5.5 * 8 * LENGTH);
    expect(keysOf(set, 20)).toEqual([15, 16, 17, 18, 19]);
  });

  it('drops the columns that were read longest ago, of whatever bars', () => {
    const store = new ColumnStore(5.5 * 8 * LENGTH);
    const sets = ['a', 'b'].map((bars) => store.columnsOf('', bars));
    for (let key = 0; key < 10; key++) sets[key % 2].set(String(key), column());
    for (const key of ['6', '0', '4', '0']) expect(sets[0].get(key)).toBeDefined();
    store.trim();
    expect(sets.map((set) => keysOf(set, 10))).toEqual([[0, 4, 6, 8], [9]]);
  });

  it('counts a column that is set again once', () => {
    const store = new ColumnStore(1e9);
    const set = store.columnsOf('', 'bars');
    set.set('key', column());
    const once = store.bytes;
    set.set('key', column());
    expect(store.bytes).toBe(once);
    store.limit(0);
    store.trim();
    expect(store.bytes).toBe(0);
    expect(set.get('key')).toBeUndefined();
  });

  it('gives one set to equal owners and bars, forgetting only sets without columns, however many there are', () => {
    const store = new ColumnStore(1e9);
    const setOf = (at: number): ColumnSet => store.columnsOf(`owner ${at % 3}`, `bars ${at}`);
    const filled = Array.from({ length: 1_500 }, (_, at) => {
      const set = setOf(at);
      set.set('key', { isTrue: new Uint32Array(1), isUnknown: new Uint32Array(1) });
      return set;
    });
    const empty = setOf(5_000);
    for (let at = 10_000; at < 16_000; at++) setOf(at);
    expect(filled.every((set, at) => setOf(at) === set)).toBe(true);
    expect(setOf(5_000) === empty).toBe(false);
    expect(store.columnsOf('owner 1', 'bars 0') === filled[0]).toBe(false);
  });
  it('gives a trimmed column out again, long or short, but not a part of one', () => {
    for (const rows of [1_000, 300_000]) {
      const store = new ColumnStore(1e9);
      const set = store.columnsOf('', 'bars');
      const [kept, whole, larger] = [store.allocate(rows), store.allocate(rows), store.allocate(rows + 1)];
      set.set('part', { values: larger.subarray(1) } as never);
      set.set('whole', { values: whole } as never);
      set.set('kept', { values: kept } as never);
      // One of the three fits.
      store.limit(store.bytes / 2);
      store.trim();
      expect(store.allocate(rows)).toBe(whole);
      expect(store.allocate(rows).buffer).not.toBe(larger.buffer);
    }
  });
});

describe('what threads keep', () => {
  it('is at most a quarter of the memory, relief threads included, and bounded per thread', () => {
    for (const threads of [1, 2, 16]) {
      const all = threads + reliefThreads(threads) + QUICK_THREADS + QUICK_SHARD_THREADS;
      expect(keptBytesPerThread({ threads, memoryBytes: 2 ** 30 }) * all).toBeLessThanOrEqual(2 ** 28);
      expect(keptBytesPerThread({ threads, memoryBytes: 2 ** 50 })).toBe(640 << 20);
    }
  });

  it('is not there for runs', async () => {
    const batch = { snapshots: [dailySnapshot(500)], runs: [{ ...poolRun(), memoryBytes: 700 << 20 }] };
    for (const [memoryBytes, kind] of [
      // Seven eighths of three quarters, for a run that is not small.
      [1_000 << 20, 'failed'],
      [1_100 << 20, 'completed'],
    ] as const) {
      await using pool = createPool({ threads: 1, runner: STAND_IN_RUNNER, memoryBytes });
      expect((await pool.run(batch).outcomes).map((outcome) => outcome.kind)).toEqual([kind]);
    }
  });
});
