// Ranks in a window: the value at a percentile, and the percentile of the newest value.
import { MIN_RANKED_PERIOD, overRankedWindows } from '../kernels/rankedValues.ts';
import { lowerBound } from '../kernels/search.ts';
import { length, number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';

export const percentile: IndicatorDefinition = {
  id: 'percentile',
  aliases: [],
  name: 'Rolling Percentile',
  category: 'statistic',
  talib: { name: 'PERCENTILE', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(30), real('percentile', 50, 0, 100)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula:
    'the value of rank ceil(percentile·length/100), at least 1, of the last length values: no interpolation (TA-Lib ' +
    'PERCENTILE)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out], poll) =>
    rollingPercentile(source, number(args), number(args, 'percentile'), out, poll),
};

export const percentileRank: IndicatorDefinition = {
  id: 'percentile_rank',
  aliases: ['percentrank', 'percent_rank'],
  name: 'Percentile Rank',
  category: 'statistic',
  talib: { name: 'PERCENTRANK', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(100)],
  outputs: [{ name: 'value', kind: 'bounded', min: 0, max: 100 }],
  formula: 'the share in percent of the length values before this bar that are below its value (TA-Lib PERCENTRANK)',
  lookback: (args) => number(args),
  compute([source], args, [out], poll) {
    const span = number(args);
    if (span >= MIN_RANKED_PERIOD) {
      overRankedWindows(
        source,
        span + 1,
        (row, window, rank) => {
          out[row] = (window.below(rank) / span) * 100;
        },
        poll,
      );
      return;
    }
    for (let row = span; row < out.length; row++) {
      const value = source[row];
      let below = 0;
      for (let i = row - span; i < row; i++) below += +(source[i] < value);
      out[row] = (below / span) * 100;
    }
  },
};

/** A short window is kept sorted: per row, two binary searches and one shift of the values between them. */
function rollingPercentile(
  source: Float64Array,
  length: number,
  percent: number,
  out: Float64Array,
  poll?: () => void,
): void {
  const n = source.length;
  const rank = Math.min(length, Math.max(1, Math.ceil((percent * length) / 100)));
  if (length >= MIN_RANKED_PERIOD) {
    overRankedWindows(
      source,
      length,
      (row, window) => {
        out[row] = window.nth(rank - 1);
      },
      poll,
    );
    return;
  }
  const sorted = source.slice(0, length).sort();
  for (let row = length - 1; row < n; row++) {
    if (row >= length) replace(sorted, source[row - length], source[row]);
    out[row] = sorted[rank - 1];
  }
}

function replace(sorted: Float64Array, dropped: number, added: number): void {
  const from = lowerBound(sorted, dropped);
  const to = lowerBound(sorted, added);
  if (to > from) {
    sorted.copyWithin(from, from + 1, to);
    sorted[to - 1] = added;
  } else {
    sorted.copyWithin(to + 1, to, from);
    sorted[to] = added;
  }
}
