// What a thread keeps between runs stays within its bound, and the bound is a part of the memory of the pool.
import { describe, expect, it } from 'vitest';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { createPool, keptBytesPerThread, QUICK_THREADS, reliefThreads } from '../../../src/engine/pool/pool.ts';
import { dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

const LENGTH = 10_000;
const column = () => ({ values: new Float64Array(LENGTH) }) as never;

describe('a column store', () => {
  it('keeps as many columns as its limit allows, and as much again in free buffers', () => {
    const store = new ColumnStore(1e9);
    for (let key = 0; key < 20; key++) store.set(String(key), column());
    store.limit(5.5 * 8 * LENGTH);
    store.trim();
    expect(store.bytes).toBeLessThanOrEqual(5.5 * 8 * LENGTH);
    expect(Array.from({ length: 20 }, (_, key) => store.get(String(key)) !== undefined)).toEqual(
      Array.from({ length: 20 }, (_, key) => key >= 15),
    );
  });
});

it('gives no short name to two texts, however many there are', () => {
  const store = new ColumnStore(1e9);
  const names = Array.from({ length: 2_500 }, (_, text) => store.shortNameOf(`bars ${text}`));
  expect(new Set(names).size).toBe(2_500);
  expect(store.shortNameOf('bars 2499')).toBe(names[2_499]);
});

describe('what threads keep', () => {
  it('is at most a quarter of the memory, relief threads included, and bounded per thread', () => {
    for (const threads of [1, 2, 16]) {
      const all = threads + reliefThreads(threads) + QUICK_THREADS;
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
