// The throttle: how often wrong secrets may be tried before argon2 is no longer run for them.

/** A person who mistypes tries a few times; a guesser of 190 bits loses nothing by waiting. */
const WRONG_PER_KEY_AND_ADDRESS = 10;
/** One address may stand for a whole office with several keys, but not for hundreds of wrong ones a minute. */
const WRONG_PER_ADDRESS = 50;
const WINDOW_MS = 60_000;
/** Beyond this many counters the oldest is forgotten, so that inventing addresses cannot fill the memory. */
const MAX_COUNTERS = 20_000;

export type Throttle = {
  /**
   * Counts a try before it is made, so that a thousand at once do not all pass.
   * @returns 0 when it may be made, else the seconds to wait.
   */
  begin(keyId: string, address: string): number;
  /** The try was right after all: it does not count. */
  forgive(keyId: string, address: string): void;
};

/** Counts a process; wrong secrets only cost this process's cores. */
export function createThrottle(now: () => number = Date.now): Throttle {
  const counters = new Map<string, { count: number; until: number }>();
  const counter = (name: string): { count: number; until: number } => {
    const found = counters.get(name);
    if (found !== undefined && found.until > now()) return found;
    counters.delete(name);
    if (counters.size >= MAX_COUNTERS) counters.delete(counters.keys().next().value ?? '');
    const fresh = { count: 0, until: now() + WINDOW_MS };
    counters.set(name, fresh);
    return fresh;
  };
  const countersOf = (keyId: string, address: string) =>
    [
      [counter(`${keyId} ${address}`), WRONG_PER_KEY_AND_ADDRESS],
      [counter(address), WRONG_PER_ADDRESS],
    ] as const;
  return {
    begin: (keyId, address) => {
      const both = countersOf(keyId, address);
      const full = both.find(([{ count }, limit]) => count >= limit);
      if (full !== undefined) return Math.max(1, Math.ceil((full[0].until - now()) / 1000));
      for (const [each] of both) each.count++;
      return 0;
    },
    forgive: (keyId, address) => {
      for (const [each] of countersOf(keyId, address)) each.count = Math.max(0, each.count - 1);
    },
  };
}
