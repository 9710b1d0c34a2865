// Health: whether the process lives, whether it can serve, and its numbers for Prometheus.
import { setTimeout as after } from 'node:timers/promises';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import { problem } from '../problems.ts';
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
const OK = { status: 'ok' } as const;

/** Before the other routes, so that every request is measured. */
export async function healthRoutes(app: App, services: Services): Promise<void> {
  const metrics = new Registry();
  app.decorate('metrics', metrics);
  collectDefaultMetrics({ register: metrics });
  measureRequests(app, metrics);

  const schema = { tags: ['Operations'], response: { 200: Status } };
  app.get('/healthz', { schema: { ...schema, summary: 'The process is alive' } }, async () => OK);

  app.get('/readyz', { schema: { ...schema, summary: 'The database answers' } }, async () => {
    if (app.drainSignal.aborted) throw problem('UNAVAILABLE', { message: 'The process is stopping.' });
    const answered = await Promise.race([
      services.sql`select 1`.then(
        () => true,
        () => false,
      ),
      after(READY_WITHIN_MS, false, { ref: false }),
    ]);
    if (!answered) throw problem('UNAVAILABLE', { message: 'The database does not answer.' });
    return OK;
  });

  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

function measureRequests(app: App, registry: Registry): void {
  const duration = new Histogram({
    name: 'candlepool_http_request_seconds',
    help: 'Time from the request line to the last byte of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    // The pattern, not the path: a path with ids would make a series an id.
    const route = request.routeOptions.url ?? 'none';
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    request.log.debug(
      { requestId: request.id, route, status: reply.statusCode, ms: reply.elapsedTime },
      request.method,
    );
  });
}
