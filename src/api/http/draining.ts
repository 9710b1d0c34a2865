// Draining: lets a stopping process answer what it has begun, end its waiters, and send keep-alive clients elsewhere.
import type { App } from '../services.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the process begins to stop: long polls answer what they know, event streams end. */
    readonly drainSignal: AbortSignal;
  }
}

/** When the process begins to stop: ends waiting answers, and closes each connection with its next answer. */
export function drainGracefully(app: App): void {
  const controller = new AbortController();
  app.decorate('drainSignal', controller.signal);
  app.addHook('preClose', async () => controller.abort());
  // Without this, close() waits until every idle keep-alive client closes its connection.
  app.addHook('onSend', async (_request, reply) => {
    if (controller.signal.aborted) reply.header('connection', 'close');
  });
}
