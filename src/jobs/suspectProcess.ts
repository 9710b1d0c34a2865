// The process of crash suspects: it runs the backtests that its worker sends, one at a time, and ends with the worker.
import { connect } from '../db/connect.ts';
import { noteMissingSnapshots } from '../db/missingSnapshots.ts';
import { createPool } from '../engine/index.ts';
import type { Log } from '../log.ts';
import { listenForCancels } from './cancels.ts';
import type { SuspectMessage } from './crashSuspects.ts';
import { Executor } from './executor.ts';
import { InputReader } from './inputs.ts';
import { Outages } from './outages.ts';
import { watchProgress } from './progress.ts';
import { Results } from './results.ts';
import type { WorkerSettings } from './runner.ts';

/** Connections of the process, of which one listens. */
const CONNECTIONS = 4;

/** Works until the channel to the worker closes. Claims are the worker's: it gives back what is not run. */
export async function runSuspects(
  { url, snapshots, pool: poolOptions }: Pick<WorkerSettings, 'url' | 'snapshots' | 'pool'>,
  log: Log,
): Promise<void> {
  process.once('disconnect', () => process.exit(0));
  // The worker has ended before this process could listen.
  if (!process.connected) process.exit(0);
  // A signal to the whole group is for the worker, which ends this process; dying of it would count against the run.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  const sql = connect(url, { max: CONNECTIONS, applicationName: 'candlepool crash suspects' });
  const pool = createPool({ ...poolOptions, threads: 1, hasOneOwner: true, keepsColumns: false, warmUp: false });
  const { outlast } = new Outages(url, log);
  let ofWorker = '';
  const executor = new Executor({
    sql,
    pool,
    inputs: new InputReader(sql, snapshots(sql), log),
    results: new Results(sql, log),
    log,
    noteMissing: (names) => noteMissingSnapshots(sql, ofWorker, names),
    outlast,
  });
  await listenForCancels(sql, log, executor);
  watchProgress(sql, executor, log);
  process.on('message', ({ claim, workerId }: SuspectMessage) => {
    ofWorker = workerId;
    void executor
      .run([claim])
      .catch((error: unknown) => log.warn({ err: error, backtestId: claim.id }, 'a crash suspect was given back'))
      .then(() => process.send!('done', () => {}));
  });
  process.send!('ready', () => {});
}
