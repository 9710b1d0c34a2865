// Statistics of over-fitting (semantics §5.4, §5.5): what the best of many variants is worth, given how many were
// tried.
import { ROUNDING } from '../report/moments.ts';
import { normalQuantile } from '../report/normal.ts';

const EULER_GAMMA = 0.577_215_664_901_532_9;

/**
 * The largest Sharpe ratio to expect from `trials` variants without any skill whose Sharpe ratios have this variance
 * (Bailey and López de Prado 2014, "The deflated Sharpe ratio").
 */
export function expectedMaximum(trials: number, variance: number): number {
  if (trials <= 1) return 0;
  const first = normalQuantile(1 - 1 / trials);
  const second = normalQuantile(1 - 1 / (trials * Math.E));
  return Math.sqrt(variance) * ((1 - EULER_GAMMA) * first + EULER_GAMMA * second);
}

/** The number of equal blocks that days are divided into: 16, or 8 below 160 days, or none below 80. */
export const blockCount = (days: number): number => (days >= 160 ? 16 : days >= 80 ? 8 : 0);

/** Σr and Σr² of every block of every variant: by variant, then by block, two numbers each. */
export interface BlockSums {
  readonly blocks: number;
  readonly daysPerBlock: number;
  readonly sums: Float64Array;
}

/**
 * The probability of backtest over-fitting by combinatorially symmetric cross-validation (Bailey, Borwein, López de
 * Prado and Zhu 2017). A variant whose returns do not vary has performance 0; ties in sample go to the first. null
 * below 80 days or two variants.
 */
export function overfittingProbability({ blocks, daysPerBlock, sums }: BlockSums): number | null {
  if (blocks === 0) return null;
  const variants = sums.length / (2 * blocks);
  if (variants < 2) return null;
  const halves = halfSums(sums, blocks, variants);
  const days = (blocks / 2) * daysPerBlock;
  const one = new Float64Array(variants);
  const other = new Float64Array(variants);
  let overfit = 0;
  let choices = 0;
  // Each half is chosen once and left out once. Both are done together, for the half without the last block.
  for (let chosen = 0; chosen < 1 << (blocks - 1); chosen++) {
    if (bitCount(chosen) !== blocks / 2) continue;
    for (let variant = 0; variant < variants; variant++) {
      one[variant] = halves.sharpe(variant, chosen, days);
      other[variant] = halves.sharpe(variant, ~chosen & ((1 << blocks) - 1), days);
    }
    choices += 2;
    if (isOverfit(one, other)) overfit++;
    if (isOverfit(other, one)) overfit++;
  }
  return overfit / choices;
}

/** Whether the variant that is best in sample is in the lower half of all out of sample. */
function isOverfit(inSample: Float64Array, outOfSample: Float64Array): boolean {
  let best = 0;
  let bestSharpe = -Infinity;
  for (let variant = 0; variant < inSample.length; variant++) {
    if (inSample[variant] > bestSharpe) {
      bestSharpe = inSample[variant];
      best = variant;
    }
  }
  return relativeRank(outOfSample, best) <= 0.5;
}

/** The relative rank ω = k / (N + 1), ties averaged; ln(ω / (1 − ω)) ≤ 0 means ω ≤ 1/2. */
function relativeRank(values: Float64Array, of: number): number {
  const own = values[of];
  let below = 0;
  let equal = 0;
  for (const value of values) {
    if (value < own) below++;
    else if (value === own) equal++;
  }
  return (below + (equal + 1) / 2) / (values.length + 1);
}

interface HalfSums {
  /** Sharpe ratio of the returns in the chosen blocks, one bit per block. */
  sharpe(variant: number, chosen: number, days: number): number;
}

/** Sums over every subset of the first and of the second half of the blocks, so that any choice takes two additions. */
function halfSums(sums: Float64Array, blocks: number, variants: number): HalfSums {
  const half = blocks / 2;
  const subsets = 1 << half;
  const perVariant = 4 * subsets;
  const table = new Float64Array(variants * perVariant);
  for (let variant = 0; variant < variants; variant++) {
    for (let side = 0; side < 2; side++) {
      const at = variant * perVariant + side * 2 * subsets;
      for (let subset = 1; subset < subsets; subset++) {
        const low = 31 - Math.clz32(subset);
        const from = 2 * (variant * blocks + side * half + low);
        const without = at + 2 * (subset ^ (1 << low));
        table[at + 2 * subset] = table[without] + sums[from];
        table[at + 2 * subset + 1] = table[without + 1] + sums[from + 1];
      }
    }
  }
  return {
    sharpe(variant, chosen, days) {
      const low = variant * perVariant + 2 * (chosen & (subsets - 1));
      const high = variant * perVariant + 2 * subsets + 2 * (chosen >>> half);
      return sharpeOf(table[low] + table[high], table[low + 1] + table[high + 1], days);
    },
  };
}

function sharpeOf(sum: number, squares: number, days: number): number {
  const spread = squares - (sum * sum) / days;
  // Squares of equal returns leave rounding behind, as a part of their sum.
  const isRounding = spread <= ROUNDING * squares || spread <= ROUNDING ** 2 * (days - 1);
  return isRounding ? 0 : sum / days / Math.sqrt(spread / (days - 1));
}

function bitCount(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}
