// Extremes of a moving window: highest, lowest, and the rows they stand on.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';

export const highest: IndicatorDefinition = {
  id: 'max',
  aliases: ['highest'],
  name: 'Highest Value',
  category: 'math',
  talib: { name: 'MAX', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'the highest of the last length values (TA-Lib MAX)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => rollingMax(source, 0, number(args), out),
};

export const lowest: IndicatorDefinition = {
  id: 'min',
  aliases: ['lowest'],
  name: 'Lowest Value',
  category: 'math',
  talib: { name: 'MIN', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'the lowest of the last length values (TA-Lib MIN)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => rollingMin(source, 0, number(args), out),
};

export const minMax: IndicatorDefinition = {
  id: 'minmax',
  aliases: [],
  name: 'Lowest and Highest Value',
  category: 'math',
  talib: { name: 'MINMAX', args: { timeperiod: 'length' }, outputs: ['min', 'max'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [
    { name: 'min', kind: 'price' },
    { name: 'max', kind: 'price' },
  ],
  formula: 'the lowest and the highest of the last length values (TA-Lib MINMAX)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [min, max]) {
    rollingMin(source, 0, number(args), min);
    rollingMax(source, 0, number(args), max);
  },
};

export const maxIndex: IndicatorDefinition = {
  id: 'maxindex',
  aliases: ['argmax_row'],
  name: 'Row of the Highest Value',
  category: 'math',
  talib: { name: 'MAXINDEX', args: { timeperiod: 'length' }, outputs: ['integer'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'the row, counted from the first bar, of the highest of the last length values (TA-Lib MAXINDEX)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => rollingMaxIndex(source, 0, number(args), out, false),
};

export const minIndex: IndicatorDefinition = {
  id: 'minindex',
  aliases: ['argmin_row'],
  name: 'Row of the Lowest Value',
  category: 'math',
  talib: { name: 'MININDEX', args: { timeperiod: 'length' }, outputs: ['integer'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'the row, counted from the first bar, of the lowest of the last length values (TA-Lib MININDEX)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => rollingMinIndex(source, 0, number(args), out, false),
};

export const minMaxIndex: IndicatorDefinition = {
  id: 'minmaxindex',
  aliases: [],
  name: 'Rows of the Lowest and Highest Value',
  category: 'math',
  talib: { name: 'MINMAXINDEX', args: { timeperiod: 'length' }, outputs: ['minidx', 'maxidx'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [
    { name: 'min_index', kind: 'free' },
    { name: 'max_index', kind: 'free' },
  ],
  formula: 'the rows of the lowest and the highest of the last length values (TA-Lib MINMAXINDEX)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [min, max]) {
    rollingMinIndex(source, 0, number(args), min, false);
    rollingMaxIndex(source, 0, number(args), max, false);
  },
};

/**
 * Van Herk and Gil-Werman: blocks as long as the window; a window is the end of one block and the beginning of the next, whose extremes
 * are carried backwards and forwards. Three comparisons a row whatever the length, nearly all of them foreseeable.
 */
export function rollingMax(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const suffix = new Float64Array(length);
  for (let block = first; block < n; block += length) {
    const size = Math.min(length, n - block);
    let best = source[block];
    if (block > first) {
      for (let i = 0; i < size - 1; i++) {
        const value = source[block + i];
        if (value > best) best = value;
        const before = suffix[i + 1];
        out[block + i] = before > best ? before : best;
      }
    } else {
      for (let i = 0; i < size - 1; i++) if (source[block + i] > best) best = source[block + i];
    }
    if (source[block + size - 1] > best) best = source[block + size - 1];
    if (size === length) out[block + size - 1] = best;
    else if (block > first) out[block + size - 1] = suffix[size] > best ? suffix[size] : best;
    else return;
    best = source[block + size - 1];
    for (let i = size - 1; i >= 0; i--) {
      const value = source[block + i];
      if (value > best) best = value;
      suffix[i] = best;
    }
  }
}

export function rollingMin(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const suffix = new Float64Array(length);
  for (let block = first; block < n; block += length) {
    const size = Math.min(length, n - block);
    let best = source[block];
    if (block > first) {
      for (let i = 0; i < size - 1; i++) {
        const value = source[block + i];
        if (value < best) best = value;
        const before = suffix[i + 1];
        out[block + i] = before < best ? before : best;
      }
    } else {
      for (let i = 0; i < size - 1; i++) if (source[block + i] < best) best = source[block + i];
    }
    if (source[block + size - 1] < best) best = source[block + size - 1];
    if (size === length) out[block + size - 1] = best;
    else if (block > first) out[block + size - 1] = suffix[size] < best ? suffix[size] : best;
    else return;
    best = source[block + size - 1];
    for (let i = size - 1; i >= 0; i--) {
      const value = source[block + i];
      if (value < best) best = value;
      suffix[i] = best;
    }
  }
}

/**
 * The row of the highest value. On equal values a newcomer wins; when the old winner leaves the window, the latest of those left does
 * if `isLatest` (Aroon), else the earliest (TA-Lib's MAXINDEX).
 */
export function rollingMaxIndex(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  isLatest = true,
): void {
  const n = source.length;
  let bestRow = -1;
  for (let row = first + length - 1; row < n; row++) {
    const oldest = row - length + 1;
    if (bestRow < oldest) {
      bestRow = oldest;
      for (let i = oldest + 1; i <= row; i++) {
        if (source[i] > source[bestRow] || (isLatest && source[i] === source[bestRow])) bestRow = i;
      }
    } else if (source[row] >= source[bestRow]) {
      bestRow = row;
    }
    out[row] = bestRow;
  }
}

/** The row of the lowest value, equal ones as for the highest. */
export function rollingMinIndex(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  isLatest = true,
): void {
  const n = source.length;
  let bestRow = -1;
  for (let row = first + length - 1; row < n; row++) {
    const oldest = row - length + 1;
    if (bestRow < oldest) {
      bestRow = oldest;
      for (let i = oldest + 1; i <= row; i++) {
        if (source[i] < source[bestRow] || (isLatest && source[i] === source[bestRow])) bestRow = i;
      }
    } else if (source[row] <= source[bestRow]) {
      bestRow = row;
    }
    out[row] = bestRow;
  }
}
