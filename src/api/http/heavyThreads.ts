// The threads of heavy requests: one for requests that take a fraction of a second, and one for files that take longer.
import type { Services } from '../services.ts';
import { HeavyQueue, type HeavyRequests, type HeavyThreadOptions } from './heavyQueue.ts';

/** A file of half a gigabyte is read in some ten seconds, and nothing else waits for the thread: half a minute. */
const LONG_TICK_MS = 3_000;
/** Of the texts and rows of a file; the numbers are outside of the heap. */
const LONG_HEAP_MEGABYTES = 1_536;

/** @param begun resolves when the threads may start; requests that come before wait for it */
export const startHeavyRequests = (
  services: Pick<Services, 'sql' | 'config' | 'log'>,
  begun: Promise<unknown> = Promise.resolve(),
  options: HeavyThreadOptions = {},
): HeavyRequests => {
  const asked = { quick: Promise.withResolvers<void>(), long: Promise.withResolvers<void>() };
  if (services.config.warmUp) asked.quick.resolve();
  const quick = new HeavyQueue(services, Promise.all([begun, asked.quick.promise]), options);
  // It has a file to read at once, and is never asked what the samples of a warm-up ask.
  const cold = { ...services, config: { ...services.config, warmUp: false } };
  // Most services never take an upload, and need no second thread.
  const long = new HeavyQueue(cold, Promise.all([begun, asked.long.promise]), {
    ...options,
    tickMs: LONG_TICK_MS,
    heapMegabytes: LONG_HEAP_MEGABYTES,
  });
  return {
    answer: (workspaceId, request, gone) => {
      const kind = request.isLong === true ? 'long' : 'quick';
      asked[kind].resolve();
      return { quick, long }[kind].answer(workspaceId, request, gone);
    },
    state: () => quick.state(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([quick[Symbol.asyncDispose](), long[Symbol.asyncDispose]()]);
    },
  };
};
