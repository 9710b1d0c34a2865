// The lifetime of a process that serves: it ends on a signal or on a failure, and closes what it opened, in bounded time.
import type { Log } from '../log.ts';

/** design §7: a stop is over within ten seconds; half a second is left for the process to go. */
const STOP_WITHIN_MS = 9_500;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** A launcher forwards the signal a terminal has sent to all of us already; only a later one means "at once". */
const IMPATIENT_AFTER_MS = 1_000;

export type Lifetime = {
  /** Resolves at the first signal. */
  readonly stopAsked: Promise<NodeJS.Signals>;
};

/** Call it first: a signal that comes while things are still starting must not kill us half-way. */
export function beginLifetime(): Lifetime {
  let askedAt = 0;
  const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (askedAt !== 0 && Date.now() - askedAt > IMPATIENT_AFTER_MS) process.exit(1);
        askedAt ||= Date.now();
        resolve(signal);
      });
    }
  });
  return { stopAsked };
}

/**
 * Waits for a signal, or for one of `failures` to reject, then closes `opened` and ends the process: code 0 after a
 * signal, 1 after a failure or when closing took too long.
 */
export async function runUntilStopped(
  { stopAsked }: Lifetime,
  opened: AsyncDisposable,
  log: Log,
  failures: readonly Promise<never>[] = [],
): Promise<never> {
  let code = 0;
  try {
    const signal = await Promise.race([stopAsked, ...failures]);
    log.info({ signal }, 'stopping');
  } catch (error) {
    log.fatal({ err: error }, 'stopping after a failure');
    code = 1;
  }
  setTimeout(() => {
    log.error(`not everything was closed within ${STOP_WITHIN_MS} ms`);
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
  try {
    await opened[Symbol.asyncDispose]();
  } catch (error) {
    log.error({ err: error }, 'closing failed');
    code = 1;
  }
  process.exit(code);
}
