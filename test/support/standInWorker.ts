// A worker process of the stand-in engine, for tests that kill it, and the process of its crash suspects. SIGTERM stops
// it as the command does.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { quiet, snapshotsIn } from './queue.ts';
import { STAND_IN_RUNNER } from './runs.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import { runSuspects } from '../../src/jobs/suspectProcess.ts';

const { TEST_URL, TEST_DATA, TEST_THREADS, TEST_FINISH_MS } = process.env;
const settings = {
  url: TEST_URL!,
  snapshots: snapshotsIn(TEST_DATA!),
  pool: { runner: STAND_IN_RUNNER },
  // Receivers of tests are on this machine.
  webhooksPrivate: true,
};
const script = fileURLToPath(import.meta.url);
const startSuspectProcess = () =>
  spawn(process.execPath, [script, 'suspects'], { stdio: ['ignore', 2, 2, 'ipc'], serialization: 'advanced' });
if (process.argv[2] === 'suspects') await runSuspects(settings, quiet);
else await work();

async function work(): Promise<void> {
  const finishMs = TEST_FINISH_MS === undefined ? {} : { finishMs: Number(TEST_FINISH_MS) };
  const worker = await startWorker(
    { ...settings, ...finishMs, threads: Number(TEST_THREADS), startSuspectProcess },
    quiet,
  );
  process.once('SIGTERM', () => {
    void worker[Symbol.asyncDispose]().then(() => process.exit(0));
  });
  console.log('ready');
}
