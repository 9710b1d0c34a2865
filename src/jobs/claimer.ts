// The claimer: one per process, for all its tickets. It claims for all waiters in one statement, and runs crash
// suspects alone.
import type { Claim, Claimed } from '../db/claims.ts';
import { COST_PER_SHARE, RUNS_PER_SHARE, divide } from './shares.ts';

/** Where claims come from; the database, or a test. */
export interface ClaimSource {
  claimDue(maxRuns: number, maxCost: number, excluded: readonly string[]): Promise<Claimed>;
  claimCrashSuspect(): Promise<Claim | undefined>;
  /** Backtests that the claim itself completed. */
  copied(ids: readonly string[]): Promise<void>;
}

/**
 * A crash suspect waits until the process is idle, which costs throughput; so this many claims come between two
 * suspects.
 */
const CLAIMS_BETWEEN_CRASH_SUSPECTS = 20;

type Share = readonly Claim[];

export class Claimer {
  readonly #source: ClaimSource;
  #waiting: { readonly give: (share: Share) => void; readonly fail: (error: unknown) => void }[] = [];
  readonly #limits: { readonly shares: number; readonly reliefShares: number };
  /** Shares that are being worked on. */
  readonly #outstanding = new Set<Share>();
  #claimsSinceCrashSuspect = 0;
  #isCrashSuspectNext = false;
  /** A crash suspect is running: nothing else is claimed until it is done. */
  #isAlone = false;
  #isClaiming = false;
  #isClosed = false;

  /**
   * @param limits how many shares are worked on at a time; `reliefShares` more for workspaces of which none of them is,
   * so that nobody's slow runs keep others from being claimed.
   */
  constructor(
    source: ClaimSource,
    limits: { readonly shares: number; readonly reliefShares: number } = { shares: Infinity, reliefShares: 0 },
  ) {
    this.#source = source;
    this.#limits = limits;
  }

  /** Does `work` on a share of what is due. @returns false when nothing was. */
  async takeShare(work: (share: Share) => Promise<void>): Promise<boolean> {
    const share = await this.#wait();
    if (share.length === 0) return false;
    try {
      await work(share);
    } finally {
      this.#outstanding.delete(share);
      // If a crash suspect ran, it was the only share outstanding.
      this.#isAlone = false;
      this.#claim();
    }
    return true;
  }

  /** Whether claiming has stopped. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether there may be due work that is left to other processes. */
  get isFull(): boolean {
    return this.#outstanding.size >= this.#limits.shares;
  }

  /** Stops claiming; waiters receive an empty share. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.give([]);
  }

  #wait(): Promise<Share> {
    if (this.#isClosed) return Promise.resolve([]);
    return new Promise((give, fail) => {
      this.#waiting.push({ give, fail });
      this.#claim();
    });
  }

  #give(share: Share): void {
    this.#outstanding.add(share);
    this.#waiting.shift()!.give(share);
  }

  #claim(): void {
    if (this.#isClaiming) return;
    void this.#claimForAll().catch((error: unknown) => {
      for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
    });
  }

  async #claimForAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      while (this.#waiting.length > 0 && !this.#isAlone) {
        if (!this.#isCrashSuspectNext) await this.#claimDue();
        else if (this.#outstanding.size === 0) await this.#claimCrashSuspect();
        else return;
      }
    } finally {
      // In the same turn as the loop's last check, so that no waiter arriving in between is overlooked.
      this.#isClaiming = false;
    }
  }

  async #claimCrashSuspect(): Promise<void> {
    this.#isCrashSuspectNext = false;
    this.#claimsSinceCrashSuspect = 0;
    const suspect = await this.#source.claimCrashSuspect();
    if (!suspect) return;
    this.#isAlone = true;
    this.#handOut([[suspect]]);
  }

  async #claimDue(): Promise<void> {
    const free = this.#limits.shares - this.#outstanding.size;
    if (-free >= this.#limits.reliefShares) return this.#sendAway(0);
    const count = free > 0 ? Math.min(free, this.#waiting.length) : 1;
    const { runs, copiedIds, hasCrashSuspects } = await this.#source.claimDue(
      count * RUNS_PER_SHARE,
      count * COST_PER_SHARE,
      free > 0 ? [] : this.#workspaces(),
    );
    if (copiedIds.length > 0) await this.#source.copied(copiedIds);
    const isEmpty = runs.length === 0 && copiedIds.length === 0;
    this.#isCrashSuspectNext =
      hasCrashSuspects && (isEmpty || ++this.#claimsSinceCrashSuspect >= CLAIMS_BETWEEN_CRASH_SUSPECTS);
    this.#handOut(divide(runs, count));
    // One waiter stays to take the crash suspect; the others have nothing to wait for.
    if (isEmpty) this.#sendAway(this.#isCrashSuspectNext ? 1 : 0);
  }

  #sendAway(kept: number): void {
    for (const waiter of this.#waiting.splice(kept)) waiter.give([]);
  }

  /** Whose shares are being worked on. */
  #workspaces(): string[] {
    return [...new Set([...this.#outstanding].flatMap((share) => share.map(({ workspaceId }) => workspaceId)))];
  }

  /** Claims whose waiters `close` has sent away are not handed out: they go back with the process's other claims. */
  #handOut(shares: Share[]): void {
    for (const share of shares) {
      if (this.#waiting.length > 0) this.#give(share);
    }
  }
}
