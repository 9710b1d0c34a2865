// Shard places: how many shards of sweeps and robustness checks a process runs at a time, and which of the due shards
// may take a free place. One workspace never takes all of them, and backtests have tickets of their own.
import type { ClaimFilter } from '../db/claims.ts';
import type { ShardClaim } from '../db/sweepShards.ts';
import { QUICK_SHARD_THREADS, reliefThreads } from '../engine/index.ts';
import { QUICK_SHARD_COST } from './shares.ts';

/** How many places there are; a further one is used only when none of the kinds before it is free. */
interface PlaceLimits {
  /** For shards of any workspace. */
  readonly ordinary: number;
  /** For workspaces that have no shard here, so that the long shards of one never keep out the others'. */
  readonly relief: number;
  /** For shards that cost no more than QUICK_SHARD_COST, of any workspace. */
  readonly quick: number;
}
type Kind = keyof PlaceLimits;

interface Held {
  readonly kind: Kind;
  readonly shard: ShardClaim;
}

/** The places of a process; with each comes a thread, in the same order (engine/pool/admission.ts). */
export const shardPlaces = (threads: number): PlaceLimits => ({
  ordinary: threads,
  relief: reliefThreads(threads),
  quick: QUICK_SHARD_THREADS,
});

/** Tickets that may look for a shard or run one at a time: no more than could find a place. */
export const shardTickets = ({ ordinary, relief, quick }: PlaceLimits): number => ordinary + relief + quick;

/** Claims the next due shard that passes the filter. */
type ClaimShard = (only?: ClaimFilter) => Promise<ShardClaim | undefined>;

export class ShardPlaces {
  readonly #limits: PlaceLimits;
  readonly #held = new Set<Held>();
  /** Tickets that look for a shard or run one. */
  #tickets = 0;
  #lastClaim: Promise<unknown> = Promise.resolve();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Whether there may be due shards that find no place here. */
  get isFull(): boolean {
    return this.#count('ordinary') >= this.#limits.ordinary;
  }

  /**
   * Counts a ticket in before it waits for anything, so that no two tickets are let in for one place.
   * @returns undefined when there are as many tickets as there are places; else what to dispose of at the end
   */
  enter(): Disposable | undefined {
    if (this.#tickets >= shardTickets(this.#limits)) return undefined;
    this.#tickets++;
    return { [Symbol.dispose]: () => void this.#tickets-- };
  }

  /** Claims a shard that may take a free place, and runs it. @returns false when there was none */
  async takeShard(claim: ClaimShard, run: (shard: ShardClaim) => Promise<void>): Promise<boolean> {
    // One claim at a time: the next one counts the place that this one takes.
    const claiming = this.#lastClaim.then(() => this.#claim(claim));
    this.#lastClaim = claiming.catch(() => {});
    const held = await claiming;
    if (held === undefined) return false;
    try {
      await run(held.shard);
    } finally {
      this.#held.delete(held);
    }
    return true;
  }

  async #claim(claim: ClaimShard): Promise<Held | undefined> {
    if (this.#hasFree('ordinary')) return this.#hold('ordinary', await claim());
    if (this.#hasFree('relief')) {
      const workspaces = [...new Set([...this.#held].map(({ shard }) => shard.workspaceId))];
      const held = this.#hold('relief', await claim({ excluded: workspaces }));
      if (held !== undefined) return held;
    }
    return this.#hasFree('quick') ? this.#hold('quick', await claim({ mostCost: QUICK_SHARD_COST })) : undefined;
  }

  #hold(kind: Kind, shard: ShardClaim | undefined): Held | undefined {
    if (shard === undefined) return undefined;
    const held = { kind, shard };
    this.#held.add(held);
    return held;
  }

  #hasFree(kind: Kind): boolean {
    return this.#count(kind) < this.#limits[kind];
  }

  #count(kind: Kind): number {
    let count = 0;
    for (const held of this.#held) if (held.kind === kind) count++;
    return count;
  }
}
