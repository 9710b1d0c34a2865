// The budget of trades: how many a run makes is not known when it is admitted, so it asks before it makes more.
import { admittedTrades, TRADE_BYTES } from '../plan/estimate.ts';
import type { RunControl, RunError } from '../task.ts';

/** Trades that are handed out at a time: few, because the second log of a run must not take what it does not need. */
const BLOCK = 1_024;
/** The fewest trades to ask for; else a quarter of those there are. An answer takes a tenth of a millisecond. */
const LEAST_ASKED = 16_384;

/** Ends a run that may not make more trades. */
export class MemoryRefused extends Error {
  override readonly name = 'MemoryRefused';
  readonly runError: RunError;
  /** More than any run may take; else the pool runs it again once it can have more. */
  readonly isFinal: boolean;

  constructor(trades: number, isFinal: boolean) {
    const message =
      `This run makes more than ${trades.toLocaleString('en-US')} trades, which need more memory than the worker ` +
      'allows. Use conditions that hold less often, a shorter range, a coarser timeframe, or a worker with more ' +
      'memory.';
    super(message);
    this.runError = { code: 'RESOURCE_LIMIT', path: '', message };
    this.isFinal = isFinal;
  }
}

export class TradeBudget {
  readonly #control: Pick<RunControl, 'mayTake'> | null;
  readonly #admitted: number;
  /** Trades that may be made without asking. */
  #allowed: number;
  #handedOut = 0;

  /** @param bars of the series by which the run was admitted */
  constructor(bars: number, control: Pick<RunControl, 'mayTake'> | null) {
    this.#control = control;
    this.#admitted = admittedTrades(bars);
    this.#allowed = this.#admitted;
  }

  /**
   * @returns how many more trades may be made
   * @throws MemoryRefused
   */
  take(): number {
    if (this.#handedOut + BLOCK > this.#allowed) this.#ask();
    this.#handedOut += BLOCK;
    return BLOCK;
  }

  #ask(): void {
    const wanted = this.#handedOut + Math.max(LEAST_ASKED, this.#handedOut / 4);
    const answer = this.#control?.mayTake?.((wanted - this.#admitted) * TRADE_BYTES) ?? 'yes';
    if (answer !== 'yes') throw new MemoryRefused(this.#handedOut, answer === 'never');
    this.#allowed = wanted;
  }
}
