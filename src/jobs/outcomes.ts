// Outcomes of claims: what happens to a claim when its run is over, and the buffer that stores the outcomes of all
// shares together.
import type { Claim, FinishedRun } from '../db/claims.ts';
import { TIER_LIMITS } from '../tiers.ts';
import type { PoolOutcome, RunError, RunProgress, StopReason } from '../engine/index.ts';

/**
 * How long outcomes may wait for others. A share of small backtests finishes sooner and takes one write, which costs a
 * millisecond however little it stores. Next to a long run, the results of short ones appear after this time.
 */
const STORE_AFTER_MS = 100;

/** A run that has finished, or one that goes back to the queue. */
export type ClaimOutcome =
  | { readonly kind: 'finished'; readonly claim: Claim; readonly run: FinishedRun; readonly bug?: string }
  | { readonly kind: 'returned'; readonly claim: Claim };

const timeLimitError = ({ tier }: Claim): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message:
    `This backtest ran for ${TIER_LIMITS[tier].runSeconds} seconds, which is the limit of the ${tier} tier. Use a ` +
    'shorter range, a coarser timeframe, shorter periods or fewer nodes.',
});
const BUG_ERROR = {
  code: 'INTERNAL_ERROR',
  path: '',
  message:
    'This run failed because of an error in the service. It has been logged; queue it again or report it with its id.',
};
type Ended = Pick<FinishedRun, 'status' | 'error'>;
const STOPPED_RUNS: Readonly<Record<Exclude<StopReason, 'returned'>, (claim: Claim) => Ended>> = {
  cancelled: () => ({ status: 'cancelled', error: null }),
  time_limit: (claim) => ({ status: 'failed', error: timeLimitError(claim) }),
};

export const NOTHING_DONE = { barsDone: 0, barsTotal: 0 };

const emptyRun = (claim: Claim): Omit<FinishedRun, 'status' | 'error'> => ({
  id: claim.id,
  attempt: claim.attempt,
  isCached: false,
  result: null,
  ...NOTHING_DONE,
});

/** What is stored of a claim that fails without having run. */
export const finishedWith = (claim: Claim, error: RunError): FinishedRun => ({
  ...emptyRun(claim),
  status: 'failed',
  error,
});

/** @param isCopy an equal backtest of the same share already has the result */
export function claimOutcomeOf(
  claim: Claim,
  outcome: PoolOutcome,
  { barsDone, barsTotal }: Pick<RunProgress, 'barsDone' | 'barsTotal'>,
  isCopy: boolean,
): ClaimOutcome {
  const ended = { ...emptyRun(claim), barsDone, barsTotal };
  switch (outcome.kind) {
    case 'stopped':
      if (outcome.reason === 'returned') return { kind: 'returned', claim };
      return { kind: 'finished', claim, run: { ...ended, ...STOPPED_RUNS[outcome.reason](claim) } };
    case 'failed': {
      const isBug = outcome.error.code === 'INTERNAL_ERROR';
      const error = { ...(isBug ? BUG_ERROR : outcome.error), ...(outcome.issues && { issues: outcome.issues }) };
      const run = { ...ended, status: 'failed', error } as const;
      return { kind: 'finished', claim, run, ...(isBug && { bug: outcome.error.message }) };
    }
    case 'completed': {
      const run = {
        ...ended,
        result: outcome.result,
        status: 'completed',
        isCached: isCopy,
        error: null,
        barsDone: barsTotal,
      } as const;
      return { kind: 'finished', claim, run };
    }
  }
}

/**
 * Collects the outcomes of all shares: they are stored when one share is complete, or when the first has waited long
 * enough.
 */
export class OutcomeBuffer {
  readonly #store: (outcomes: readonly ClaimOutcome[]) => Promise<void>;
  #waiting: { readonly outcomes: ClaimOutcome[]; readonly stored: PromiseWithResolvers<void> } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: (outcomes: readonly ClaimOutcome[]) => Promise<void>) {
    this.#store = store;
  }

  /** Resolves when the outcome is stored; rejects if it could not be, which need not be observed. */
  add(outcome: ClaimOutcome): Promise<void> {
    this.#waiting ??= { outcomes: [], stored: Promise.withResolvers() };
    const { outcomes, stored } = this.#waiting;
    outcomes.push(outcome);
    this.#timer ??= setTimeout(() => this.send(), STORE_AFTER_MS);
    return stored.promise;
  }

  /** Stores what waits, without waiting for more. */
  send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === undefined) return;
    const { outcomes, stored } = this.#waiting;
    this.#waiting = undefined;
    // Awaited by the shares; until then a rejection must not end the process.
    stored.promise.catch(() => {});
    this.#store(outcomes).then(stored.resolve, stored.reject);
  }
}
