// The lifetime of a process that opens resources: it ends on a signal or a failure, and closes what it opened in
// bounded time.
import type { Log } from '../log.ts';
import { reportFailure } from './output.ts';

/** A stop takes at most ten seconds; half a second is left for the process to exit. */
const STOP_WITHIN_MS = 9_500;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/**
 * A launcher forwards a signal that the terminal already sent to every process. Only a later one means "immediately".
 */
const IMPATIENT_AFTER_MS = 1_000;

/** Disposing restores the default effect of signals: to end the process immediately. */
export type Lifetime = Disposable & {
  /** Resolves at the first signal. */
  readonly stopAsked: Promise<NodeJS.Signals>;
  /** Aborted by the first signal, with a StopAsked as its reason; for steps that take time to start. */
  readonly signal: AbortSignal;
};

/** A signal arrived during the start, which is not a failure. */
export class StopAsked extends Error {
  override readonly name = 'StopAsked';
  readonly asked: NodeJS.Signals;
  constructor(asked: NodeJS.Signals) {
    super(`stopped by ${asked}`);
    this.asked = asked;
  }
}

/** Stops the current lifetime; undefined outside of one. */
let askToStop: ((signal: NodeJS.Signals) => void) | undefined;

/**
 * Call this first: a signal that arrives during the start must not end the process halfway.
 * @param onImpatience called on a signal that arrives a second or more after the first.
 */
export function beginLifetime(onImpatience: () => void = () => process.exit(1)): Lifetime {
  const controller = new AbortController();
  let askedAt = 0;
  const { promise: stopAsked, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const stop = (signal: NodeJS.Signals): void => {
    if (askedAt !== 0 && Date.now() - askedAt > IMPATIENT_AFTER_MS) onImpatience();
    askedAt ||= Date.now();
    resolve(signal);
    controller.abort(new StopAsked(signal));
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  askToStop = stop;
  return {
    stopAsked,
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, stop);
      askToStop = undefined;
    },
  };
}

/** Runs a service in its own lifetime. A signal during the start ends the process like a later one, with code 0. */
export async function runInLifetime(run: (lifetime: Lifetime) => Promise<void>): Promise<void> {
  const lifetime = beginLifetime();
  try {
    await run(lifetime);
  } catch (error) {
    // What was opened is already closed here.
    if (error instanceof StopAsked) process.exit(0);
    throw error;
  }
}

/**
 * A reader that stops reading (head, a closed pager, a closed terminal) is not a failure. It ends the process:
 * immediately, or like a signal if open resources must be closed. Output that goes to a full disk is a failure.
 */
export function endWhenReaderStops(): void {
  for (const [name, stream] of [
    ['the output', process.stdout],
    ['the error output', process.stderr],
  ] as const) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isFull = error.code === 'ENOSPC' && askToStop === undefined;
      if (isFull) process.exit(reportFailure(Object.assign(error, { path: name }), process.argv.includes('--json')));
      // EIO: the terminal was closed.
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      if (askToStop === undefined) process.exit(0);
      askToStop('SIGHUP');
    });
  }
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
