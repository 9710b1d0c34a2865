// The child's side of the supervisor: it loads everything, waits until it may work, and reports when it works.
import { once } from 'node:events';
import type { Lifetime } from './lifetime.ts';

/** The only message of the supervisor: the process may begin to work. */
export interface BeginMessage<Ready> {
  readonly event: 'begin';
  /** What the process that this one replaces said about itself. */
  readonly predecessor?: Ready | undefined;
}

/**
 * Waits until the supervisor says that this process may work; a process that stands by waits for as long as another
 * one lives.
 * @returns what the other process said when it was ready
 * @throws the reason of the lifetime's signal
 */
export async function awaitBegin<Ready>({ signal }: Lifetime): Promise<Ready | undefined> {
  // Nothing else keeps a waiting process alive.
  process.channel?.ref();
  const [begin] = (await once(process, 'message', { signal }).catch(() => {
    throw signal.reason;
  })) as [BeginMessage<Ready>];
  process.channel?.unref();
  return begin.predecessor;
}

/** Tells the supervisor that this process is working, and something about it. */
export const sayReady = (ready: object): void => void process.send?.(ready, () => {});
