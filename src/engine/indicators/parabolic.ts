// Parabolic stop and reverse (Wilder 1978), in TA-Lib's plain and extended forms.
import { number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';

/** How fast one side's stop follows: where it starts, by how much each new extreme raises it, and its ceiling. */
interface Acceleration {
  readonly initial: number;
  readonly step: number;
  readonly maximum: number;
}

const coherent = (initial: number, step: number, maximum: number): Acceleration => ({
  initial: Math.min(initial, maximum),
  step: Math.min(step, maximum),
  maximum,
});

export const sar: IndicatorDefinition = {
  id: 'sar',
  aliases: ['psar', 'parabolic_sar'],
  name: 'Parabolic SAR',
  category: 'overlap',
  talib: { name: 'SAR', args: { acceleration: 'acceleration', maximum: 'maximum' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [real('acceleration', 0.02, 0), real('maximum', 0.2, 0)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula:
    'sar += af·(extreme - sar), af grows by acceleration up to maximum with each new extreme; long at first unless ' +
    '-DM is greater (TA-Lib SAR; Wilder 1978)',
  lookback: () => 1,
  compute([high, low], args, [out]) {
    const step = number(args, 'acceleration');
    const side = coherent(step, step, number(args, 'maximum'));
    parabolic(high, low, 0, 0, side, side, 1, out);
  },
};

export const sarExt: IndicatorDefinition = {
  id: 'sarext',
  aliases: ['psar_extended'],
  name: 'Parabolic SAR, extended',
  category: 'overlap',
  talib: {
    name: 'SAREXT',
    args: {
      startvalue: 'start_value',
      offsetonreverse: 'offset_on_reverse',
      accelerationinitlong: 'long_initial',
      accelerationlong: 'long_step',
      accelerationmaxlong: 'long_maximum',
      accelerationinitshort: 'short_initial',
      accelerationshort: 'short_step',
      accelerationmaxshort: 'short_maximum',
    },
    outputs: ['real'],
  },
  inputs: ['high', 'low'],
  args: [
    {
      ...real('start_value', 0),
      description: 'above 0: long from there, below 0: short from its absolute value, 0: as sar',
    },
    real('offset_on_reverse', 0, 0),
    real('long_initial', 0.02, 0),
    real('long_step', 0.02, 0),
    real('long_maximum', 0.2, 0),
    real('short_initial', 0.02, 0),
    real('short_step', 0.02, 0),
    real('short_maximum', 0.2, 0),
  ],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'sar with separate accelerations per side; negative while short (TA-Lib SAREXT)',
  lookback: () => 1,
  compute([high, low], args, [out]) {
    const side = (name: string): Acceleration =>
      coherent(number(args, `${name}_initial`), number(args, `${name}_step`), number(args, `${name}_maximum`));
    parabolic(
      high,
      low,
      number(args, 'start_value'),
      number(args, 'offset_on_reverse'),
      side('long'),
      side('short'),
      -1,
      out,
    );
  },
};

/** A stop above the market is multiplied by `shortSign`: 1, or -1 to tell the sides apart. */
function parabolic(
  high: Float64Array,
  low: Float64Array,
  startValue: number,
  offsetOnReverse: number,
  long: Acceleration,
  short: Acceleration,
  shortSign: number,
  out: Float64Array,
): void {
  const n = out.length;
  if (n < 2) return;
  const up = high[1] - high[0];
  const down = low[0] - low[1];
  let isLong = startValue === 0 ? !(down > 0 && up < down) : startValue > 0;
  let extreme = isLong ? high[1] : low[1];
  let stop = startValue === 0 ? (isLong ? low[0] : high[0]) : Math.abs(startValue);
  let factor = isLong ? long.initial : short.initial;
  let previousHigh = high[1];
  let previousLow = low[1];
  for (let row = 1; row < n; row++) {
    const h = high[row];
    const l = low[row];
    const isHit = isLong ? l <= stop : h >= stop;
    if (isHit) {
      isLong = !isLong;
      // The new stop is the old extreme, no nearer than the last two bars.
      stop = isLong ? Math.min(extreme, previousLow, l) : Math.max(extreme, previousHigh, h);
      stop += (isLong ? -1 : 1) * stop * offsetOnReverse;
      factor = isLong ? long.initial : short.initial;
      extreme = isLong ? h : l;
    }
    out[row] = isLong ? stop : shortSign * stop;
    if (!isHit && (isLong ? h > extreme : l < extreme)) {
      extreme = isLong ? h : l;
      factor = isLong ? Math.min(long.maximum, factor + long.step) : Math.min(short.maximum, factor + short.step);
    }
    stop += factor * (extreme - stop);
    stop = isLong ? Math.min(stop, previousLow, l) : Math.max(stop, previousHigh, h);
    previousHigh = h;
    previousLow = l;
  }
}
