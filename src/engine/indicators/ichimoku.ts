// Ichimoku: the balance lines and the cloud, as known at each bar; the lagging span (chikou) looks ahead and is not
// offered.
import { length, number } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';

const LENGTHS = ['conversion_length', 'base_length', 'span_b_length'] as const;
const longest = (args: Args): number => Math.max(...LENGTHS.map((name) => number(args, name)));

export const ichimoku: IndicatorDefinition = {
  id: 'ichimoku',
  aliases: ['ichimoku_cloud'],
  name: 'Ichimoku Kinko Hyo',
  category: 'trend',
  inputs: ['high', 'low'],
  args: [
    length(9, 1, 'conversion_length'),
    length(26, 1, 'base_length'),
    length(52, 1, 'span_b_length'),
    { ...length(26, 0, 'displacement'), description: 'Bars by which the cloud is drawn ahead.' },
  ],
  outputs: [
    { name: 'conversion', kind: 'price' },
    { name: 'base', kind: 'price' },
    { name: 'span_a', kind: 'price' },
    { name: 'span_b', kind: 'price' },
    { name: 'lead_a', kind: 'price' },
    { name: 'lead_b', kind: 'price' },
  ],
  formula:
    'conversion, base, lead_b = (highest + lowest)/2 of their lengths; lead_a = (conversion + base)/2; span_a and ' +
    'span_b, the cloud at this bar, are the leads of displacement bars ago (Hosoda 1969; pandas-ta ichimoku)',
  lookback: (args) => longest(args) - 1 + number(args, 'displacement'),
  compute([high, low], args, [conversion, base, spanA, spanB, leadA, leadB]) {
    const n = high.length;
    const displacement = number(args, 'displacement');
    const first = longest(args) - 1 + displacement;
    if (first >= n) return;
    const lowest = new Float64Array(n);
    middle(high, low, number(args, 'conversion_length'), conversion, lowest);
    middle(high, low, number(args, 'base_length'), base, lowest);
    middle(high, low, number(args, 'span_b_length'), leadB, lowest);
    for (let row = 0; row < n; row++) leadA[row] = 0.5 * (conversion[row] + base[row]);
    for (let row = first; row < n; row++) {
      spanA[row] = leadA[row - displacement];
      spanB[row] = leadB[row - displacement];
    }
    for (const column of [conversion, base, leadA, leadB]) column.fill(NaN, 0, first);
  },
};

/** The middle of the range of the last `size` bars. */
function middle(high: Float64Array, low: Float64Array, size: number, out: Float64Array, lowest: Float64Array): void {
  rollingMax(high, 0, size, out);
  rollingMin(low, 0, size, lowest);
  for (let row = size - 1; row < out.length; row++) out[row] = 0.5 * (out[row] + lowest[row]);
}
