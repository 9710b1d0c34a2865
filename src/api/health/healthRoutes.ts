// Health: whether the process lives, whether it can serve, and its numbers for Prometheus.
import { hash, timingSafeEqual } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';
import { collectDefaultMetrics, Histogram, Registry, Gauge } from 'prom-client';
import { z } from 'zod';
import { isStalled, readQueueNumbers } from '../../db/workerProcesses.ts';
import { sentBearer } from '../http/auth/transport.ts';
import type { HeavyState, HeavyRequests } from '../http/heavyQueue.ts';
import { problem } from '../http/problems.ts';
import { problems } from '../http/routeSchemas.ts';
import { measureBacktests, measureTrouble } from './backtestMetrics.ts';
import type { App, Services } from '../services.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Everything registered here is shown at /metrics. */
    readonly metrics: Registry;
  }
}

/** A database that takes longer than this to say `1` is not ready. */
const READY_WITHIN_MS = 2_000;
const Status = z.object({ status: z.literal('ok') });
const Readiness = z.object({
  status: z.enum(['ok', 'degraded']).meta({
    description: 'degraded: large requests wait, because the thread that answers them is silent or being replaced.',
  }),
  heavyRequests: z
    .object({
      isAnswering: z.boolean(),
      waiting: z.int(),
      replacements: z.int().meta({ description: 'Threads that stopped answering and were replaced since the start.' }),
      lastReplacedAt: z.iso
        .datetime()
        .nullable()
        .meta({ description: 'When the last of them was replaced, ISO 8601; null: none was.' }),
    })
    .optional()
    .meta({
      description: 'Present when the thread of heavy requests is silent, or has been replaced since the start.',
    }),
});
const OK = { status: 'ok' } as const;

/** Before the other routes, so that every request is measured. */
export async function healthRoutes(app: App, services: Services): Promise<void> {
  const metrics = new Registry();
  app.decorate('metrics', metrics);
  measureRequests(app, metrics);
  measureBacktests(metrics, services);
  measureTrouble(metrics, services);
  measureHeavyRequests(metrics, app.heavyRequests);

  const schema = { tags: ['Operations'], response: { 200: Status } };
  const config = { isProbe: true };
  app.get('/healthz', { config, schema: { ...schema, summary: 'The process is alive' } }, async () => OK);
  app.get('/health', { config, schema: { ...schema, summary: 'As /healthz' } }, async () => OK);

  const readNumbers = oneAtATime(() => readQueueNumbers(services.sql));
  app.get(
    '/readyz',
    {
      config,
      schema: {
        ...schema,
        summary: 'The database answers, workers take what is due, and the disk has room',
        response: { 200: Readiness, ...problems(503) },
      },
    },
    async () => {
      if (app.drainSignal.aborted) throw problem('UNAVAILABLE', { message: 'The process is stopping.' });
      const numbers = await Promise.race([
        readNumbers().catch(() => null),
        after(READY_WITHIN_MS, null, { ref: false }),
      ]);
      if (numbers === null) throw problem('UNAVAILABLE', { message: 'The database does not answer.' });
      if (isStalled(numbers)) {
        const waited = Math.round(numbers.oldestDueSeconds);
        throw problem('UNAVAILABLE', { message: `Backtests have been due for ${waited} s and no worker takes them.` });
      }
      if (await lacksRoom(services.config.dataDir))
        throw problem('UNAVAILABLE', { message: 'The disk of DATA_DIR is full.' });
      return readiness(app.heavyRequests?.state());
    },
  );

  const { metricsToken } = services.config;
  const readMetrics = oneAtATime(() => metrics.metrics());
  app.get('/metrics', { config, schema: { hide: true } }, async (request, reply) => {
    if (metricsToken !== undefined && !isEqual(sentBearer(request) ?? '', metricsToken))
      throw problem('JWT_INVALID', { message: 'Send METRICS_TOKEN as Authorization: Bearer <token>.' });
    return reply.type(metrics.contentType).send(await readMetrics());
  });
}

/** Small requests are answered without the thread of heavy requests: the process can still serve. */
function readiness(heavy: HeavyState | undefined): z.input<typeof Readiness> {
  if (heavy === undefined || (heavy.isAnswering && heavy.replacements === 0)) return OK;
  const { isAnswering, waiting, replacements, lastReplacedAt } = heavy;
  return {
    status: isAnswering ? 'ok' : 'degraded',
    heavyRequests: { isAnswering, waiting, replacements, lastReplacedAt: lastReplacedAt?.toISOString() ?? null },
  };
}

/** The routes have no limits, so whoever asks while an answer is being made gets that answer. */
function oneAtATime<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => (running ??= make().finally(() => (running = undefined)));
}

/** Compares in constant time, so that the time does not tell how much of a token is right. */
const isEqual = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));

/** The memory, the event loop and the garbage of this process. */
export const measureProcess = (app: App): void => collectDefaultMetrics({ register: app.metrics });

function measureRequests(app: App, registry: Registry): void {
  const duration = new Histogram({
    name: 'candlepool_http_request_seconds',
    help: 'Time from the request line to the last byte of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    // The pattern, not the path: paths with ids would make one series per id.
    const route = request.routeOptions.url ?? 'none';
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    request.log.debug(
      { requestId: request.id, route, status: reply.statusCode, ms: reply.elapsedTime },
      request.method,
    );
  });
}

/** Postgres writes its log in files of 16 MiB, and needs a few of them to start at all. */
const FREE_AT_LEAST_BYTES = 64 << 20;

/** Whether the disk has too little room; false without such a folder, as on a host whose database is elsewhere. */
async function lacksRoom(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => null);
  return found !== null && found.bavail * found.bsize < FREE_AT_LEAST_BYTES;
}

/** The total is a gauge because prom-client's counters cannot be set; it only grows while the process lives. */
const GAUGES: readonly (readonly [name: string, help: string, value: (state: HeavyState) => number])[] = [
  ['thread_answering', '0 while the thread of heavy requests is silent or being replaced.', (at) => +at.isAnswering],
  [
    'thread_replacements_total',
    'Threads of heavy requests that stopped answering and were replaced.',
    (at) => at.replacements,
  ],
  ['requests_waiting', 'Heavy requests that wait for their turn.', (at) => at.waiting],
];

/** Where requests are answered in place, nothing waits and no thread is silent. */
const IN_PLACE: HeavyState = { isAnswering: true, waiting: 0, active: 0, replacements: 0, lastReplacedAt: null };

/** @param heavyRequests null: requests are answered in place */
function measureHeavyRequests(registry: Registry, heavyRequests: HeavyRequests | null): void {
  for (const [name, help, value] of GAUGES) {
    const gauge: Gauge = new Gauge({
      name: `candlepool_heavy_${name}`,
      help,
      registers: [registry],
      collect: () => gauge.set(value(heavyRequests?.state() ?? IN_PLACE)),
    });
  }
}
