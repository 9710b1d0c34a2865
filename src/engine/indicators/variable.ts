// Averages of choice: one average by its type, and one whose length changes from bar to bar.
import { chosen, maNames, maType, movingAverage } from './averages.ts';
import { length, number, scannedLength, text } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';

export const ma: IndicatorDefinition = {
  id: 'ma',
  aliases: ['moving_average'],
  name: 'Moving Average of choice',
  category: 'overlap',
  talib: {
    name: 'MA',
    args: { timeperiod: 'length', matype: 'ma_type' },
    outputs: ['real'],
    defaults: { length: 30 },
    choices: { matype: maNames('sma') },
  },
  inputs: ['source'],
  args: [length(20, 1), maType('sma')],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'the average of that type; length 1 is the source itself (TA-Lib MA)',
  lookback: (args) => chosen(args, number(args)).lookback(number(args)),
  compute: ([source], args, [out]) => chosen(args, number(args)).compute(source, 0, number(args), out),
};

export const mavp: IndicatorDefinition = {
  id: 'mavp',
  aliases: ['variable_moving_average'],
  name: 'Moving Average with Variable Period',
  category: 'overlap',
  talib: {
    name: 'MAVP',
    args: { minperiod: 'min_length', maxperiod: 'max_length', matype: 'ma_type' },
    outputs: ['real'],
    choices: { matype: maNames('sma') },
  },
  inputs: ['source', 'periods'],
  args: [scannedLength(2, 1, 'min_length'), scannedLength(30, 1, 'max_length'), maType('sma')],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'at each bar the average of length floor(periods), held within min_length and max_length (TA-Lib MAVP)',
  lookback: (args) => chosen(args, number(args, 'max_length')).lookback(number(args, 'max_length')),
  compute: ([source, periods], args, [out], poll) => variablePeriod(source, periods, args, out, poll),
};

/** One pass per length that occurs; every average begins on the first row of the longest (TA-Lib). */
function variablePeriod(
  source: Float64Array,
  periods: Float64Array,
  args: Args,
  out: Float64Array,
  poll?: () => void,
): void {
  const n = source.length;
  const least = number(args, 'min_length');
  const most = number(args, 'max_length');
  const type = text(args, 'ma_type');
  const start = movingAverage(type, most).lookback(most);
  const scratch = new Float64Array(n);
  const lengths = new Int32Array(n);
  const used = new Set<number>();
  for (let row = start; row < n; row++) {
    lengths[row] = Math.trunc(Math.min(Math.max(periods[row], least), most));
    used.add(lengths[row]);
  }
  for (const span of used) {
    poll?.();
    const average = movingAverage(type, span);
    average.compute(source, start - average.lookback(span), span, scratch);
    for (let row = start; row < n; row++) if (lengths[row] === span) out[row] = scratch[row];
  }
}
