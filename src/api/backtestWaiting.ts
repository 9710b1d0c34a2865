// Waiting: requests that stay open until a backtest or a rerun changes, all on one LISTEN connection.
import type { FastifyReply } from 'fastify';
import type { News } from '../db/news.ts';

/** News can be lost with a connection; this is how long a waiter goes without looking for itself. */
const LOOK_AGAIN_MS = 5_000;

export interface WaitOptions {
  readonly news: News;
  readonly id: string;
  readonly timeoutMs: number;
  /** Ends the wait: the client has gone, or the process is stopping. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Calls `look` until it gives something, at once and after every change of `id`.
 * @returns what it gave; undefined when the time was up or a signal came.
 */
export async function waitFor<Found>(
  { news, id, timeoutMs, signals }: WaitOptions,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const stop = AbortSignal.any([...signals, AbortSignal.timeout(timeoutMs)]);
  let wake = (): void => {};
  let isNews = false;
  using subscription = news.subscribe(id, () => {
    isNews = true;
    wake();
  });
  void subscription;
  for (;;) {
    // After subscribing: what changes from here on wakes us.
    isNews = false;
    const found = await look();
    if (found !== undefined || stop.aborted) return found;
    if (!isNews) await nextChange(stop, (resolve) => (wake = resolve));
    if (stop.aborted && !isNews) return look();
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

/** Aborts when the connection is closed before the answer is sent. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
