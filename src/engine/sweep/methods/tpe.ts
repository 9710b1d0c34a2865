// TPE: points where earlier variants did well, by the tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and
// Kégl 2011); the first ones are drawn uniformly.
import { uniformVariant } from '../draws.ts';
import type { Coordinates } from '../draws.ts';
import type { SweepMethod, Proposal, SweepHistory } from './sweepMethod.ts';
import { normalCdf, normalQuantile } from '../../report/normal.ts';
import { uniform } from '../seeded.ts';
import { coordinateAt, fractionOf, isNumeric, levelCount, meetsConstraints } from '../space.ts';
import type { Dimension, Space } from '../space.ts';
import type { Tries } from '../tries.ts';

/** The first variants are drawn uniformly, because an estimate from fewer says little. */
const STARTUP_VARIANTS = 24;

export const tpe = {
  name: 'tpe',
  refuses: { budget: null, continuous: null, walkForward: 'chooses variants by results over the whole range' },
  indexCount: (_, budget) => budget,
  takesAll: () => false,
  variantAt: ({ seed }, space, index, tries) => uniformVariant(space, seed, index, tries),
  rounds: { startupVariants: STARTUP_VARIANTS, propose: proposeVariants },
} as const satisfies SweepMethod;

/** How much of the history counts as good: a tenth, at most 25, as in Optuna. */
const goodCount = (count: number): number => Math.min(25, Math.ceil(0.1 * count));
const CANDIDATES = 24;
/** The weight that every mixture spreads evenly over the dimension, so that no place is ever ruled out. */
const PRIOR_WEIGHT = 1;
const MAX_DRAWS = 50;

/**
 * Proposes the coordinates of `count` variants from index `first` on; null for an index for which no point that
 * satisfies the constraints is found. The same history and seed give the same proposals.
 * @param tries is told of every point that is tried, and may throw
 */
function proposeVariants(
  space: Space,
  history: SweepHistory,
  { seed, first, count }: Proposal,
  tries: Tries,
): (Coordinates | null)[] {
  const total = history.scores.length;
  const order = Array.from({ length: total }, (_, at) => at).sort(
    (a, b) => rank(history.scores[b]) - rank(history.scores[a]) || a - b,
  );
  const good = order.slice(0, goodCount(total));
  const bad = order.slice(goodCount(total));
  const models = space.dimensions.map((dimension, at) => {
    const fractions = (rows: readonly number[]): number[] =>
      rows.map((row) => fractionOf(dimension, history.coordinates[at][row]));
    return { good: mixtureOf(dimension, fractions(good)), bad: mixtureOf(dimension, fractions(bad)) };
  });
  return Array.from({ length: count }, (_, offset) => {
    const index = first + offset;
    for (let draw = 0; draw < MAX_DRAWS; draw++) {
      const made = Float64Array.from(space.dimensions, (dimension, at) =>
        bestCandidate(dimension, models[at], seed, index, at, draw),
      );
      const isAllowed = meetsConstraints(space, made);
      tries.drawn(isAllowed, CANDIDATES * space.dimensions.length);
      if (isAllowed) return made;
    }
    return uniformVariant(space, seed, index, tries);
  });
}

const rank = (score: number): number => (score === score ? score : -Infinity);

interface Mixture {
  sample(random: (part: number) => number): number;
  density(fraction: number): number;
}

function bestCandidate(
  dimension: Dimension,
  { good, bad }: { readonly good: Mixture; readonly bad: Mixture },
  seed: number,
  index: number,
  at: number,
  draw: number,
): number {
  let best = 0;
  let bestRatio = -Infinity;
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    const salt = (draw * CANDIDATES + candidate) * 4;
    const fraction = good.sample((part) => uniform(seed, index, at + 1, salt + part));
    const ratio = good.density(fraction) / bad.density(fraction);
    if (ratio > bestRatio) {
      bestRatio = ratio;
      best = fraction;
    }
  }
  return coordinateAt(dimension, Math.min(best, 1 - 1e-12));
}

/** Unordered levels are counted; numbers are the centers of normal kernels, truncated at the ends of the dimension. */
function mixtureOf(dimension: Dimension, fractions: readonly number[]): Mixture {
  return isNumeric(dimension) ? kernelMixture(fractions) : countMixture(levelCount(dimension), fractions);
}

function countMixture(levels: number, fractions: readonly number[]): Mixture {
  const weights = new Float64Array(levels).fill(PRIOR_WEIGHT / levels);
  for (const fraction of fractions) weights[Math.min(levels - 1, Math.floor(fraction * levels))]++;
  const total = fractions.length + PRIOR_WEIGHT;
  return {
    sample(random) {
      let left = random(0) * total;
      let level = 0;
      while (level < levels - 1 && left >= weights[level]) left -= weights[level++];
      return (level + 0.5) / levels;
    },
    density: (fraction) => weights[Math.min(levels - 1, Math.floor(fraction * levels))] / total,
  };
}

/** With more kernels than this, their sum says no more than that of a sample of them. */
const MAX_KERNELS = 200;

function kernelMixture(fractions: readonly number[]): Mixture {
  const every = Math.max(1, Math.ceil(fractions.length / MAX_KERNELS));
  const middles = fractions.filter((_, at) => at % every === 0);
  const spread = Math.max(0.02, 0.4 * Math.max(1, middles.length) ** -0.4);
  const masses = middles.map((middle) => normalCdf((1 - middle) / spread) - normalCdf(-middle / spread));
  const total = middles.length + PRIOR_WEIGHT;
  return {
    sample(random) {
      const chosen = Math.floor(random(0) * total);
      if (chosen >= middles.length) return random(1);
      const low = normalCdf(-middles[chosen] / spread);
      const drawn = middles[chosen] + spread * normalQuantile(low + random(1) * masses[chosen]);
      return Math.min(1, Math.max(0, drawn));
    },
    density(fraction) {
      let sum = PRIOR_WEIGHT;
      middles.forEach((middle, at) => {
        const distance = (fraction - middle) / spread;
        sum += Math.exp(-0.5 * distance * distance) / (Math.sqrt(2 * Math.PI) * spread * masses[at]);
      });
      return sum / total;
    },
  };
}
