// The claimer: one for all tickets of a process. It claims for everyone who waits in one statement, and keeps suspects apart.
import type { Claim, Claimed } from '../db/claims.ts';
import { COST_PER_SHARE, RUNS_PER_SHARE, divide } from './shares.ts';

/** Where claims come from; the database, or a test. */
export interface ClaimSource {
  claimDue(maxRuns: number, maxCost: number): Promise<Claimed>;
  claimSuspect(): Promise<Claim | undefined>;
  /** Backtests that the claim itself completed. */
  copied(ids: readonly string[]): Promise<void>;
}

/** A suspect has to wait for the process to be empty, which costs throughput: so only so often while other work is due. */
const CLAIMS_BETWEEN_SUSPECTS = 20;

type Share = readonly Claim[];

export class Claimer {
  readonly #source: ClaimSource;
  #waiting: { readonly give: (share: Share) => void; readonly fail: (error: unknown) => void }[] = [];
  /** Shares that are being worked on. */
  #outstanding = 0;
  #claimsSinceSuspect = 0;
  #isSuspectNext = false;
  /** A suspect runs: nothing else is claimed until it is done. */
  #isAlone = false;
  #isClaiming = false;
  #isClosed = false;

  constructor(source: ClaimSource) {
    this.#source = source;
  }

  /** Does `work` on a share of what is due. @returns false when nothing was. */
  async takeShare(work: (share: Share) => Promise<void>): Promise<boolean> {
    const share = await this.#wait();
    if (share.length === 0) return false;
    try {
      await work(share);
    } finally {
      this.#outstanding--;
      // Whatever was outstanding, if a suspect ran then it was the only one.
      this.#isAlone = false;
      this.#claim();
    }
    return true;
  }

  /** From now on nothing is claimed; who waits gets nothing. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

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
    this.#outstanding++;
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
        if (!this.#isSuspectNext) await this.#claimDue();
        else if (this.#outstanding === 0) await this.#claimSuspect();
        else return;
      }
    } finally {
      // In the same turn as the loop's last look, so that nobody comes between and is overlooked.
      this.#isClaiming = false;
    }
  }

  async #claimSuspect(): Promise<void> {
    this.#isSuspectNext = false;
    this.#claimsSinceSuspect = 0;
    const suspect = await this.#source.claimSuspect();
    if (!suspect) return;
    this.#isAlone = true;
    this.#handOut([[suspect]]);
  }

  async #claimDue(): Promise<void> {
    const count = this.#waiting.length;
    const { runs, copiedIds, hasSuspects } = await this.#source.claimDue(
      count * RUNS_PER_SHARE,
      count * COST_PER_SHARE,
    );
    if (copiedIds.length > 0) await this.#source.copied(copiedIds);
    const isEmpty = runs.length === 0 && copiedIds.length === 0;
    this.#isSuspectNext = hasSuspects && (isEmpty || ++this.#claimsSinceSuspect >= CLAIMS_BETWEEN_SUSPECTS);
    this.#handOut(divide(runs, count));
    // One stays to take the suspect; the others have nothing to wait for, nor has anyone when nothing is due.
    if (isEmpty) for (const waiter of this.#waiting.splice(this.#isSuspectNext ? 1 : 0)) waiter.give([]);
  }

  /** Claims made for waiters that `close` has sent away meanwhile are given to nobody: they go back with the process's other claims. */
  #handOut(shares: Share[]): void {
    for (const share of shares) {
      if (this.#waiting.length > 0) this.#give(share);
    }
  }
}
