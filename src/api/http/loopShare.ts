// The share of the event loop: how much time of this thread each workspace's requests have used within about a second.

/** What a workspace may use of each second, whatever the others do. */
const OWN_MS = 100;
/**
 * Once all workspaces together have used this much, each may use only a little: about five small backtests per second.
 * One that uses less must not wait in the other thread behind those that use more.
 */
const ALL_MS = 150;
const LITTLE_MS = 25;
/** How long it takes for the weight of used time to halve. */
const HALF_LIFE_MS = 700;
/** Beyond this many workspaces, those that have used next to nothing are dropped. */
const MAX_WORKSPACES = 10_000;
const FORGOTTEN_MS = 1;

interface Use {
  ms: number;
  at: number;
}

interface LoopShare {
  /** Runs `work`, which must be synchronous, and counts its time. */
  measure<Result>(workspaceId: string, work: () => Result): Result;
  /** Counts time of work that is spread over many turns of the loop, and so cannot be measured. */
  add(workspaceId: string, ms: number): void;
  /** Whether the workspace has used its share, so that its next work is better done elsewhere. */
  isSpent(workspaceId: string): boolean;
}

/**
 * Processor time of this thread. Unlike the clock, it does not count the time that the thread waits for a core on a
 * busy machine, which no workspace has used.
 */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * @param now ms; for tests
 * @param usedMs processor time of this thread so far, in ms; for tests
 */
export function createLoopShare(
  now: () => number = () => performance.now(),
  usedMs: () => number = processorMs,
): LoopShare {
  const uses = new Map<string, Use>();
  const all: Use = { ms: 0, at: 0 };
  const current = (use: Use | undefined): number =>
    use === undefined ? 0 : use.ms * 0.5 ** ((now() - use.at) / HALF_LIFE_MS);
  const add = (use: Use, ms: number): void => {
    use.ms = current(use) + ms;
    use.at = now();
  };
  const addTo = (workspaceId: string, ms: number): void => {
    let use = uses.get(workspaceId);
    if (use === undefined) {
      if (uses.size >= MAX_WORKSPACES) for (const [id, each] of uses) if (current(each) < FORGOTTEN_MS) uses.delete(id);
      uses.set(workspaceId, (use = { ms: 0, at: 0 }));
    }
    add(use, ms);
    add(all, ms);
  };
  return {
    add: addTo,
    measure(workspaceId, work) {
      const begun = usedMs();
      try {
        return work();
      } finally {
        addTo(workspaceId, usedMs() - begun);
      }
    },
    isSpent(workspaceId) {
      const own = current(uses.get(workspaceId));
      return own > OWN_MS || (own > LITTLE_MS && current(all) > ALL_MS);
    },
  };
}

/** The share of this thread's event loop. */
export const loopShare = createLoopShare();
