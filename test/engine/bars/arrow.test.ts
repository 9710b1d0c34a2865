import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { encodeSnapshot, openSnapshot, readSnapshotAbout } from '../../../src/engine/bars/arrow.ts';
import type { SnapshotAbout } from '../../../src/engine/bars/arrow.ts';
import { makeInstrument } from '../../../src/market/instrument.ts';
import { randomColumns, randomSnapshot } from '../../support/bars.ts';

const about: SnapshotAbout = { symbol: 'TEST', timeframe: '1h', instrument: makeInstrument('TEST') };
const PRICES = ['open', 'high', 'low', 'close', 'volume'] as const;

describe('a snapshot', () => {
  it('returns every number it was made from', () => {
    const times = [-86_400_000_000, -1000, 0, 1_700_000_000_000, 2 ** 52];
    const series = { 'a signal': [NaN, 1, -2, Math.PI, 5e-324] };
    const columns = randomColumns({ times, series });
    const bars = openSnapshot(randomSnapshot({ times, series }));
    expect([...bars.time]).toEqual(times);
    for (const name of PRICES) expect([...bars[name]], name).toEqual([...columns[name]]);
    expect([...bars.series]).toEqual([['a signal', Float64Array.from(series['a signal'])]]);
    expect(bars).toMatchObject({ symbol: 'TEST', timeframe: '1h', length: 5, isResampled: false, partialBars: 0 });
  });

  it('opens without copying a price, as aligned views of shared memory', () => {
    const snapshot = randomSnapshot({ count: 1000, series: { signal: Array.from({ length: 1000 }, () => 1) } });
    const bars = openSnapshot(snapshot);
    const { buffer } = snapshot.memory;
    for (const column of [...PRICES.map((name) => bars[name]), bars.series.get('signal')!]) {
      expect(column.buffer).toBe(buffer);
      expect(column.byteOffset % 8).toBe(0);
    }
    new Float64Array(buffer, bars.close.byteOffset, 1)[0] = 123.5;
    expect(bars.close[0]).toBe(123.5);
  });

  it('shares its memory with another thread', async () => {
    const { memory } = randomSnapshot();
    const bytes = new Uint8Array(memory.buffer);
    const source = `const { parentPort, workerData } = require('node:worker_threads');
      new Uint8Array(workerData.buffer)[workerData.buffer.byteLength - 1] = 77; parentPort.postMessage('written');`;
    const worker = new Worker(source, { eval: true, workerData: memory });
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    await worker.terminate();
    expect(bytes.at(-1)).toBe(77);
  });

  it('is one uncompressed record batch that any Arrow reader opens', () => {
    const table = tableFromIPC(encodeSnapshot(randomColumns({ count: 10 }), about));
    expect(table.batches.length).toBe(1);
    expect(table.schema.fields.map((field) => `${field.name} ${field.type}`)).toEqual([
      'time Int64',
      ...PRICES.map((name) => `${name} Float64`),
    ]);
  });

  it('has the same bytes for the same series in whatever order its members are given', () => {
    const series = { b: Array.from({ length: 100 }, () => 1), a: Array.from({ length: 100 }, () => 2) };
    const columns = randomColumns({ series });
    const turned = new Map([...columns.series].toReversed());
    const turnedInstrument = Object.fromEntries(
      Object.entries(about.instrument).toReversed(),
    ) as typeof about.instrument;
    const first = encodeSnapshot(columns, about);
    const second = encodeSnapshot(
      { ...columns, series: turned },
      { instrument: turnedInstrument, timeframe: '1h', symbol: 'TEST' },
    );
    expect(Buffer.compare(first, second)).toBe(0);
  });

  it('keeps its hash from version to version', () => {
    // A change of this hash orphans every pinned snapshot: readers of old files must stay able to open both.
    const bytes = encodeSnapshot(randomColumns({ count: 3 }), about);
    expect(createHash('sha256').update(bytes).digest('hex')).toMatchInlineSnapshot(
      `"a25b2306ed7002019d8b54fdfc24f088fb971357d09c64f139318fe803124dc0"`,
    );
  });

  it('has a different hash for another symbol, timeframe, instrument or price', () => {
    const columns = randomColumns();
    const instrument = { ...about.instrument, qtyStep: 1 };
    const others = [
      encodeSnapshot(columns, { ...about, symbol: 'OTHER' }),
      encodeSnapshot(columns, { ...about, timeframe: '4h' }),
      encodeSnapshot(columns, { ...about, instrument }),
      encodeSnapshot({ ...columns, close: columns.open }, about),
      encodeSnapshot(columns, about),
    ];
    const hashes = new Set(others.map((bytes) => createHash('sha256').update(bytes).digest('hex')));
    expect(hashes.size).toBe(5);
  });

  it('describes itself in its bytes', () => {
    expect(readSnapshotAbout(encodeSnapshot(randomColumns(), about))).toEqual(about);
  });

  it('cannot be empty', () => {
    expect(() => encodeSnapshot(randomColumns({ count: 0 }), about)).toThrow('at least one bar');
  });
});
