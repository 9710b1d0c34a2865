// The process that bench/warmUp.ts measures: one thread of a pool, warmed up as a worker's are unless it is told
// `--cold`. It runs the batches that it is sent, and answers how much processor time each took.
import { readdirSync, readFileSync } from 'node:fs';
import type { PoolBatch } from '../src/engine/pool/messages.ts';
import { createPool } from '../src/engine/pool/pool.ts';
import { WARM_UP_BATCHES, warmUpBatch } from '../src/engine/pool/warmUp.ts';
import { batchOf, SMALL_RUNS, type SmallBatch } from './smallRuns.ts';

/** Processor time in nanoseconds. */
export interface BatchTime {
  readonly thread: number;
  /** Of the whole process: with V8's own threads and the main thread. */
  readonly process: number;
}

const [kind, ...options] = process.argv.slice(2);
await using pool = createPool({ threads: 1 });
const small = await SMALL_RUNS[kind]();

async function run(batch: PoolBatch): Promise<void> {
  const outcomes = await pool.run(batch).outcomes;
  const other = outcomes.find((outcome) => outcome.kind !== 'completed');
  if (other !== undefined) throw new Error(JSON.stringify(other));
}

/** Of the only thread that simulates. */
const threadId = readdirSync('/proc/self/task').find(
  (id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim() === 'WorkerThread',
);
const threadTime = (): number => Number(readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ', 1)[0]);

function processTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}

process.on('message', async (request: SmallBatch) => {
  const batch = batchOf(small, request);
  const [thread, all] = [threadTime(), processTime()];
  await run(batch);
  process.send!({ thread: threadTime() - thread, process: processTime() - all } satisfies BatchTime);
});

if (!options.includes('--cold')) for (let batch = 0; batch < WARM_UP_BATCHES; batch++) await run(warmUpBatch(batch));
process.send!('ready');
await new Promise(() => {});
