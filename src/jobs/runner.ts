// The runner: one worker process. Graphile Worker hands out tickets, the claimer claims what is due, the pool runs it.
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { TaskList } from 'graphile-worker';
import { connect } from '../db/connect.ts';
import type { Sql } from '../db/connect.ts';
import { claimDue, returnAllRuns } from '../db/claims.ts';
import type { ClaimFilter } from '../db/claims.ts';
import { noteMissingSnapshots } from '../db/missingSnapshots.ts';
import { notify } from '../db/notifications.ts';
import { MAX_KEPT_BYTES } from '../db/reruns.ts';
import type { WorkerTotals } from '../db/workerProcesses.ts';
import {
  PASS_ON_MS,
  PassedOnTicket,
  RERUN_TASK,
  SWEEP_TASK,
  TICKET_TASK,
  WEBHOOK_TASK,
  addRerunJob,
  addTickets,
} from '../db/tickets.ts';
import { createPool, QUICK_THREADS, reliefThreads } from '../engine/index.ts';
import type { Pool, PoolOptions } from '../engine/index.ts';
import type { Log } from '../log.ts';
import { listenForCancels } from './cancels.ts';
import { Claimer } from './claimer.ts';
import { CrashSuspects } from './crashSuspects.ts';
import { Executor } from './executor.ts';
import { startGraphile } from './graphile.ts';
import type { Graphile } from './graphile.ts';
import { startHeartbeat } from './heartbeat.ts';
import { InputReader } from './inputs.ts';
import type { SnapshotSource } from './inputs.ts';
import { Outages, type Outlast } from './outages.ts';
import { watchProgress } from './progress.ts';
import { startPruning } from './pruning.ts';
import { RerunTurns, runRerun } from './rerunTask.ts';
import { Results } from './results.ts';
import { shardPlaces, shardTickets } from './shardPlaces.ts';
import { TICKET_MS } from './shares.ts';
import { SweepRunner } from './sweepTask.ts';
import { WEBHOOK_PLACES, WebhookDeliveries } from './webhookTask.ts';

export interface WorkerSettings {
  /** The url of the database, which must be migrated. */
  readonly url: string;
  readonly threads: number;
  /** How the worker's market data is opened, given its own connections. */
  readonly snapshots: (sql: Sql) => SnapshotSource;
  readonly pool?: Omit<PoolOptions, 'threads'>;
  /** How long runs may take to finish when the worker stops; default: FINISH_MS. */
  readonly finishMs?: number;
  /** The most bytes that one artifact may have; default: all that may be kept. */
  readonly maxArtifactBytes?: number;
  /** Whether webhooks may reach private addresses. */
  readonly webhooksPrivate?: boolean;
  /** Starts a process that calls runSuspects (suspectProcess.ts); absent: crash suspects are left to other workers. */
  readonly startSuspectProcess?: () => ChildProcess;
  /**
   * Waits for the database and until this process may work; threads load meanwhile. Resolves with the id of a worker
   * that is known to be dead.
   */
  readonly begin?: () => Promise<string | undefined>;
}
export interface Worker extends AsyncDisposable {
  readonly id: string;
  /** The share of its threads that are busy, 0 to 1 (`Pool`). */
  readonly busyShare: number;
  /** Rejects when the worker cannot go on (Graphile Worker gave up); its process should end, and be started again. */
  readonly failed: Promise<never>;
}

/** Two tickets per thread: while one share runs, the results of the last are written and the next is claimed. */
const TICKETS_PER_THREAD = 2;
/**
 * How long runs may take to finish when the worker stops. With KILL_GRACE_MS and the last writes, stopping takes less
 * than ten seconds.
 */
const FINISH_MS = 4_000;
const KILL_GRACE_MS = 3_000;

/** Starts a worker. Disposing of it finishes or gives back active runs within ten seconds. */
export async function startWorker(settings: WorkerSettings, log: Log): Promise<Worker> {
  const id = randomUUID();
  const { url, threads } = settings;
  await using stack = new AsyncDisposableStack();
  const connections = openConnections(settings, stack);
  let heartbeat: AsyncDisposable | undefined;
  // Disposed of last: this process stays registered until its last claim is given back.
  stack.defer(() => heartbeat?.[Symbol.asyncDispose]());
  const pool = stack.use(createPool({ killGraceMs: KILL_GRACE_MS, keepsSpareThread: true, ...settings.pool, threads }));
  const predecessor = await settings.begin?.();
  const outages = new Outages(url, log);
  const parts = partsOf(settings, connections, { workerId: id, pool, log, outlast: outages.outlast });
  await startBackgroundWork(parts, stack);
  // Nothing is claimed before the process is registered: claims of an unregistered process are taken over.
  const registered = Promise.withResolvers<void>();
  const graphile = await openGraphile(settings, parts, outages, registered.promise, stack);
  stack.defer(() => outages.close());
  const worker = () => ({ id, host: hostname(), pid: process.pid, threads, poolId: graphile.poolId });
  const totals = () => totalsOf(parts);
  try {
    heartbeat = await startHeartbeat({ sql: connections.sql, url, worker, predecessor, totals }, log);
    registered.resolve();
  } catch (error) {
    registered.reject(error);
    throw error;
  }

  const opened = stack.move();
  log.info({ workerId: id, threads }, 'worker started');
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

interface Connections {
  readonly sql: Sql;
  /** One connection each: its statements are planned once, not once per connection of a pool that takes turns. */
  readonly claims: Sql;
  readonly results: Sql;
}

function openConnections({ url, threads }: WorkerSettings, stack: AsyncDisposableStack): Connections {
  const open = (max: number): Sql => {
    const sql = connect(url, { max, applicationName: 'candlepool worker' });
    stack.defer(() => sql.end({ timeout: 2 }));
    return sql;
  };
  return { sql: open(threads * TICKETS_PER_THREAD + 2), claims: open(1), results: open(1) };
}

interface Shared {
  readonly workerId: string;
  readonly pool: Pool;
  readonly log: Log;
  readonly outlast: Outlast;
}

/** What the tasks of the worker work with. */
interface WorkerParts extends Shared {
  readonly sql: Sql;
  readonly source: SnapshotSource;
  readonly executor: Executor;
  readonly results: Results;
  readonly sweeps: SweepRunner;
  readonly claimer: Claimer;
  readonly suspects: CrashSuspects | undefined;
  readonly reruns: RerunTurns;
  readonly webhooks: WebhookDeliveries;
  readonly runOneRerun: (rerunId: string) => Promise<void>;
}

function partsOf(settings: WorkerSettings, connections: Connections, shared: Shared): WorkerParts {
  const { sql, claims } = connections;
  const { threads, maxArtifactBytes: maxFileBytes = MAX_KEPT_BYTES, startSuspectProcess: start } = settings;
  const { workerId, log } = shared;
  const source = settings.snapshots(sql);
  const noteMissing = (names: readonly string[]) => noteMissingSnapshots(sql, workerId, names);
  const running = { ...shared, sql, inputs: new InputReader(sql, source, log), noteMissing };
  const results = new Results(connections.results, log);
  // One more than there are threads: slow suspects of as many workspaces as there are threads keep nobody waiting.
  const suspects = start && new CrashSuspects({ ...running, start, maxProcesses: threads + 1 });
  const limits = {
    shares: threads * TICKETS_PER_THREAD,
    reliefShares: reliefThreads(threads),
    quickShares: QUICK_THREADS,
  };
  const claim = async (maxRuns: number, maxCost: number, only?: ClaimFilter) => {
    const claimed = await claimDue(claims, workerId, maxRuns, maxCost, only);
    // They are not claimed here; their processes look for them.
    if (claimed.hasCrashSuspects) suspects?.look();
    return claimed;
  };
  return {
    ...shared,
    sql,
    source,
    sweeps: new SweepRunner(running),
    executor: new Executor({ ...running, results }),
    results,
    suspects,
    claimer: new Claimer(claim, limits),
    reruns: new RerunTurns(reliefThreads(threads)),
    webhooks: new WebhookDeliveries(sql, settings.webhooksPrivate ?? false),
    // Each rerun outlasts an outage by itself: repeating the whole turn would lose the reruns that wait behind it.
    runOneRerun: (rerunId) => shared.outlast(() => runRerun({ ...running, maxFileBytes }, rerunId)),
  };
}

/** Starts what runs beside the tasks until `stack` is disposed of. The claims that are left then go back. */
async function startBackgroundWork(
  { sql, workerId, executor, sweeps, source, log }: WorkerParts,
  stack: AsyncDisposableStack,
): Promise<void> {
  stack.defer(async () => notify(sql, 'changed', await returnAllRuns(sql, workerId)).catch(() => {}));
  stack.use(await listenForCancels(sql, log, executor, sweeps));
  stack.use(watchProgress(sql, executor, log));
  stack.use(startPruning(sql, source.prune?.bind(source), log));
}

async function openGraphile(
  { url, threads, finishMs = FINISH_MS }: WorkerSettings,
  parts: WorkerParts,
  outages: Outages,
  registered: Promise<void>,
  stack: AsyncDisposableStack,
): Promise<Graphile> {
  const taskList = tasksOf(parts, registered);
  const stopWithinMs = finishMs + KILL_GRACE_MS;
  // What may be worked on at a time (shares, shards of sweeps, reruns, webhooks), and one for a ticket that finds no
  // room. All but shares count themselves in before they wait for anything, so they never take the slots of shares.
  const shares = threads * TICKETS_PER_THREAD + reliefThreads(threads) + QUICK_THREADS;
  const tickets = shares + shardTickets(shardPlaces(threads)) + reliefThreads(threads) + WEBHOOK_PLACES + 1;
  const graphile = await startGraphile({ url, tickets, taskList, stopWithinMs }, outages, parts.log);
  stack.defer(async () => {
    await Promise.all([stopGraphile(graphile, parts, finishMs), parts.suspects?.close(finishMs)]);
  });
  return graphile;
}

function totalsOf({ pool: { busyShare }, executor, results }: WorkerParts): WorkerTotals {
  return { busyShare, idleSeconds: busyShare > 0 ? 0 : executor.idleSeconds, ...results.totals };
}

/** What Graphile Worker calls; each task waits until the process is registered. */
function tasksOf(parts: WorkerParts, registered: Promise<void>): TaskList {
  const { sql, claimer, executor, sweeps, reruns, webhooks, runOneRerun, outlast } = parts;
  const passedOn = new PassedOnTicket(sql, TICKET_TASK);
  return {
    [TICKET_TASK]: async () => {
      await registered;
      await outlast(() => runDueShares(sql, claimer, executor, passedOn));
    },
    [SWEEP_TASK]: async () => {
      await registered;
      await outlast(() => sweeps.work());
    },
    [RERUN_TASK]: async (payload) => {
      await registered;
      const { rerunId, workspaceId } = payload as { rerunId: string; workspaceId: string };
      const isTaken = await reruns.take(workspaceId, rerunId, runOneRerun);
      // This process is busy with others.
      if (!isTaken) await outlast(() => addRerunJob(sql, rerunId, workspaceId, PASS_ON_MS));
    },
    [WEBHOOK_TASK]: async (payload) => {
      await registered;
      const { webhookId } = payload as { webhookId: string };
      await webhooks.deliver(webhookId);
    },
  };
}

/** What a ticket does: runs shares of due work until nothing is due. */
async function runDueShares(sql: Sql, claimer: Claimer, executor: Executor, passedOn: PassedOnTicket): Promise<void> {
  const until = performance.now() + TICKET_MS;
  while (await claimer.takeShare((share) => executor.run(share))) {
    if (performance.now() > until) return addTickets(sql, 1);
  }
  // A stopping process leaves due work to others, which need a ticket for it.
  if (claimer.isClosed) await addTickets(sql, 1);
  else if (claimer.isFull) await passedOn.add();
}

/** Lets runs finish, then returns unfinished ones to the queue. */
async function stopGraphile(
  graphile: Graphile,
  { claimer, executor, sweeps, webhooks }: WorkerParts,
  finishMs: number,
): Promise<void> {
  claimer.close();
  sweeps.close();
  webhooks.close();
  const timer = setTimeout(() => {
    executor.returnAll();
    sweeps.returnAll();
  }, finishMs);
  await graphile.stop();
  clearTimeout(timer);
}
