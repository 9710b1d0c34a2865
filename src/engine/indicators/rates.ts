// Rates of change: the value against the one `length` bars earlier, as difference, fraction, ratio and percent.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';

/**
 * One member of the family.
 * @param compute has a loop of its own: a function of two numbers that one loop calls for all members takes 10 ns per
 * row in place of 1, and V8 does not fully compile a loop that a short function calls a hundred times per run
 */
function rate(
  id: string,
  aliases: readonly string[],
  name: string,
  formula: string,
  compute: IndicatorDefinition['compute'],
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
    compute,
  };
}

/** In percent; 0 where the earlier value is 0, as in TA-Lib. */
export function percentChange(value: number, earlier: number): number {
  return earlier === 0 ? 0 : (value / earlier - 1) * 100;
}

export const mom = rate('mom', ['momentum'], 'Momentum', 'x - x[length]', ([source], args, [out]) => {
  const span = number(args);
  for (let row = span; row < out.length; row++) out[row] = source[row] - source[row - span];
});
export const roc = rate(
  'roc',
  ['rate_of_change'],
  'Rate of Change',
  '100·(x/x[length] - 1); 0 where x[length] is 0',
  ([source], args, [out]) => {
    const span = number(args);
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
  ([source], args, [out]) => {
    const span = number(args);
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
  ([source], args, [out]) => {
    const span = number(args);
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
  ([source], args, [out]) => {
    const span = number(args);
    for (let row = span; row < out.length; row++) {
      const earlier = source[row - span];
      out[row] = earlier === 0 ? 0 : (source[row] / earlier) * 100;
    }
  },
);
