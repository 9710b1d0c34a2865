// Waiting: keeps requests open until a backtest, a sweep or a rerun changes, all on one LISTEN connection.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTerminal, type RunStatus } from '../../db/runStatus.ts';
import { openNotifications, type Notifications } from '../../db/notifications.ts';
import type { App, Services } from '../services.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The one subscription of this process to what changes in the database. */
    readonly notifications: Notifications;
  }
}

/** Must be called before routes that wait are registered. */
export function listenForChanges(app: App, { sql }: Pick<Services, 'sql'>): void {
  const notifications = openNotifications(sql);
  app.decorate('notifications', notifications);
  app.addHook('onClose', () => notifications[Symbol.asyncDispose]());
}

/** Notifications can be lost with a connection, so a waiter checks for itself at this interval. */
const LOOK_AGAIN_MS = 5_000;

interface WaitOptions {
  /** The waiting request, which is not counted as in flight. */
  readonly request: FastifyRequest;
  readonly notifications: Notifications;
  readonly id: string;
  readonly timeoutMs: number;
  /** Ends the wait: the client disconnected, or the process is stopping. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Calls `look` until it returns something: immediately, and after every change of `id`.
 * @returns what it returned; undefined if time ran out or a signal came.
 */
export async function waitFor<Found>(
  { request, notifications, id, timeoutMs, signals }: WaitOptions,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const stop = AbortSignal.any([...signals, AbortSignal.timeout(timeoutMs)]);
  let wake = (): void => {};
  let hasChanged = false;
  using subscription = notifications.subscribe(id, () => {
    hasChanged = true;
    wake();
  });
  void subscription;
  for (;;) {
    // Subscribed first, so that any change from here on wakes this waiter.
    hasChanged = false;
    const found = await (request.flight?.inTurn(look) ?? look());
    if (found !== undefined || stop.aborted) return found;
    if (!hasChanged) {
      const change = nextChange(stop, (resolve) => (wake = resolve));
      await (request.flight?.pause(change) ?? change);
    }
    if (stop.aborted && !hasChanged) return look();
  }
}

function nextChange(stop: AbortSignal, onWake: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, LOOK_AGAIN_MS);
    stop.addEventListener('abort', done, { once: true });
    onWake(done);
    function done(): void {
      clearTimeout(timer);
      stop.removeEventListener('abort', done);
      resolve();
    }
  });
}

/**
 * Returns once something has ended or does not exist, time is up, the client disconnects or the process stops.
 * @param readStatus undefined: it does not exist
 */
export async function waitForEnd(
  app: App,
  reply: FastifyReply,
  id: string,
  timeoutMs: number,
  readStatus: () => Promise<RunStatus | undefined>,
): Promise<void> {
  const signals = [app.drainSignal, clientGone(reply)];
  await waitFor({ request: reply.request, notifications: app.notifications, id, timeoutMs, signals }, async () => {
    const status = await readStatus();
    return status === undefined || isTerminal(status) ? true : undefined;
  });
}

/** Aborts when the connection is closed before the answer is sent. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
