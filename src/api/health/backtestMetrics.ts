// Backtest metrics: the queue and the workers, read from Postgres whenever /metrics is asked for.
import { setTimeout as after } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Sql } from '../../db/connect.ts';
import { readQueueNumbers } from '../../db/workerProcesses.ts';
import type { QueueNumbers } from '../../db/workerProcesses.ts';

/** A database that is away must not hold up the other numbers. */
const READ_WITHIN_MS = 2_000;

type Worker = QueueNumbers['workers'][number];

/**
 * What each worker tells with its heartbeat. Totals are gauges, for prom-client's counters cannot be set; they only
 * grow while a worker lives, so `rate()` of them gives runs and bars a second.
 */
const OF_A_WORKER: readonly (readonly [name: string, help: string, value: (worker: Worker) => number])[] = [
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

export function measureBacktests(registry: Registry, sql: Sql): void {
  // prom-client asks every metric at once: one look at the database answers them all. Without a database the others are
  // still shown.
  let reading: Promise<QueueNumbers | null> | undefined;
  const read = (): Promise<QueueNumbers | null> =>
    (reading ??= Promise.race([
      readQueueNumbers(sql).catch(() => null),
      after(READ_WITHIN_MS, null, { ref: false }),
    ]).finally(() => (reading = undefined)));
  const registers = [registry];
  const depth = new Gauge({
    name: 'candlepool_backtests',
    help: 'Backtests that have not ended.',
    labelNames: ['status'],
    registers,
    async collect() {
      const numbers = await read();
      depth.reset();
      if (numbers === null) return;
      depth.set({ status: 'queued' }, numbers.due);
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
  for (const [name, help, value] of OF_A_WORKER) {
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
