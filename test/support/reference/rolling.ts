// Rolling operations over the last values of a series, each from its textbook formula.
import { exactSum } from './exactSum.ts';

/** Values in one window: percentile_rank ranks the last among `period` before it. */
export const windowLength = (op: string, period: number): number => (op === 'percentile_rank' ? period + 1 : period);

export function rollingOf(op: string, window: readonly number[], quantile = 0.5): number {
  const n = window.length;
  const last = window[n - 1];
  const mean = exactSum(window) / n;
  switch (op) {
    case 'max':
      return Math.max(...window);
    case 'min':
      return Math.min(...window);
    case 'sum':
      return exactSum(window);
    case 'avg':
      return mean;
    case 'var':
      return variance(window, mean);
    case 'std':
      return Math.sqrt(variance(window, mean));
    case 'zscore': {
      const deviation = Math.sqrt((variance(window, mean) * n) / (n - 1));
      // As the indicator of that id: a flat window, one value included, scores 0.
      return !(deviation > 0) ? 0 : (last - mean) / deviation;
    }
    case 'median':
      return percentile(window, 0.5);
    case 'quantile':
      return percentile(window, quantile);
    case 'percentile_rank':
      return (100 * window.filter((x) => x < last).length) / (n - 1);
    case 'slope': {
      const middle = (n - 1) / 2;
      const across = exactSum(window.map((x, i) => (i - middle) * (x - mean)));
      return n < 2 ? NaN : across / exactSum(window.map((_, i) => (i - middle) ** 2));
    }
    case 'argmax':
      return n - 1 - window.lastIndexOf(Math.max(...window));
    case 'argmin':
      return n - 1 - window.lastIndexOf(Math.min(...window));
    default:
      throw new Error(`No rolling operation ${op}.`);
  }
}

/** Population variance; a flat window has none at all. */
function variance(window: readonly number[], mean: number): number {
  if (window.every((x) => x === window[0])) return 0;
  return exactSum(window.map((x) => (x - mean) ** 2)) / window.length;
}

/** Linear between the ranks. */
function percentile(window: readonly number[], share: number): number {
  const sorted = window.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.ceil(at);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

export function mathOf(op: string, args: readonly number[]): number {
  if (args.some(Number.isNaN)) return NaN;
  const [a, b] = args;
  switch (op) {
    case 'add':
      return args.reduce((x, y) => x + y);
    case 'sub':
      return args.reduce((x, y) => x - y);
    case 'mul':
      return args.reduce((x, y) => x * y);
    case 'div':
      return args.reduce((x, y) => (y === 0 ? NaN : x / y));
    case 'min':
      return Math.min(...args);
    case 'max':
      return Math.max(...args);
    case 'abs':
      return Math.abs(a);
    case 'neg':
      return -a;
    case 'pow':
      return a ** b;
    case 'log':
      return a > 0 ? Math.log(a) : NaN;
    case 'exp':
      return Math.exp(a);
    case 'sqrt':
      return a >= 0 ? Math.sqrt(a) : NaN;
    case 'sign':
      return Math.sign(a);
    case 'round':
      return Math.sign(a) * Math.round(Math.abs(a));
    case 'floor':
      return Math.floor(a);
    case 'ceil':
      return Math.ceil(a);
    case 'mod':
      return b === 0 ? NaN : a - b * Math.floor(a / b);
    case 'clamp':
      // Of crossed bounds the lower one wins.
      return Math.max(b, Math.min(a, args[2]));
    default:
      throw new Error(`No operation ${op}.`);
  }
}
