// Rates of change: the value against the one `length` bars earlier, as difference, fraction, ratio and percent.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';

/**
 * One member of the family.
 * @param write writes rows span … n-1; each member has a loop, because a function of two numbers that one loop calls
 * for all of them takes 10 ns per row in place of 1
 */
function rate(
  id: string,
  aliases: readonly string[],
  name: string,
  formula: string,
  write: (source: Float64Array, span: number, out: Float64Array) => void,
): IndicatorDefinition {
  return {
    id,
    aliases,
    name,
    category: 'momentum',
    talib: { name: id.toUpperCase(), args: { timeperiod: 'length' }, outputs: ['real'] },
    inputs: ['source'],
    args: [length(10, 1)],
    outputs: [{ name: 'value', kind: 'free' }],
    formula: `${formula} (TA-Lib ${id.toUpperCase()})`,
    lookback: (args) => number(args),
    compute: ([source], args, [out]) => write(source, number(args), out),
  };
}

/** In percent; 0 where the earlier value is 0, as in TA-Lib. */
export function percentChange(value: number, earlier: number): number {
  return earlier === 0 ? 0 : (value / earlier - 1) * 100;
}

export const mom = rate('mom', ['momentum'], 'Momentum', 'x - x[length]', (source, span, out) => {
  for (let row = span; row < out.length; row++) out[row] = source[row] - source[row - span];
});
export const roc = rate(
  'roc',
  ['rate_of_change'],
  'Rate of Change',
  '100·(x/x[length] - 1); 0 where x[length] is 0',
  (source, span, out) => {
    for (let row = span; row < out.length; row++) {
      const earlier = source[row - span];
      out[row] = earlier === 0 ? 0 : (source[row] / earlier - 1) * 100;
    }
  },
);
export const rocP = rate(
  'rocp',
  [],
  'Rate of Change, share',
  '(x - x[length])/x[length]; 0 where x[length] is 0',
  (source, span, out) => {
    for (let row = span; row < out.length; row++) {
      const earlier = source[row - span];
      out[row] = earlier === 0 ? 0 : (source[row] - earlier) / earlier;
    }
  },
);
export const rocR = rate(
  'rocr',
  [],
  'Rate of Change, ratio',
  'x/x[length]; 0 where x[length] is 0',
  (source, span, out) => {
    for (let row = span; row < out.length; row++) {
      const earlier = source[row - span];
      out[row] = earlier === 0 ? 0 : source[row] / earlier;
    }
  },
);
export const rocR100 = rate(
  'rocr100',
  [],
  'Rate of Change, ratio times 100',
  '100·x/x[length]; 0 where x[length] is 0',
  (source, span, out) => {
    for (let row = span; row < out.length; row++) {
      const earlier = source[row - span];
      out[row] = earlier === 0 ? 0 : (source[row] / earlier) * 100;
    }
  },
);
