// The throttle: how often wrong secrets may be tried before argon2 is no longer run for them.

/** A person who mistypes tries a few times. More tries do not help to guess 190 bits; they only cost argon2 runs. */
const WRONG_PER_KEY_AND_ADDRESS = 10;
/**
 * An office with several keys behind one address mistypes more often. Counted per workspace: behind a proxy everybody
 * has the same address, and one tenant's wrong secrets must not lock out the others.
 */
const WRONG_PER_WORKSPACE_AND_ADDRESS = 50;
const WINDOW_MS = 60_000;
/** Beyond this many counters the oldest is forgotten, so that inventing addresses cannot fill the memory. */
const MAX_COUNTERS = 20_000;

export interface Throttle {
  /**
   * Counts a try before it is made, so that a thousand at once do not all pass.
   * @returns 0 when it may be made, else the seconds to wait.
   */
  begin(keyId: string, workspaceId: string, address: string): number;
  /** The try was right after all: it does not count. */
  forgive(keyId: string, workspaceId: string, address: string): void;
}

/** Counts of one process; wrong secrets only cost this process's cores. */
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
  const countersOf = (keyId: string, workspaceId: string, address: string) =>
    [
      [counter(`${keyId} ${address}`), WRONG_PER_KEY_AND_ADDRESS],
      [counter(`${workspaceId} ${address}`), WRONG_PER_WORKSPACE_AND_ADDRESS],
    ] as const;
  return {
    begin: (keyId, workspaceId, address) => {
      const both = countersOf(keyId, workspaceId, address);
      const full = both.find(([{ count }, limit]) => count >= limit);
      if (full !== undefined) return Math.max(1, Math.ceil((full[0].until - now()) / 1000));
      for (const [each] of both) each.count++;
      return 0;
    },
    forgive: (keyId, workspaceId, address) => {
      for (const [each] of countersOf(keyId, workspaceId, address)) each.count = Math.max(0, each.count - 1);
    },
  };
}
