// Availability: waiting until a database that cannot be reached answers again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { connect } from './connect.ts';
import { describeUnreachable, isDatabaseAway } from './sqlErrors.ts';

const RETRY_MS = 250;
/** Tries per line in the log, which makes one line every five seconds. */
const TRIES_PER_WARNING = 20;

/**
 * Resolves when the database answers. Without this wait, a supervised process would end and be started again until
 * then. Pauses are random, so that many processes do not return at the same instant.
 * @param withinMs after which the last error is thrown; for a first start, where the address may be wrong
 * @throws any error that does not mean "away", such as a wrong password; the signal's reason
 */
export async function waitForDatabase(url: string, signal: AbortSignal, log: Log, withinMs = Infinity): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    const sql = connect(url, { max: 1 });
    try {
      await sql`select 1`;
      return;
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() > deadline) throw error;
      // Logged without the stack, which says nothing about the database.
      const reason = describeUnreachable(error) ?? (error as Error).message;
      if (tries % TRIES_PER_WARNING === 0)
        log.warn({ reason }, `the database does not answer, ${triesUntil(deadline)}`);
    } finally {
      await sql.end({ timeout: 1 });
    }
    await sleep(RETRY_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
  }
}

const triesUntil = (deadline: number): string =>
  Number.isFinite(deadline) ? `trying for ${Math.ceil((deadline - Date.now()) / 1000)} more seconds` : 'trying again';
