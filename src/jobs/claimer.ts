// The claimer: one per process, for all its tickets. It claims for all waiters in one statement.
import type { Claim, Claimed, ClaimFilter } from '../db/claims.ts';
import { COST_PER_SHARE, RUNS_PER_SHARE } from '../db/tickets.ts';
import { QUICK_COST, divide } from './shares.ts';

/** Claims from the database; another function in tests. */
type ClaimDue = (maxRuns: number, maxCost: number, only?: ClaimFilter) => Promise<Claimed>;

type Share = readonly Claim[];

interface ClaimerLimits {
  /** How many shares are worked on at a time. */
  readonly shares: number;
  /** Further shares for workspaces that have none yet, so that one workspace's slow runs never keep out the others'. */
  readonly reliefShares: number;
  /** Further shares of quick backtests, of any workspace. */
  readonly quickShares: number;
}

export class Claimer {
  readonly #claimDue: ClaimDue;
  #waiting: { readonly give: (share: Share) => void; readonly fail: (error: unknown) => void }[] = [];
  readonly #limits: ClaimerLimits;
  /** Shares that are being worked on. */
  readonly #outstanding = new Set<Share>();
  /** The outstanding shares that were claimed for quick backtests only. */
  readonly #quick = new Set<Share>();
  #isClaiming = false;
  #isClosed = false;

  constructor(claimDue: ClaimDue, limits: ClaimerLimits = { shares: Infinity, reliefShares: 0, quickShares: 0 }) {
    this.#claimDue = claimDue;
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
      this.#quick.delete(share);
      this.#startClaiming();
    }
    return true;
  }

  /** Whether claiming has stopped. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether there may be due work that is left to other processes. */
  get isFull(): boolean {
    return this.#free <= 0;
  }

  /** Stops claiming; waiters receive an empty share. */
  close(): void {
    this.#isClosed = true;
    this.#sendAway();
  }

  #wait(): Promise<Share> {
    if (this.#isClosed) return Promise.resolve([]);
    return new Promise((give, fail) => {
      this.#waiting.push({ give, fail });
      this.#startClaiming();
    });
  }

  #startClaiming(): void {
    if (this.#isClaiming) return;
    void this.#claimWhileAwaited().catch((error: unknown) => {
      for (const waiter of this.#waiting.splice(0)) waiter.fail(error);
    });
  }

  async #claimWhileAwaited(): Promise<void> {
    this.#isClaiming = true;
    try {
      while (this.#waiting.length > 0) await this.#claimNext();
    } finally {
      // In the same turn as the loop's last check, so that no waiter arriving in between is overlooked.
      this.#isClaiming = false;
    }
  }

  /** How many ordinary shares are free; below 0 while relief shares are taken. */
  get #free(): number {
    return this.#limits.shares - (this.#outstanding.size - this.#quick.size);
  }

  /** Claims for the waiters: ordinary shares while any is free, else a relief share, else a quick one. */
  async #claimNext(): Promise<void> {
    const free = this.#free;
    if (free > 0) {
      const count = Math.min(free, this.#waiting.length);
      return this.#handOut(await this.#claimShares(count), count);
    }
    if (-free < this.#limits.reliefShares) {
      const claimed = await this.#claimShares(1, { excluded: this.#workspaces() });
      if (!isEmpty(claimed)) return this.#handOut(claimed, 1);
    }
    if (this.#quick.size >= this.#limits.quickShares) return this.#sendAway();
    return this.#handOut(await this.#claimShares(1, { mostCost: QUICK_COST }), 1, true);
  }

  #claimShares(count: number, only?: ClaimFilter): Promise<Claimed> {
    return this.#claimDue(count * RUNS_PER_SHARE, count * COST_PER_SHARE, only);
  }

  #handOut(claimed: Claimed, count: number, isQuick = false): void {
    for (const share of divide(claimed.runs, count)) {
      // A waiter that `close` has sent away gets none: the claims go back with all others of the process.
      if (this.#waiting.length === 0) break;
      if (isQuick) this.#quick.add(share);
      this.#outstanding.add(share);
      this.#waiting.shift()!.give(share);
    }
    // Nothing was due, so the waiters have nothing to wait for.
    if (isEmpty(claimed)) this.#sendAway();
  }

  #sendAway(): void {
    for (const waiter of this.#waiting.splice(0)) waiter.give([]);
  }

  /** The workspaces whose shares are being worked on. */
  #workspaces(): string[] {
    return [...new Set([...this.#outstanding].flatMap((share) => share.map(({ workspaceId }) => workspaceId)))];
  }
}

const isEmpty = ({ runs, copiedIds }: Claimed): boolean => runs.length === 0 && copiedIds.length === 0;
