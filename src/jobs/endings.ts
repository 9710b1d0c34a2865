// Endings: what becomes of a claim when its run is over, and how the endings of a share are kept together until they are stored.
import type { Claim, FinishedRun } from '../db/claims.ts';
import type { PoolOutcome, RunProgress, StopReason } from '../engine/index.ts';

/** A share of small backtests is done in less, and is then one write; beside a long one, the short ones are seen after this. */
const STORE_AFTER_MS = 50;

/** A run that is done with, or one that goes back to the queue. */
export type Ending =
  | { readonly kind: 'finished'; readonly claim: Claim; readonly run: FinishedRun; readonly bug?: string }
  | { readonly kind: 'returned'; readonly claim: Claim };

const TIME_LIMIT_ERROR = {
  code: 'TIME_LIMIT',
  path: '',
  message: 'This backtest took longer than a run may take. Use a shorter range or a coarser timeframe.',
};
const BUG_ERROR = { code: 'INTERNAL_ERROR', path: '', message: 'Something went wrong on our side.' };
const ENDINGS: Readonly<Record<Exclude<StopReason, 'returned'>, Pick<FinishedRun, 'status' | 'error'>>> = {
  cancelled: { status: 'cancelled', error: null },
  time_limit: { status: 'failed', error: TIME_LIMIT_ERROR },
};

export const NOTHING_DONE = { barsDone: 0, barsTotal: 0 };

/** `isCopy`: an equal backtest beside it has the result already. */
export function endingOf(
  claim: Claim,
  outcome: PoolOutcome,
  { barsDone, barsTotal }: Pick<RunProgress, 'barsDone' | 'barsTotal'>,
  isCopy: boolean,
): Ending {
  const nothing = {
    id: claim.id,
    attempt: claim.attempt,
    isCached: false,
    summary: null,
    detail: null,
    resolvedConfig: null,
    reproducibility: null,
    warnings: [],
    barsDone,
    barsTotal,
  };
  switch (outcome.kind) {
    case 'stopped':
      if (outcome.reason === 'returned') return { kind: 'returned', claim };
      return { kind: 'finished', claim, run: { ...nothing, ...ENDINGS[outcome.reason] } };
    case 'failed': {
      const isBug = outcome.error.code === 'INTERNAL_ERROR';
      const error = { ...(isBug ? BUG_ERROR : outcome.error), ...(outcome.issues && { issues: outcome.issues }) };
      const run = { ...nothing, status: 'failed', error } as const;
      return { kind: 'finished', claim, run, ...(isBug && { bug: outcome.error.message }) };
    }
    case 'completed': {
      const { kind: _, ...result } = outcome;
      const run = {
        ...nothing,
        ...result,
        status: 'completed',
        isCached: isCopy,
        error: null,
        barsDone: barsTotal,
      } as const;
      return { kind: 'finished', claim, run };
    }
  }
}

/** Keeps endings of a share together: they are stored when all are there, or when the first has waited long enough. */
export class EndingBuffer {
  readonly #store: (endings: readonly Ending[]) => Promise<void>;
  #endings: Ending[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #stored: Promise<void>[] = [];

  constructor(store: (endings: readonly Ending[]) => Promise<void>) {
    this.#store = store;
  }

  add(ending: Ending): void {
    this.#endings.push(ending);
    this.#timer ??= setTimeout(() => this.#send(), STORE_AFTER_MS);
  }

  /** Resolves when everything that was added is stored; rejects if something could not be. */
  async flush(): Promise<void> {
    this.#send();
    await Promise.all(this.#stored);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#endings.length === 0) return;
    const sent = this.#store(this.#endings);
    // It is awaited in flush; until then a rejection must not end the process.
    sent.catch(() => {});
    this.#stored.push(sent);
    this.#endings = [];
  }
}
