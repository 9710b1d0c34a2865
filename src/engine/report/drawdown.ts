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
 * Between two peaks only a new low can deepen the fall, because 1 - value/peak never grows with value. All other bars
 * therefore cost only two comparisons, and the mean is taken in the same pass: its additions wait for one another.
 */
export function drawdownStatistics(equity: Float64Array, initialBalance: number): DrawdownStatistics {
  let peak = initialBalance;
  let peakIndex = -1;
  let lowest = initialBalance;
  let depth = 0;
  let depthSum = 0;
  let episodes = 0;
  let underwaterBars = 0;
  let longest = 0;
  let money = 0;
  // Compensated as in `compensatedSum`.
  let total = 0;
  let lost = 0;
  const deepest = { depth: 0, peakIndex: -1, troughIndex: -1, recoveredIndex: -1 };
  for (let index = 0; index < equity.length; index++) {
    const value = equity[index];
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
    if (value >= peak) {
      if (depth > 0) {
        depthSum += depth;
        episodes++;
        if (deepest.peakIndex === peakIndex && deepest.recoveredIndex < 0) deepest.recoveredIndex = index;
      }
      const below = index - peakIndex - 1;
      underwaterBars += below;
      if (below > longest) longest = below;
      peak = value;
      lowest = value;
      peakIndex = index;
      depth = 0;
    } else if (value < lowest) {
      lowest = value;
      if (peak - value > money) money = peak - value;
      const fall = 1 - value / peak;
      if (fall > depth) depth = fall;
      if (fall > deepest.depth) {
        deepest.depth = fall;
        deepest.peakIndex = peakIndex;
        deepest.troughIndex = index;
        deepest.recoveredIndex = -1;
      }
    }
  }
  const below = equity.length - peakIndex - 1;
  underwaterBars += below;
  if (below > longest) longest = below;
  if (depth > 0) {
    depthSum += depth;
    episodes++;
  }
  const hasDrawdown = deepest.depth > 0;
  return {
    maxDrawdown: deepest.depth,
    maxDrawdownMoney: money,
    avgDrawdown: episodes === 0 ? null : depthSum / episodes,
    maxDrawdownDurationBars: longest,
    peakIndex: hasDrawdown ? deepest.peakIndex : null,
    troughIndex: hasDrawdown ? deepest.troughIndex : null,
    recoveredIndex: hasDrawdown && deepest.recoveredIndex >= 0 ? deepest.recoveredIndex : null,
    underwaterBars,
    equityPeak: peak,
    meanEquity: equity.length === 0 ? null : (total + lost) / equity.length,
  };
}

/** The fall from the highest equity so far, as a fraction of it. */
export function drawdowns(equity: Float64Array, initialBalance: number): Float64Array {
  let peak = initialBalance;
  return equity.map((value) => {
    if (value > peak) peak = value;
    return 1 - value / peak;
  });
}
