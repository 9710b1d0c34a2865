// Waiting for a condition: the one way in which tests wait for something that happens in its own time.
import { setTimeout as sleep } from 'node:timers/promises';

/** A machine that runs other work beside the tests may need this long for what usually takes milliseconds. */
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 10;

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
  const end = performance.now() + ms;
  for (;;) {
    const found = await find();
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<Found, false | null | undefined>;
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what ?? String(find)}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Whether an address answers with a status of 200; for `eventually`. */
export const answersOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
