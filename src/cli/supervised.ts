// The child's side of the supervisor: it loads everything, waits until it may work, and says that it does.
import { once } from 'node:events';
import type { Lifetime } from './lifetime.ts';

/** What the supervisor sends once. */
export interface BeginMessage<Ready> {
  readonly event: 'begin';
  /** What the process said about itself whose place this one takes. */
  readonly predecessor?: Ready | undefined;
}

/**
 * Waits until the supervisor says that this process may work, which can be as long as another one lives.
 * @returns what that other one said when it was ready
 * @throws the reason of the lifetime's signal
 */
export async function awaitBegin<Ready>({ signal }: Lifetime): Promise<Ready | undefined> {
  // Nothing else keeps a process that waits alive.
  process.channel?.ref();
  const [begin] = (await once(process, 'message', { signal }).catch(() => {
    throw signal.reason;
  })) as [BeginMessage<Ready>];
  process.channel?.unref();
  return begin.predecessor;
}

/** Tells the supervisor that this process works. */
export const sayReady = (ready: object): void => void process.send?.(ready, () => {});
