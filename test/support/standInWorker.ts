// A worker process of the stand-in engine, for tests that kill it. SIGTERM stops it as the command does.
import { quiet, snapshotsIn } from './queue.ts';
import { STAND_IN_RUNNER } from './runs.ts';
import { startWorker } from '../../src/jobs/runner.ts';

const { TEST_URL, TEST_DATA, TEST_THREADS } = process.env;
const worker = await startWorker(
  {
    url: TEST_URL!,
    threads: Number(TEST_THREADS),
    snapshots: snapshotsIn(TEST_DATA!),
    pool: { runner: STAND_IN_RUNNER },
  },
  quiet,
);
process.once('SIGTERM', () => {
  void worker[Symbol.asyncDispose]().then(() => process.exit(0));
});
console.log('ready');
