// News: which backtests have just changed, told through LISTEN/NOTIFY. One connection a process, however many wait.
import type { Queryable, Sql } from './connect.ts';

const CHANNELS = {
  /** Ids of backtests whose state or progress changed, or of reruns that are done. */
  changed: 'candlepool_changed',
  /** Ids of running backtests that shall be cancelled. */
  cancel: 'candlepool_cancel',
} as const;
export type NewsKind = keyof typeof CHANNELS;

/** A payload has at most 8,000 bytes; an id takes 37 with its comma. */
const IDS_PER_MESSAGE = 200;

/** Messages leave when the transaction commits. */
export async function tell(sql: Queryable, kind: NewsKind, ids: readonly string[]): Promise<void> {
  const messages: string[] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_MESSAGE) messages.push(ids.slice(at, at + IDS_PER_MESSAGE).join());
  if (messages.length > 0)
    await sql`select pg_notify(${CHANNELS[kind]}, message) from unnest(${messages}::text[]) as message`;
}

/** Calls back with ids as they come; null: the connection was made anew, and news may have been missed. */
export async function listen(
  sql: Sql,
  kind: NewsKind,
  hear: (ids: readonly string[] | null) => void,
): Promise<AsyncDisposable> {
  const subscription = await sql.listen(
    CHANNELS[kind],
    (message) => hear(message.split(',')),
    () => hear(null),
  );
  // A connection that is gone hears nothing any more: stopping must not fail for want of a database.
  return { [Symbol.asyncDispose]: () => subscription.unlisten().catch(() => {}) };
}

/** Waiters by id over one subscription. */
export interface News extends AsyncDisposable {
  /** `wake` is called at every change of `id` from now on. Look at the row after subscribing: what happened before is not told. */
  subscribe(id: string, wake: () => void): Disposable;
}

export async function openNews(sql: Sql): Promise<News> {
  const waiting = new Map<string, Set<() => void>>();
  const subscription = await listen(sql, 'changed', (ids) => {
    for (const id of ids ?? waiting.keys()) for (const wake of waiting.get(id) ?? []) wake();
  });
  return {
    subscribe(id, wake) {
      const waiters = waiting.get(id) ?? new Set();
      waiting.set(id, waiters.add(wake));
      return {
        [Symbol.dispose]() {
          waiters.delete(wake);
          if (waiters.size === 0 && waiting.get(id) === waiters) waiting.delete(id);
        },
      };
    },
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
