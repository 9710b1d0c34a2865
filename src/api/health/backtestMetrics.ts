// Backtest metrics: the queue and the workers, read from Postgres whenever /metrics is asked for.
import { statfs } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { readQueueNumbers, readTroubleNumbers } from '../../db/workerProcesses.ts';
import type { QueueNumbers } from '../../db/workerProcesses.ts';
import type { Services } from '../services.ts';

/** A database that is away must not hold up the other numbers. */
const READ_WITHIN_MS = 2_000;

type Worker = QueueNumbers['workers'][number];
type MetricSources = Pick<Services, 'sql' | 'log' | 'config'>;

/**
 * What each worker reports with its heartbeat. Totals are gauges, because prom-client's counters cannot be set; they
 * only grow while a worker lives, so that `rate()` of them is runs and bars per second.
 */
const WORKER_GAUGES: readonly (readonly [name: string, help: string, value: (worker: Worker) => number])[] = [
  ['threads', 'Simulation threads of the worker.', (worker) => worker.threads],
  ['busy_share', 'Share of its threads that are busy, 0 to 1.', (worker) => worker.busyShare],
  ['runs_total', 'Backtests it has ended since it started.', (worker) => worker.runsDone],
  ['bars_total', 'Bars it has simulated since it started.', (worker) => worker.barsDone],
  ['latency_seconds_total', 'Sum of the times from accepted to ended, of those.', (worker) => worker.latencySeconds],
  ['idle_seconds', 'How long it has taken no work.', (worker) => worker.idleSeconds],
  [
    'missing_snapshots',
    'Snapshots that it could not open within the last minute.',
    (worker) => worker.missingSnapshots,
  ],
];

/** Failures, dead workers and the room there is; read like the queue. */
export function measureTrouble(registry: Registry, { sql, log, config }: MetricSources): void {
  const registers = [registry];
  const read = sharedRead(() => readTroubleNumbers(sql), log);
  const failures = new Gauge({
    name: 'candlepool_failures_last_hour',
    help: 'Failed backtests of those accepted within the last hour, by the code of their error.',
    labelNames: ['code'],
    registers,
    async collect() {
      const numbers = await read();
      failures.reset();
      for (const { code, count } of numbers?.failures ?? []) failures.set({ code }, count);
    },
  });
  const deaths = new Gauge({
    name: 'candlepool_worker_deaths_last_hour',
    help: 'Worker processes that died within the last hour; each is started again by its supervisor.',
    registers,
    async collect() {
      deaths.set((await read())?.workerDeaths ?? 0);
    },
  });
  const size = new Gauge({
    name: 'candlepool_database_bytes',
    help: 'Size of the database.',
    registers,
    async collect() {
      size.set((await read())?.databaseBytes ?? 0);
    },
  });
  const free = new Gauge({
    name: 'candlepool_disk_free_bytes',
    help: 'Free bytes on the disk of DATA_DIR.',
    registers,
    async collect() {
      const found = await statfs(config.dataDir).catch(() => null);
      if (found !== null) free.set(found.bavail * found.bsize);
    },
  });
}

/**
 * prom-client asks for every metric at the same time: one query answers them all. Without a database the other metrics
 * are still shown.
 */
function sharedRead<Numbers>(read: () => Promise<Numbers>, log: Services['log']): () => Promise<Numbers | null> {
  let reading: Promise<Numbers | null> | undefined;
  const readNow = (): Promise<Numbers | null> =>
    read().catch((error: unknown) => {
      log.warn({ err: error }, 'numbers of /metrics could not be read');
      return null;
    });
  return () =>
    (reading ??= Promise.race([readNow(), after(READ_WITHIN_MS, null, { ref: false })]).finally(
      () => (reading = undefined),
    ));
}

/** The depth of the queue, and what each worker reports. */
export function measureBacktests(registry: Registry, { sql, log }: MetricSources): void {
  const read = sharedRead(() => readQueueNumbers(sql), log);
  const registers = [registry];
  const depth = new Gauge({
    name: 'candlepool_backtests',
    help:
      'Backtests that have not ended; suspects are queued, and run alone because their worker has ended ' +
      'under them.',
    labelNames: ['status'],
    registers,
    async collect() {
      const numbers = await read();
      depth.reset();
      if (numbers === null) return;
      depth.set({ status: 'queued' }, numbers.queued);
      depth.set({ status: 'suspect' }, numbers.suspects);
      depth.set({ status: 'running' }, numbers.running);
    },
  });
  const oldest = new Gauge({
    name: 'candlepool_oldest_due_seconds',
    help: 'How long the oldest queued backtest has waited.',
    registers,
    async collect() {
      oldest.set((await read())?.oldestDueSeconds ?? 0);
    },
  });
  for (const [name, help, value] of WORKER_GAUGES) {
    const gauge = new Gauge({
      name: `candlepool_worker_${name}`,
      help,
      labelNames: ['worker'],
      registers,
      async collect() {
        const numbers = await read();
        gauge.reset();
        for (const worker of numbers?.workers ?? []) gauge.set({ worker: worker.id }, value(worker));
      },
    });
  }
}
