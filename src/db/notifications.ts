// Notifications: which backtests, sweeps and reruns have just changed, and which backtests and sweeps are to be
// cancelled, sent through LISTEN/NOTIFY. One connection per process serves all waiters.
import type { Queryable, Sql } from './connect.ts';

const CHANNELS = {
  /** Ids of backtests and sweeps whose state or progress changed, and of reruns that are done. */
  changed: 'candlepool_changed',
  /** Ids of running backtests and sweeps to be cancelled. */
  cancel: 'candlepool_cancel',
} as const;
type NotificationKind = keyof typeof CHANNELS;

/** A payload has at most 8,000 bytes; an id takes 37 with its comma. */
export const IDS_PER_MESSAGE = 200;

/** Messages leave when the transaction commits. */
export async function notify(sql: Queryable, kind: NotificationKind, ids: readonly string[]): Promise<void> {
  const messages: string[] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_MESSAGE) messages.push(ids.slice(at, at + IDS_PER_MESSAGE).join());
  if (messages.length > 0)
    await sql`select pg_notify(${CHANNELS[kind]}, message) from unnest(${messages}::text[]) as message`;
}

/**
 * The same from within a statement that changes backtests, which saves a round trip and a commit.
 * @param ids SQL of ours: an array of at most IDS_PER_MESSAGE ids
 */
export const changedIn = (sql: Queryable, ids: string) =>
  sql`pg_notify(${CHANNELS.changed}, array_to_string(${sql.unsafe(ids)}, ','))`;

/** Calls back with ids as they come; null: the connection was replaced, and notifications may have been missed. */
export async function listen(
  sql: Sql,
  kind: NotificationKind,
  hear: (ids: readonly string[] | null) => void,
): Promise<AsyncDisposable> {
  const subscription = await sql.listen(
    CHANNELS[kind],
    (message) => hear(message.split(',')),
    () => hear(null),
  );
  // A closed connection receives nothing: stopping must not fail because the database is away.
  return { [Symbol.asyncDispose]: () => subscription.unlisten().catch(() => {}) };
}

/** Waiters by id over one subscription. */
export interface Notifications extends AsyncDisposable {
  /**
   * `wake` is called at every later change of `id`. Read the row after subscribing: earlier changes are not repeated.
   */
  subscribe(id: string, wake: () => void): Disposable;
}

/**
 * Listens from the first subscription on: a process or thread in which nobody waits is not woken by every change. Once
 * it listens, it wakes all waiters, since they may have missed a change.
 */
export function openNotifications(sql: Sql): Notifications {
  const waiting = new Map<string, Set<() => void>>();
  const hear = (ids: readonly string[] | null): void => {
    for (const id of ids ?? waiting.keys()) for (const wake of waiting.get(id) ?? []) wake();
  };
  let listening: Promise<AsyncDisposable | undefined> | undefined;
  return {
    subscribe(id, wake) {
      // postgres.js replaces a connection that is lost or could not be made; those that wait look by themselves.
      listening ??= listen(sql, 'changed', hear).catch(() => undefined);
      const waiters = waiting.get(id) ?? new Set();
      waiting.set(id, waiters.add(wake));
      return {
        [Symbol.dispose]() {
          waiters.delete(wake);
          if (waiters.size === 0 && waiting.get(id) === waiters) waiting.delete(id);
        },
      };
    },
    [Symbol.asyncDispose]: async () => (await listening)?.[Symbol.asyncDispose](),
  };
}
