// Small backtests of four kinds, as a batch has them: what a thread is warmed up for, timed by bench/small.ts and
// bench/warmUp.ts, and counted by test/engine/pool/compiledCode.test.ts.
import { readSnapshotAbout, type Snapshot, type SnapshotMeta } from '../src/engine/bars/arrow.ts';
import { bytesOf } from '../src/engine/kernels/sharedMemory.ts';
import type { PoolBatch } from '../src/engine/pool/messages.ts';
import type { Pool } from '../src/engine/pool/pool.ts';
import { runWarmUpBatch } from '../src/engine/pool/warmUp.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { openShippedData } from '../src/market/shipped.ts';
import { PAYLOADS, PEER_PAYLOADS, taskFrom } from './crossing.ts';
import { PAIRS, pairConfig, pairOf } from './sweep.ts';
import { SYMBOL, walkSnapshot } from './walk.ts';

export interface SmallRuns {
  readonly snapshots: readonly Snapshot[];
  /** The task of a run; no two are alike. */
  readonly taskOf: (index: number) => BacktestTask;
}
export interface SmallBatch {
  /** Which owner, and which copy of the bars: what a thread keeps of other ones does not help. */
  readonly series: number;
  readonly first: number;
  readonly runs: number;
}

/** As many as the share has. */
export const SMALL_BARS = 2_148;

export const SMALL_RUNS: Readonly<Record<string, () => Promise<SmallRuns>>> = {
  'pairs of averages, a share': async () => ({
    snapshots: await (await openShippedData()).snapshots('GOOG', '1d'),
    taskOf: pairsOn('GOOG', '1d'),
  }),
  'pairs of averages': () => walkOf(pairsOn(SYMBOL, '1h')),
  'stop and target': () => walkOf(variantsOf(PEER_PAYLOADS['SMA 10-30, stop and target'])),
  'indicators, pattern, trailing stop': () =>
    walkOf(variantsOf(PAYLOADS['EMA RSI ADX pattern, stop, target, trailing'])),
};

const walkOf = async (taskOf: SmallRuns['taskOf']): Promise<SmallRuns> => ({
  snapshots: [walkSnapshot(SMALL_BARS)],
  taskOf,
});

function pairsOn(symbol: string, timeframe: '1d' | '1h'): SmallRuns['taskOf'] {
  const pairs = taskFrom('pairs', PAIRS);
  const { execution } = pairConfig(0.0001);
  return (index) => ({
    ...pairs,
    config: {
      timeframe,
      signalInstrument: { symbol },
      initialBalance: 10_000 + index,
      execution,
      params: pairOf(index),
    },
  });
}

function variantsOf(payload: object): SmallRuns['taskOf'] {
  const task = taskFrom('variants', payload);
  return (index) => ({ ...task, config: { ...task.config, initialBalance: 10_000 + index } });
}

export function batchOf({ snapshots, taskOf }: SmallRuns, { series, first, runs }: SmallBatch): PoolBatch {
  const owner = `owner ${series}`;
  const tasks = Array.from({ length: runs }, (_, index) => taskOf(first + index));
  return {
    snapshots: snapshots.map((snapshot) => ({ ...snapshot, meta: metaOf(snapshot, series) })),
    runs: tasks.map((task) => ({ task, snapshots: [0], owner, memoryBytes: 0 })),
  };
}

/** Warms the only thread of a pool up, as a worker's threads are. */
export async function warmUp(pool: Pool, batches: number): Promise<void> {
  for (let batch = 0; batch < batches; batch++) await runWarmUpBatch(batch, (work) => runWhole(pool, work));
}

/** Throws when a run does not complete. */
export async function runWhole(pool: Pool, batch: PoolBatch): Promise<void> {
  const outcomes = await pool.run(batch).outcomes;
  const other = outcomes.find((outcome) => outcome.kind !== 'completed');
  if (other !== undefined) throw new Error(JSON.stringify(other));
}

/** Read from the file, as a worker does, with another name for each series. */
const metaOf = (snapshot: Snapshot, series: number): SnapshotMeta => ({
  ...readSnapshotAbout(bytesOf(snapshot)),
  sha256: snapshot.meta.sha256.slice(0, -6) + String(series).padStart(6, '0'),
});
