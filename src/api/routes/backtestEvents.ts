// Backtest events: a stream of a backtest's status and progress until it has ended (server-sent events).
import { Readable } from 'node:stream';
import { z } from 'zod';
import { findBacktest, isTerminal } from '../../db/backtests.ts';
import type { Backtest } from '../../db/backtests.ts';
import type { News } from '../../db/news.ts';
import { requireKey } from '../auth/authentication.ts';
import { BACKTESTS, progressOf } from '../backtestBodies.ts';
import { clientGone, waitFor } from '../backtestWaiting.ts';
import { API_KEY_SECURITY, IdParams, KEY_PROBLEMS, NoQuery, notFound, pathId, problems } from '../schemas/common.ts';
import type { App, Services } from '../services.ts';

/** A comment line now and then keeps proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;

export function eventRoutes(app: App, { sql }: Services, news: News): void {
  app.get(
    `${BACKTESTS}/:id/events`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        operationId: 'follow_backtest',
        summary: 'Server-sent events `status` and `progress`; the stream ends with the backtest',
        params: IdParams,
        querystring: NoQuery,
        response: {
          200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
          ...problems(...KEY_PROBLEMS, 404),
        },
      },
    },
    async ({ caller, params }, reply) => {
      const id = pathId(params.id, 'backtest');
      const first = await findBacktest(sql, caller.workspaceId, id);
      if (first === undefined) throw notFound('backtest', id);
      const read = () => findBacktest(sql, caller.workspaceId, id);
      const stream = Readable.from(events(first, read, { news, id, signals: [app.drainSignal, clientGone(reply)] }));
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(stream as never);
    },
  );
}

/** One event a change: `status` when the status is another, else `progress`. */
async function* events(
  first: Backtest,
  read: () => Promise<Backtest | undefined>,
  waiting: { readonly news: News; readonly id: string; readonly signals: readonly AbortSignal[] },
): AsyncGenerator<string> {
  let shown = first;
  yield eventOf('status', first);
  while (!isTerminal(shown.status)) {
    const last = textOf(shown);
    const next = await waitFor({ ...waiting, timeoutMs: KEEP_ALIVE_MS }, async () => {
      const now = await read();
      return now === undefined || textOf(now) !== last ? { now } : undefined;
    });
    if (waiting.signals.some((signal) => signal.aborted)) return;
    if (next === undefined) yield ': still here\n\n';
    else if (next.now === undefined) return;
    else {
      yield eventOf(next.now.status === shown.status ? 'progress' : 'status', next.now);
      shown = next.now;
    }
  }
}

const textOf = (backtest: Backtest): string =>
  JSON.stringify({
    id: backtest.id,
    status: backtest.status,
    progress: progressOf(backtest),
    error: backtest.error,
    finishedAt: backtest.finishedAt,
  });

const eventOf = (name: 'status' | 'progress', backtest: Backtest): string =>
  `event: ${name}\ndata: ${textOf(backtest)}\n\n`;
