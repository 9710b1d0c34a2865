// The budget of trades. How many trades a run makes is unknown when it is admitted, so it asks before it makes more.
import { admittedTrades, TRADE_BYTES } from '../plan/estimate.ts';
import type { RunControl, RunError } from '../task.ts';

/**
 * Trades that are handed out at a time. Few: a run may write two logs, and the second must not take what it does not
 * need.
 */
const BLOCK = 1_024;
/**
 * The fewest trades to ask for; a longer log asks for a quarter of its length. An answer takes a tenth of a
 * millisecond.
 */
const LEAST_ASKED = 16_384;

/** Ends a run that may not make more trades. */
export class MemoryRefused extends Error {
  override readonly name = 'MemoryRefused';
  readonly runError: RunError;
  /** True: it needs more than any run may take. False: the pool runs it again once it can have more. */
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

  /** @param bars the number of bars in the series; the run was admitted by it */
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
