// Keeps Graphile Worker running. It stops itself when it cannot record the end of a job, for which a lost connection is
// enough; then it is started again in the same process.
import { EventEmitter } from 'node:events';
import { Logger, run } from 'graphile-worker';
import type { Runner, RunnerOptions, TaskList, WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import type { Log } from '../log.ts';
import type { Outages, Outlast } from './outages.ts';

/** Tickets arrive at once through LISTEN; polling finds those added while that connection was down. */
const POLL_MS = 1_000;
/**
 * How long a runner's first look for work may take; usually it takes milliseconds. A runner whose first look fails
 * repeats that failure forever, so it is replaced.
 */
const FIRST_LOOK_MS = 5_000;
/**
 * The database may be lost several times in a row, but this many restarts in a minute have another cause, which a new
 * process may not have.
 */
const MAX_RESTARTS_PER_MINUTE = 60;

interface GraphileSettings {
  readonly url: string;
  /** Jobs that run at a time. */
  readonly tickets: number;
  readonly taskList: TaskList;
  /** How long jobs may go on after `stop` before they are told to abort. */
  readonly stopWithinMs: number;
}

export interface Graphile {
  /** Graphile Worker's name for the pool, which the jobs it holds carry; a new one after each restart. */
  readonly poolId: string;
  /** Rejects when it ended for a reason that a restart would not repair. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

interface Running {
  readonly poolId: string;
  readonly runner: Runner;
  /** Whether it ended because the end of a job could not be written. */
  readonly ended: Promise<boolean>;
}

/** Starts Graphile Worker, and starts it again whenever it ends because the database was lost. */
export async function startGraphile(settings: GraphileSettings, outages: Outages, log: Log): Promise<Graphile> {
  let current = await start(settings, outages, log);
  let isStopAsked = false;
  const countRestart = newRestartLimit();
  const restart = async (): Promise<void> => {
    countRestart();
    log.warn('Graphile Worker lost the database; starting it again');
    current = await outages.outlast(async () => {
      await outages.waitForDatabase();
      return start(settings, outages, log);
    });
  };
  const failed = (async (): Promise<never> => {
    for (;;) {
      const isLost = await current.ended;
      if (isStopAsked) return new Promise<never>(() => {});
      if (!isLost) throw new Error('Graphile Worker stopped without being asked to.');
      await restart();
    }
  })();
  // An unobserved rejection must not crash the process.
  failed.catch((error: unknown) => {
    if (!isStopAsked) log.error({ err: error }, 'graphile-worker stopped');
  });
  return {
    get poolId() {
      return current.poolId;
    },
    failed,
    stop: async () => {
      isStopAsked = true;
      // A runner that has ended by itself refuses to be stopped again.
      await current.runner
        .stop()
        .catch((error: unknown) => log.debug({ err: error }, 'graphile-worker had already stopped'));
    },
  };
}

/** A function that counts a restart, and throws when there were too many within a minute. */
function newRestartLimit(): () => void {
  let restarts: number[] = [];
  return () => {
    const now = performance.now();
    restarts = [...restarts.filter((at) => now - at < 60_000), now];
    if (restarts.length > MAX_RESTARTS_PER_MINUTE) throw new Error('Graphile Worker ended again and again.');
  };
}

async function start(settings: GraphileSettings, { outlast }: Outages, log: Log): Promise<Running> {
  const { url, tickets } = settings;
  const events = new EventEmitter() as WorkerEvents;
  let poolId: string | undefined;
  let isLost = false;
  events.on('pool:create', ({ workerPool }) => (poolId = workerPool.id));
  events.on('pool:fatalError', () => (isLost = true));
  const pgPool = new GraphileConnections({ connectionString: url, max: tickets + 2 }, outlast, log);
  const runner = await run({ ...optionsOf(settings, log), events, pgPool }).catch(async (error: unknown) => {
    await pgPool.end();
    throw error;
  });
  if (poolId === undefined) throw new Error('startGraphile: Graphile Worker named no pool');
  const firstLook = setTimeout(() => {
    isLost = true;
    runner.stop().catch(() => {});
  }, FIRST_LOOK_MS);
  events.once('localQueue:getJobs:complete', () => clearTimeout(firstLook));
  const ended = new Promise<boolean>((resolve) => {
    const end = (): void => {
      clearTimeout(firstLook);
      resolve(isLost);
    };
    // A pool that has failed waits for its jobs, sometimes forever. There is no need to: they end without it.
    events.once('pool:gracefulShutdown', end);
    events.once('pool:forcefulShutdown', end);
    const close = (): void => {
      end();
      void pgPool.end();
    };
    // It resolves when its pool failed as well as when it was stopped.
    runner.promise.then(close, close);
  });
  return { poolId, runner, ended };
}

function optionsOf({ tickets, taskList, stopWithinMs }: GraphileSettings, log: Log): RunnerOptions {
  return {
    taskList,
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => {
      // Graphile logs every job at info; ours are tickets, which nobody needs to see.
      if (level === 'error' || level === 'warning') log.warn(`graphile-worker: ${message}`);
    }),
    preset: {
      worker: {
        concurrentJobs: tickets,
        pollInterval: POLL_MS,
        // As many as run at once: more would be locked here while another host is idle.
        localQueue: { size: tickets },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        gracefulShutdownAbortTimeout: stopWithinMs,
      },
    },
  };
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean) => void,
) => void;

/**
 * Connections for Graphile Worker that wait for a database that is away. By itself, Graphile Worker looks for work
 * again after a second, or after three or more when the database has said that it is starting up.
 */
class GraphileConnections extends pg.Pool {
  readonly #outlast: Outlast;

  constructor(config: pg.PoolConfig, outlast: Outlast, log: Log) {
    super(config);
    this.#outlast = outlast;
    // The code that uses a connection sees its errors as well.
    const note = (error: Error): void => log.debug({ err: error }, 'Graphile Worker lost a connection');
    this.on('error', note);
    this.on('connect', (client) => client.on('error', note));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | void {
    const client = this.#outlast(() => super.connect());
    if (connected === undefined) return client;
    client.then(
      (made) => connected(undefined, made, (release) => made.release(release)),
      (error: Error) => connected(error, undefined, () => {}),
    );
  }
}
