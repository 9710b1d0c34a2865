// The signals that end a bench: it stops what it started and removes what it made before it ends.
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborted by the first signal, which is the reason. Later ones change nothing: it cleans up once. */
export function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => interrupted.abort(signal));
  return interrupted.signal;
}

/** What a shell would say of a process that the signal has ended. */
export const exitCodeOf = (interrupted: AbortSignal): number =>
  128 + constants.signals[interrupted.reason as (typeof SIGNALS)[number]];
