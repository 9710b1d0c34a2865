// Availability: whether an error means that the database is away, and waiting until it is back.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { connect } from './connect.ts';

/**
 * postgres.js names for a lost connection, and the server's own: statement timeout, admin shutdown, crash shutdown,
 * starting up, too many clients.
 */
const AWAY = new Set([
  'CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'CONNECT_TIMEOUT', 'ECONNREFUSED', 'ECONNRESET',
  'ENOENT', 'EPIPE', '57014', '57P01', '57P02', '57P03', '53300',
]); // prettier-ignore

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code);

/** Whether the error means that the database is away: the same query may succeed in a moment. */
export const isDatabaseAway = (error: unknown): boolean => AWAY.has(codeOf(error));

/** Whether Postgres could not extend a file (SQLSTATE 53100). Freeing space is enough; nothing has to be restarted. */
export const isDiskFull = (error: unknown): boolean => codeOf(error) === '53100';

const RETRY_MS = 250;
/** Tries per line in the log, which makes one line every five seconds. */
const TRIES_PER_WARNING = 20;

/**
 * Resolves when the database answers, for a process that could only end and be started again. Waits are random, so that
 * many processes do not return in the same instant.
 * @throws any error that does not mean "away", such as a wrong password; the signal's reason
 */
export async function databaseAnswers(url: string, signal: AbortSignal, log: Log): Promise<void> {
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    const sql = connect(url, { max: 1 });
    try {
      await sql`select 1`;
      return;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (tries % TRIES_PER_WARNING === 0) log.warn({ err: error }, 'the database does not answer, trying again');
    } finally {
      await sql.end({ timeout: 1 });
    }
    await sleep(RETRY_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
  }
}
