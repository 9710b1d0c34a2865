// The runner: one worker process. Graphile Worker hands out tickets, the claimer says what is due, the pool runs it.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, run } from 'graphile-worker';
import type { TaskList, WorkerEvents } from 'graphile-worker';
import { connect } from '../db/connect.ts';
import type { Sql } from '../db/connect.ts';
import { claimDue, claimSuspect, readCancelled, returnAllRuns, saveProgress } from '../db/claims.ts';
import { listen, tell } from '../db/news.ts';
import { RERUN_TASK, TICKET_TASK, addTickets } from '../db/tickets.ts';
import { createPool } from '../engine/index.ts';
import type { PoolOptions } from '../engine/index.ts';
import type { Log } from '../log.ts';
import { Claimer } from './claimer.ts';
import { Executor } from './executor.ts';
import { startHeartbeat } from './heartbeat.ts';
import { InputReader } from './inputs.ts';
import type { SnapshotSource } from './inputs.ts';
import { runRerun } from './rerunTask.ts';
import { ResultWriter } from './results.ts';

export interface WorkerSettings {
  /** Of the database; it must be migrated. */
  readonly url: string;
  readonly threads: number;
  /** How the worker's market data is opened, given its own connections. */
  readonly snapshots: (sql: Sql) => SnapshotSource;
  readonly pool?: Omit<PoolOptions, 'threads'>;
}
export interface Worker extends AsyncDisposable {
  readonly id: string;
  /** Share of the threads that are busy, 0 to 1. */
  readonly busyShare: number;
  /** Rejects when the worker cannot go on (Graphile Worker gave up); its process should end, and be started again. */
  readonly failed: Promise<never>;
}

/** Two tickets a thread: while one share runs, the results of the last are written and the next is claimed. */
const TICKETS_PER_THREAD = 2;
/** A ticket goes on while something is due, then leaves a new one, so that hosts which came later get a part. */
const TICKET_MS = 10_000;
/** News arrive at once by LISTEN; this is for the tickets that came while that connection was away. */
const POLL_MS = 1_000;
const PROGRESS_MS = 300;
/** At a stop, runs have so long to end by themselves. With KILL_GRACE_MS and the last writes it stays below ten seconds. */
const FINISH_MS = 4_000;
const KILL_GRACE_MS = 3_000;

/** Starts a worker. Disposing of it ends or gives back what runs, within ten seconds. */
export async function startWorker(settings: WorkerSettings, log: Log): Promise<Worker> {
  const id = randomUUID();
  await using stack = new AsyncDisposableStack();
  const tickets = settings.threads * TICKETS_PER_THREAD;
  const sql = connect(settings.url, { max: tickets + 4, applicationName: 'candlepool worker' });
  stack.defer(() => sql.end({ timeout: 2 }));
  let heartbeat: AsyncDisposable | undefined;
  // After what follows: until the last claim is given back this process answers for it.
  stack.defer(() => heartbeat?.[Symbol.asyncDispose]());
  const pool = createPool({ killGraceMs: KILL_GRACE_MS, ...settings.pool, threads: settings.threads });
  stack.use(pool);
  const inputs = new InputReader(sql, settings.snapshots(sql));
  const executor = new Executor({ sql, pool, inputs, results: new ResultWriter(sql, log), log });
  stack.defer(async () => tell(sql, 'changed', await returnAllRuns(sql, id)).catch(() => {}));
  stack.use(await listenForCancels(sql, executor));
  stack.use(watchProgress(sql, executor, log));

  const claimer = new Claimer({
    claimDue: (maxRuns, maxCost) => claimDue(sql, id, maxRuns, maxCost),
    claimSuspect: () => claimSuspect(sql, id),
    copied: (ids) => tell(sql, 'changed', ids),
  });
  // Nothing is claimed before the process is registered: claims of a process nobody knows are taken over.
  const registered = Promise.withResolvers<void>();
  const tasks: TaskList = {
    [TICKET_TASK]: async () => {
      await registered.promise;
      await workOff(sql, claimer, executor);
    },
    [RERUN_TASK]: async (payload) => {
      await runRerun(sql, pool, inputs, (payload as { rerunId: string }).rerunId);
    },
  };
  const graphile = await startGraphile(settings.url, tickets, tasks, log);
  stack.defer(() => stopGraphile(graphile, claimer, executor));
  const worker = { id, poolId: graphile.poolId, host: hostname(), pid: process.pid, threads: settings.threads };
  try {
    const totals = () => ({ busyShare: pool.busyShare, ...executor.totals });
    heartbeat = await startHeartbeat(sql, settings.url, worker, totals, log);
    registered.resolve();
  } catch (error) {
    registered.reject(error);
    throw error;
  }

  const opened = stack.move();
  log.info({ workerId: id, threads: settings.threads }, 'worker started');
  return {
    id,
    failed: graphile.failed,
    get busyShare() {
      return pool.busyShare;
    },
    async [Symbol.asyncDispose]() {
      await opened.disposeAsync();
      log.info({ workerId: id }, 'worker stopped');
    },
  };
}

/** What a ticket does: takes shares of what is due until nothing is. */
async function workOff(sql: Sql, claimer: Claimer, executor: Executor): Promise<void> {
  const until = performance.now() + TICKET_MS;
  while (await claimer.takeShare((share) => executor.run(share))) {
    if (performance.now() > until) return addTickets(sql, 1);
  }
  // A stopping process leaves what is due to others; they need a ticket for it.
  if (claimer.isClosed) await addTickets(sql, 1);
}

interface Graphile {
  readonly poolId: string;
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

async function startGraphile(url: string, tickets: number, taskList: TaskList, log: Log): Promise<Graphile> {
  const events = new EventEmitter() as WorkerEvents;
  let poolId: string | undefined;
  events.on('pool:create', ({ workerPool }) => (poolId = workerPool.id));
  const runner = await run({
    taskList,
    events,
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => {
      // Graphile reports every job at info; ours are tickets, of interest to nobody.
      if (level === 'error' || level === 'warning') log.warn(`graphile-worker: ${message}`);
    }),
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: tickets,
        maxPoolSize: tickets + 2,
        pollInterval: POLL_MS,
        // As many as run: more would be locked here while another host is idle.
        localQueue: { size: tickets },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        gracefulShutdownAbortTimeout: FINISH_MS + KILL_GRACE_MS,
      },
    },
  });
  const failed = new Promise<never>((_resolve, reject) => void runner.promise.catch(reject));
  // Who does not look at it must not be ended by it.
  failed.catch((error: unknown) => log.error({ err: error }, 'graphile-worker stopped'));
  if (poolId === undefined) throw new Error('startWorker: Graphile Worker named no pool');
  return { poolId, failed, stop: () => runner.stop() };
}

/** Lets runs end, then tells those that did not to go back to the queue. */
async function stopGraphile(graphile: Graphile, claimer: Claimer, executor: Executor): Promise<void> {
  claimer.close();
  const stopped = new AbortController();
  const returning = sleep(FINISH_MS, undefined, { signal: stopped.signal }).then(
    () => executor.returnAll(),
    () => {},
  );
  await graphile.stop();
  stopped.abort();
  await returning;
}

function listenForCancels(sql: Sql, executor: Executor): Promise<AsyncDisposable> {
  return listen(sql, 'cancel', (ids) => {
    if (ids) return executor.cancel(ids);
    // The connection was away, and a cancel may have been missed.
    const active = executor.activeIds();
    if (active.length > 0) void readCancelled(sql, active).then((missed) => executor.cancel(missed), () => {}); // prettier-ignore
  });
}

/** Writes how far runs are, of those that take long enough to be asked about. */
function watchProgress(sql: Sql, executor: Executor, log: Log): Disposable {
  const told = new Map<string, number>();
  let isBusy = false;
  const save = async (): Promise<void> => {
    const rows = executor.progress();
    const moved = rows.filter((row) => told.get(row.id) !== row.barsDone);
    const running = new Set(rows.map((row) => row.id));
    for (const id of told.keys()) if (!running.has(id)) told.delete(id);
    // One that was not seen the last time may be done in a moment.
    const shown = moved.filter((row) => told.has(row.id));
    for (const row of moved) told.set(row.id, row.barsDone);
    if (shown.length === 0) return;
    await saveProgress(sql, shown);
    await tell(sql, 'changed', shown.map((row) => row.id)); // prettier-ignore
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void save()
      .catch((error: unknown) => log.warn({ err: error }, 'progress could not be written'))
      .finally(() => (isBusy = false));
  }, PROGRESS_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
