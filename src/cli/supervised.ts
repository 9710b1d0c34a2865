// The child's side of the supervisor: it loads everything, waits until it may work, and reports when it works.
import { once } from 'node:events';
import type { Lifetime } from './lifetime.ts';

/** The process may begin to work. */
interface BeginMessage<Ready> {
  readonly event: 'begin';
  /** What the process that this one replaces said about itself. */
  readonly predecessor?: Ready | undefined;
}

/** To a process that stands by, and from a worker: whether the worker of the service has work. */
interface LoadMessage {
  readonly event: 'load';
  readonly isBusy: boolean;
}

/** From a process that works: something about itself. */
interface ReadyMessage<Ready> {
  readonly event: 'ready';
  readonly ready: Ready;
}

export type ToSupervisor<Ready> = ReadyMessage<Ready> | LoadMessage;
export type ToSupervised<Ready> = BeginMessage<Ready> | LoadMessage;

/** How often a worker looks whether it has work, and how long it must have had none to say so. */
const LOOK_MS = 100;
const IDLE_AFTER_MS = 1_000;

/**
 * Waits until the supervisor says that this process may work; a process that stands by waits for as long as another
 * one lives.
 * @returns what the other process said when it was ready
 * @throws the reason of the lifetime's signal
 */
export async function awaitBegin<Ready>({ signal }: Lifetime): Promise<Ready | undefined> {
  const { promise, resolve } = Promise.withResolvers<Ready | undefined>();
  const take = (message: ToSupervised<Ready>): void => {
    isHeldBack = message.event === 'load' && message.isBusy;
    if (message.event === 'begin') resolve(message.predecessor);
  };
  process.on('message', take);
  // Nothing else keeps a waiting process alive.
  process.channel?.ref();
  const aborted = once(signal, 'abort').then((): never => {
    throw signal.reason;
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted]);
  } finally {
    process.off('message', take);
    process.channel?.unref();
  }
}

let isHeldBack = false;

/** Whether this process stands by while another one has work, and should leave it the processor. */
export const standsBack = (): boolean => isHeldBack;

/** Tells the supervisor that this process is working, and something about it. */
export const sayReady = (ready: object): void => say({ event: 'ready', ready });

/** Tells the supervisor, from now on, when this worker gets work and when it has had none for a while. */
export function reportLoad(hasWork: () => boolean): Disposable {
  let isBusy = false;
  let lastWork = -Infinity;
  const look = (): void => {
    const now = performance.now();
    if (hasWork()) lastWork = now;
    const isIdle = now - lastWork > IDLE_AFTER_MS;
    if (isBusy !== isIdle) return;
    isBusy = !isIdle;
    say({ event: 'load', isBusy });
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A supervisor that is gone is told nothing. */
const say = (message: ToSupervisor<object>): void => void process.send?.(message, () => {});
