// The process that bench/warmUp.ts measures: one thread of a pool, warmed up as a worker's are unless it is told
// `--cold`. It runs the batches that it is sent, and answers how much processor time each took.
import { readdirSync, readFileSync } from 'node:fs';
import { createPool } from '../src/engine/pool/pool.ts';
import { WARM_UP_BATCHES } from '../src/engine/pool/warmUp.ts';
import { batchOf, runWhole, SMALL_RUNS, warmUp, type SmallBatch } from './smallRuns.ts';

/** Processor time in nanoseconds. */
export interface BatchTime {
  readonly thread: number;
  /** Of the whole process: with V8's own threads and the main thread. */
  readonly process: number;
}

const [kind, ...options] = process.argv.slice(2);
await using pool = createPool({ threads: 1 });
const small = await SMALL_RUNS[kind]();

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
  await runWhole(pool, batch);
  process.send!({ thread: threadTime() - thread, process: processTime() - all } satisfies BatchTime);
});

if (!options.includes('--cold')) await warmUp(pool, WARM_UP_BATCHES);
process.send!('ready');
await new Promise(() => {});
