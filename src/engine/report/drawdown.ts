// Drawdown of bar-close equity, the initial balance included as the first peak (semantics §5.1).

export interface DrawdownStatistics {
  /**
   * Largest fall from a peak, as a fraction of the peak: 0 … 1, or more if leverage loses more than the account held.
   */
  readonly maxDrawdown: number;
  /** Largest fall from a peak in money. */
  readonly maxDrawdownMoney: number;
  /** Mean depth of all drawdowns, each from its peak to its recovery; null if there are none. */
  readonly avgDrawdown: number | null;
  /** Longest time below a peak, in bars, recovered or not. */
  readonly maxDrawdownDurationBars: number;
  /**
   * Bars of the deepest drawdown, relative to the first equity mark: the peak (-1: the initial balance), the trough,
   * the recovery.
   */
  readonly peakIndex: number | null;
  readonly troughIndex: number | null;
  readonly recoveredIndex: number | null;
  readonly underwaterBars: number;
  readonly equityPeak: number;
  /** null without a mark. */
  readonly meanEquity: number | null;
}

/**
 * Marks per call of `add`: V8 compiles a function that is called often, and a loop that runs once while it runs, which
 * makes it a third as fast.
 */
const BLOCK_MARKS = 4096;

export function drawdownStatistics(equity: Float64Array, initialBalance: number): DrawdownStatistics {
  const pass = new DrawdownPass(initialBalance);
  for (let from = 0; from < equity.length; from += BLOCK_MARKS)
    pass.add(equity, from, Math.min(from + BLOCK_MARKS, equity.length));
  return pass.statistics(equity.length);
}

class DrawdownPass {
  #peak: number;
  #peakIndex = -1;
  #lowest: number;
  /** Of the drawdown that has not recovered. */
  #depth = 0;
  #depthSum = 0;
  #episodes = 0;
  #underwaterBars = 0;
  #longest = 0;
  #money = 0;
  #deepest = 0;
  #deepestPeak = -1;
  #deepestTrough = -1;
  #deepestRecovery = -1;
  // Compensated as in `compensatedSum`.
  #total = 0;
  #lost = 0;

  constructor(initialBalance: number) {
    this.#peak = initialBalance;
    this.#lowest = initialBalance;
  }

  /**
   * Between two peaks only a new low can deepen the fall, because 1 - value/peak never grows with value. All other bars
   * therefore cost only two comparisons, and the mean is taken in the same pass: its additions wait for one another.
   */
  add(equity: Float64Array, from: number, to: number): void {
    let peak = this.#peak;
    let lowest = this.#lowest;
    let total = this.#total;
    let lost = this.#lost;
    for (let index = from; index < to; index++) {
      const value = equity[index];
      const next = total + value;
      lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
      total = next;
      if (value >= peak) {
        this.#recover(index);
        peak = value;
        lowest = value;
      } else if (value < lowest) {
        lowest = value;
        this.#fall(peak, value, index);
      }
    }
    this.#peak = peak;
    this.#lowest = lowest;
    this.#total = total;
    this.#lost = lost;
  }

  /** A peak at `index`. */
  #recover(index: number): void {
    if (this.#depth > 0) {
      this.#depthSum += this.#depth;
      this.#episodes++;
      if (this.#deepestPeak === this.#peakIndex && this.#deepestRecovery < 0) this.#deepestRecovery = index;
      this.#depth = 0;
    }
    this.#leavePeak(index);
    this.#peakIndex = index;
  }

  /** Counts the bars below the peak up to `index`. */
  #leavePeak(index: number): void {
    const below = index - this.#peakIndex - 1;
    this.#underwaterBars += below;
    if (below > this.#longest) this.#longest = below;
  }

  /** A new low at `index`. */
  #fall(peak: number, value: number, index: number): void {
    if (peak - value > this.#money) this.#money = peak - value;
    const fall = 1 - value / peak;
    if (fall > this.#depth) this.#depth = fall;
    if (fall > this.#deepest) {
      this.#deepest = fall;
      this.#deepestPeak = this.#peakIndex;
      this.#deepestTrough = index;
      this.#deepestRecovery = -1;
    }
  }

  /** Of all `count` marks. */
  statistics(count: number): DrawdownStatistics {
    this.#leavePeak(count);
    const isUnderwater = this.#depth > 0;
    const episodes = this.#episodes + (isUnderwater ? 1 : 0);
    const depthSum = isUnderwater ? this.#depthSum + this.#depth : this.#depthSum;
    const hasDrawdown = this.#deepest > 0;
    return {
      maxDrawdown: this.#deepest,
      maxDrawdownMoney: this.#money,
      avgDrawdown: episodes === 0 ? null : depthSum / episodes,
      maxDrawdownDurationBars: this.#longest,
      peakIndex: hasDrawdown ? this.#deepestPeak : null,
      troughIndex: hasDrawdown ? this.#deepestTrough : null,
      recoveredIndex: hasDrawdown && this.#deepestRecovery >= 0 ? this.#deepestRecovery : null,
      underwaterBars: this.#underwaterBars,
      equityPeak: this.#peak,
      meanEquity: count === 0 ? null : (this.#total + this.#lost) / count,
    };
  }
}

/** The fall from the highest equity so far, as a fraction of it. */
export function drawdowns(equity: Float64Array, initialBalance: number): Float64Array {
  let peak = initialBalance;
  return equity.map((value) => {
    if (value > peak) peak = value;
    return 1 - value / peak;
  });
}
