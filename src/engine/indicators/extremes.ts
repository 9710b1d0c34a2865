// Extremes of a moving window: highest, lowest, and the rows they stand on.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { rollingMax, rollingMaxIndex, rollingMin, rollingMinIndex } from '../kernels/rollingExtremes.ts';

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
