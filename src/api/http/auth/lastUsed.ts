// When each key was last used, written in the background: one statement at a time, and each key once per minute.
import { noteApiKeyUses } from '../../../db/apiKeys.ts';
import type { Sql } from '../../../db/connect.ts';
import type { Log } from '../../../log.ts';

const FLUSH_MS = 500;
const GRACE_MS = 60_000;
/** After this many keys the list of recent writes starts over; the statement itself keeps to once per minute. */
const MAX_KNOWN = 100_000;

export type LastUsed = AsyncDisposable & { note(id: string): void };

/** Dispose to write what is pending. */
export function createLastUsed(sql: Sql, log: Log): LastUsed {
  const noted = new Map<string, number>();
  let pending = new Map<string, Date>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    timer = undefined;
    const uses = [...pending].map(([id, at]) => ({ id, at }));
    pending = new Map();
    if (uses.length === 0) return;
    try {
      await noteApiKeyUses(sql, uses, GRACE_MS);
    } catch (error) {
      // The answer to the caller does not depend on it, and the next use writes it.
      for (const { id } of uses) noted.delete(id);
      log.warn({ err: error }, 'lastUsedAt could not be written');
    }
  };
  return {
    note: (id) => {
      const now = Date.now();
      if (now - (noted.get(id) ?? 0) < GRACE_MS) return;
      if (noted.size >= MAX_KNOWN) noted.clear();
      noted.set(id, now);
      pending.set(id, new Date(now));
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
    },
    [Symbol.asyncDispose]: async () => {
      clearTimeout(timer);
      await flush();
    },
  };
}
