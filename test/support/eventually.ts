// Waiting for a condition: the one way in which tests wait for something that happens in its own time.
import { setTimeout as sleep } from 'node:timers/promises';

/** A machine that runs other work beside the tests may need this long for what usually takes milliseconds. */
const PATIENCE_MS = 120_000;
/** The pause between two tries, which can be requests and queries: short at first, then longer. */
const LOOK_EVERY_MS = { least: 10, most: 50 };

interface Waiting {
  /** What is waited for, for the message of a failure. */
  readonly what?: string;
  readonly ms?: number;
}

/**
 * Looks at `find` every few milliseconds until it answers with anything but false, null or undefined.
 * @returns what it answered
 * @throws when that takes longer than `ms`
 */
export async function eventually<Found>(
  find: () => Promise<Found> | Found,
  { what, ms = PATIENCE_MS }: Waiting = {},
): Promise<Exclude<Found, false | null | undefined>> {
  const begun = performance.now();
  for (;;) {
    const found = await find();
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<Found, false | null | undefined>;
    const waitedMs = performance.now() - begun;
    if (waitedMs > ms) throw new Error(`not within ${ms} ms: ${what ?? String(find)}`);
    await sleep(Math.min(Math.max(LOOK_EVERY_MS.least, waitedMs / 20), LOOK_EVERY_MS.most));
  }
}

/** Whether an address answers with a status of 200; for `eventually`. */
export const answersOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
