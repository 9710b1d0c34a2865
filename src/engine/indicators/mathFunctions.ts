// Arithmetic: TA-Lib's operators on two series, its sums, and its functions of one number.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { rollingSum } from '../kernels/rollingSums.ts';

/** A result that is not finite is missing: the engine has no Infinity. */
const finite = (value: number): number => (Number.isFinite(value) ? value : NaN);

/**
 * @param write writes every row; each operator has a loop, since one loop that calls a function for all of them takes
 * ten times as long
 */
function operator(
  id: string,
  talib: string,
  name: string,
  formula: string,
  write: (left: Float64Array, right: Float64Array, out: Float64Array) => void,
): IndicatorDefinition {
  return {
    id,
    aliases: [],
    name,
    category: 'math',
    talib: { name: talib, args: {}, outputs: ['real'] },
    inputs: ['source', 'source2'],
    args: [],
    outputs: [{ name: 'value', kind: 'free' }],
    formula: `${formula} (TA-Lib ${talib})`,
    lookback: () => 0,
    compute: ([left, right], _args, [out]) => write(left, right, out),
  };
}

export const OPERATORS: readonly IndicatorDefinition[] = [
  operator('add', 'ADD', 'Addition', 'x + y', (left, right, out) => {
    for (let row = 0; row < out.length; row++) out[row] = left[row] + right[row];
  }),
  operator('sub', 'SUB', 'Subtraction', 'x - y', (left, right, out) => {
    for (let row = 0; row < out.length; row++) out[row] = left[row] - right[row];
  }),
  operator('mult', 'MULT', 'Multiplication', 'x·y', (left, right, out) => {
    for (let row = 0; row < out.length; row++) out[row] = left[row] * right[row];
  }),
  operator('div', 'DIV', 'Division', 'x/y, missing where y is 0', (left, right, out) => {
    for (let row = 0; row < out.length; row++) out[row] = finite(left[row] / right[row]);
  }),
];

export const sum: IndicatorDefinition = {
  id: 'sum',
  aliases: ['rolling_sum'],
  name: 'Sum',
  category: 'math',
  talib: { name: 'SUM', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(30)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'Σ x over the last length bars, rounded once (TA-Lib SUM)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => rollingSum(source, 0, number(args), out),
};

export const cumSum: IndicatorDefinition = {
  id: 'cumsum',
  aliases: ['cumulative_sum'],
  name: 'Cumulative Sum',
  category: 'math',
  talib: { name: 'CUMSUM', args: {}, outputs: ['real'] },
  inputs: ['source'],
  args: [],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'Σ x from the first bar (TA-Lib CUMSUM)',
  lookback: () => 0,
  compute([source], _args, [out]) {
    let total = 0;
    for (let row = 0; row < out.length; row++) {
      total += source[row];
      out[row] = total;
    }
  },
};

function transform(id: string, name: string, apply: (value: number) => number): IndicatorDefinition {
  return {
    id,
    aliases: [],
    name,
    category: 'math',
    talib: { name: id.toUpperCase(), args: {}, outputs: ['real'] },
    inputs: ['source'],
    args: [],
    outputs: [{ name: 'value', kind: 'free' }],
    formula: `${id}(x), missing where it is undefined (TA-Lib ${id.toUpperCase()})`,
    lookback: () => 0,
    compute([source], _args, [out]) {
      for (let row = 0; row < out.length; row++) out[row] = finite(apply(source[row]));
    },
  };
}

export const TRANSFORMS: readonly IndicatorDefinition[] = [
  transform('acos', 'Arc Cosine', Math.acos),
  transform('asin', 'Arc Sine', Math.asin),
  transform('atan', 'Arc Tangent', Math.atan),
  transform('ceil', 'Ceiling', Math.ceil),
  transform('cos', 'Cosine', Math.cos),
  transform('cosh', 'Hyperbolic Cosine', Math.cosh),
  transform('exp', 'Exponential', Math.exp),
  transform('floor', 'Floor', Math.floor),
  transform('ln', 'Natural Logarithm', Math.log),
  transform('log10', 'Logarithm to Base 10', Math.log10),
  transform('sin', 'Sine', Math.sin),
  transform('sinh', 'Hyperbolic Sine', Math.sinh),
  transform('sqrt', 'Square Root', Math.sqrt),
  transform('tan', 'Tangent', Math.tan),
  transform('tanh', 'Hyperbolic Tangent', Math.tanh),
];
