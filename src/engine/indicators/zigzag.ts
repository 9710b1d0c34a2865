// ZigZag, confirmed: the last turning point the market had shown by each bar, never one that a later bar reveals.
import { number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';

export const zigzag: IndicatorDefinition = {
  id: 'zigzag',
  aliases: ['zig_zag'],
  name: 'ZigZag (confirmed)',
  category: 'trend',
  inputs: ['high', 'low'],
  args: [
    {
      ...real('deviation', 5, 0.001, 99),
      description: 'Percent by which price must turn before a pivot is confirmed.',
    },
  ],
  outputs: [
    { name: 'pivot', kind: 'price' },
    { name: 'direction', kind: 'flag', min: -1, max: 1 },
    { name: 'age', kind: 'free', min: 0 },
  ],
  formula:
    'a high is a pivot once a later low lies deviation percent below it, a low once a later high lies that far ' +
    'above it; pivot: price of the latest confirmed one, direction: 1 after a low, -1 after a high, age: bars since ' +
    'it; missing before the first (a bar that extends the leg cannot also end it)',
  lookback: () => 1,
  compute([high, low], args, [pivot, direction, age]) {
    const n = high.length;
    if (n === 0) return;
    const share = number(args, 'deviation') / 100;
    // The extremes of the leg under way, both tracked until the first pivot; side 1: rising from a confirmed low.
    let side = 0;
    let highest = high[0];
    let highestAt = 0;
    let lowest = low[0];
    let lowestAt = 0;
    let price = NaN;
    let at = 0;
    for (let row = 1; row < n; row++) {
      const extendsUp = side >= 0 && high[row] > highest;
      const extendsDown = side <= 0 && low[row] < lowest;
      if (extendsUp) {
        highest = high[row];
        highestAt = row;
      }
      if (extendsDown) {
        lowest = low[row];
        lowestAt = row;
      }
      if (side >= 0 && !extendsUp && low[row] <= highest * (1 - share)) {
        side = -1;
        price = highest;
        at = highestAt;
        lowest = low[row];
        lowestAt = row;
      } else if (side <= 0 && !extendsDown && high[row] >= lowest * (1 + share)) {
        side = 1;
        price = lowest;
        at = lowestAt;
        highest = high[row];
        highestAt = row;
      }
      pivot[row] = price;
      direction[row] = side === 0 ? NaN : side;
      age[row] = side === 0 ? NaN : row - at;
    }
  },
};
