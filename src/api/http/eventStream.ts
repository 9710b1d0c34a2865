// Event streams: the status and progress of something that runs, until it has ended (server-sent events).
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../services.ts';
import type { Caller } from './auth/keyCheck.ts';
import { clientGone, waitFor } from './waiting.ts';

/** A comment line at this interval keeps proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;

/** The 200 answer of a route that streams events. */
export const EVENT_STREAM = {
  description: 'The stream, which ends when nothing will change any more.',
  content: {
    'text/event-stream': {
      schema: z
        .object({ event: z.enum(['status', 'progress']), data: z.string().meta({ description: 'JSON.' }) })
        .meta({ description: 'Each event of the stream.' }),
    },
  },
};

/** What a stream follows: a row of the database, and how it is shown. */
interface Followed<Row extends { readonly status: string }> {
  readonly id: string;
  readonly first: Row;
  /** The row as it is now; undefined when it is gone. */
  readonly read: () => Promise<Row | undefined>;
  /** Who reads the stream. It ends when their key may no longer read. */
  readonly caller: Caller;
  readonly isTerminal: (row: Row) => boolean;
  /** What counts as a change: an event is sent when this text differs. */
  readonly stateOf: (row: Row) => string;
  /** The data of an event, as JSON. */
  readonly dataOf: (row: Row) => string;
}

/** Answers with one event per change: `status` if the status changed, else `progress`. */
export function sendEvents<Row extends { readonly status: string }>(
  app: App,
  reply: FastifyReply,
  followed: Followed<Row>,
): FastifyReply {
  const signals = [app.drainSignal, clientGone(reply)];
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(events(app, reply.request, followed, signals)));
}

async function* events<Row extends { readonly status: string }>(
  { notifications, authentication }: App,
  request: FastifyRequest,
  { id, first, read, caller, isTerminal, stateOf, dataOf }: Followed<Row>,
  signals: readonly AbortSignal[],
): AsyncGenerator<string> {
  const eventOf = (name: 'status' | 'progress', row: Row): string => `event: ${name}\ndata: ${dataOf(row)}\n\n`;
  let shown = first;
  yield eventOf('status', first);
  while (!isTerminal(shown)) {
    const last = stateOf(shown);
    const next = await waitFor({ request, notifications, id, timeoutMs: KEEP_ALIVE_MS, signals }, async () => {
      // Asked at each change, and otherwise every few seconds (waiting.ts).
      if (!(await authentication.isStillRight(caller, 'backtests_read'))) return { now: undefined };
      const now = await read();
      return now === undefined || stateOf(now) !== last ? { now } : undefined;
    });
    if (signals.some((signal) => signal.aborted)) return;
    if (next === undefined) yield ': still here\n\n';
    else if (next.now === undefined) return;
    else {
      yield eventOf(next.now.status === shown.status ? 'progress' : 'status', next.now);
      shown = next.now;
    }
  }
}
