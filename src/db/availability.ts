// Availability: waiting until a database that is away is back.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { connect } from './connect.ts';
import { isDatabaseAway } from './sqlErrors.ts';

const RETRY_MS = 250;
/** Tries per line in the log, which makes one line every five seconds. */
const TRIES_PER_WARNING = 20;

/**
 * Resolves when the database answers. Without it, a supervised process would end and be started again until then. Waits
 * are random, so that many processes do not return at the same instant.
 * @throws any error that does not mean "away", such as a wrong password; the signal's reason
 */
export async function waitForDatabase(url: string, signal: AbortSignal, log: Log): Promise<void> {
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
