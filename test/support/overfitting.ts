// Deflated Sharpe and the probability of over-fitting, computed the slow and obvious way from a table of daily returns.
import type { BlockSums } from '../../src/engine/sweep/overfitting.ts';

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const moment = (values: readonly number[], power: number): number => {
  const center = mean(values);
  return mean(values.map((value) => (value - center) ** power));
};
const sampleSharpe = (values: readonly number[]): number => {
  const deviation = Math.sqrt((moment(values, 2) * values.length) / (values.length - 1));
  return deviation > 1e-15 ? mean(values) / deviation : 0;
};

/** The error function by its series or, beyond 3, by numerical integration of the tail. */
function normalCdf(x: number): number {
  // Simpson's rule from 0 to |x| on 20,000 intervals: slow, and good to 1e-13.
  const steps = 20_000;
  const width = Math.abs(x) / steps;
  const density = (at: number): number => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(0) + density(Math.abs(x));
  for (let step = 1; step < steps; step++) sum += (step % 2 === 1 ? 4 : 2) * density(step * width);
  const half = (sum * width) / 3;
  return x >= 0 ? 0.5 + half : 0.5 - half;
}

/** The inverse of the normal distribution, by bisection. */
function normalQuantile(p: number): number {
  let [low, high] = [-10, 10];
  for (let round = 0; round < 80; round++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

export function slowProbabilisticSharpe(returns: readonly number[], threshold: number): number {
  const s = sampleSharpe(returns);
  const skew = moment(returns, 3) / moment(returns, 2) ** 1.5;
  const kurtosis = moment(returns, 4) / moment(returns, 2) ** 2;
  const spread = 1 - skew * s + ((kurtosis - 1) / 4) * s * s;
  return normalCdf(((s - threshold) * Math.sqrt(returns.length - 1)) / Math.sqrt(spread));
}

/** @param table daily returns of every variant. */
export function slowDeflatedSharpe(table: readonly (readonly number[])[], best: number): number {
  const sharpes = table.filter((returns) => moment(returns, 2) > 0).map(sampleSharpe);
  const center = mean(sharpes);
  const variance = sharpes.reduce((sum, s) => sum + (s - center) ** 2, 0) / (sharpes.length - 1);
  const trials = table.length;
  const gamma = 0.5772156649015329;
  const threshold =
    Math.sqrt(variance) *
    ((1 - gamma) * normalQuantile(1 - 1 / trials) + gamma * normalQuantile(1 - 1 / (trials * Math.E)));
  return slowProbabilisticSharpe(table[best], threshold);
}

/** Tries every choice of half the blocks, and reads every return again for each. */
export function slowOverfittingProbability(table: readonly (readonly number[])[], blocks: number): number {
  const days = table[0].length;
  const size = Math.floor(days / blocks);
  const dropped = days - size * blocks;
  const choices = subsets(blocks, blocks / 2);
  let overfit = 0;
  for (const chosen of choices) {
    const pick = (returns: readonly number[], isChosen: boolean): number[] =>
      returns.slice(dropped).filter((_, day) => chosen.has(Math.floor(day / size)) === isChosen);
    const inSample = table.map((returns) => sampleSharpe(pick(returns, true)));
    const best = inSample.indexOf(Math.max(...inSample));
    const outOfSample = table.map((returns) => sampleSharpe(pick(returns, false)));
    const own = outOfSample[best];
    const rank = outOfSample.filter((s) => s < own).length + (outOfSample.filter((s) => s === own).length + 1) / 2;
    const omega = rank / (table.length + 1);
    if (Math.log(omega / (1 - omega)) <= 0) overfit++;
  }
  return overfit / choices.length;
}

function subsets(of: number, size: number, from = 0): Set<number>[] {
  if (size === 0) return [new Set()];
  const found: Set<number>[] = [];
  for (let first = from; first <= of - size; first++)
    for (const rest of subsets(of, size - 1, first + 1)) found.push(new Set([first, ...rest]));
  return found;
}

/** The daily returns of each variant as block sums, the remainder of the days dropped from the front. */
export const blockSums = (table: readonly (readonly number[])[], blocks: number): BlockSums => {
  const daysPerBlock = Math.floor(table[0].length / blocks);
  const dropped = table[0].length - blocks * daysPerBlock;
  const sums = new Float64Array(table.length * blocks * 2);
  table.forEach((returns, variant) =>
    returns.slice(dropped).forEach((value, day) => {
      const at = 2 * (variant * blocks + Math.floor(day / daysPerBlock));
      sums[at] += value;
      sums[at + 1] += value * value;
    }),
  );
  return { blocks, daysPerBlock, sums };
};
