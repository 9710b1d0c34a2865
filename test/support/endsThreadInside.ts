// A process that ends a thread inside a native call, in the way that its argument says.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { closeGate, closeGatesAtExit, createGate, createPool } from '../../src/engine/index.ts';
import { eventually } from './eventually.ts';
import { dailySnapshot, poolRun } from './runs.ts';

const runner = new URL('./nativeCallRunner.ts', import.meta.url).href;
const [way] = process.argv.slice(2);
const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
const inside = new Int32Array(memory);

if (way === 'thread') await endThread();
else await endPool();
console.log('ended');

async function endPool(): Promise<void> {
  await using pool = createPool({ threads: 1, runner, killGraceMs: 50 });
  const job = pool.run({ snapshots: [dailySnapshot(5)], runs: [poolRun({ inside: memory } as never)] });
  job.outcomes.catch(() => {});
  await eventually(() => inside[0] === 1);
  if (way === 'exit') process.exit(0);
  if (way === 'dispose') return;
  job.stop(0, 'cancelled');
  console.log((await job.outcomes)[0].kind);
}

/** A thread that is no pool's, such as that of heavy requests. */
async function endThread(): Promise<void> {
  const gate = createGate();
  using _ = closeGatesAtExit(() => [gate]);
  const workerData = { gate, params: { inside: memory } };
  const thread = new Worker(new URL('./nativeCallThread.ts', import.meta.url), { workerData });
  thread.on('error', (error) => console.error(error));
  await once(thread, 'message');
  await closeGate(gate);
  await thread.terminate();
}
