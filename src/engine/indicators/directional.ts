// Directional movement (Wilder 1978): +DM, -DM, +DI, -DI, DX, ADX and ADXR.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { runRecursion, type Recursion } from '../kernels/recursion.ts';
import { trueRangeOf } from './range.ts';
import { wilderStable } from './stability.ts';
import { isZero } from './talibZero.ts';

const BOUNDED: readonly OutputDefinition[] = [{ name: 'value', kind: 'bounded', min: 0, max: 100 }];

export const adx: IndicatorDefinition = {
  id: 'adx',
  aliases: ['average_directional_index'],
  name: 'Average Directional Movement Index',
  category: 'momentum',
  talib: { name: 'ADX', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14)],
  outputs: BOUNDED,
  formula: 'rma(dx), seeded with the mean of the first length dx; kept where dx is undefined (TA-Lib ADX; Wilder 1978)',
  lookback: (args) => 2 * number(args) - 1,
  stableLookback: (args) => 2 * wilderStable(number(args)),
  compute: ([high, low, close], args, [out]) => averageDirectional(high, low, close, number(args), out),
};

export const adxr: IndicatorDefinition = {
  id: 'adxr',
  aliases: [],
  name: 'Average Directional Movement Index Rating',
  category: 'momentum',
  talib: { name: 'ADXR', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14)],
  outputs: BOUNDED,
  formula: '(adx + adx[length-1])/2 (TA-Lib ADXR)',
  lookback: (args) => 3 * number(args) - 2,
  stableLookback: (args) => 2 * wilderStable(number(args)) + number(args) - 1,
  compute([high, low, close], args, [out]) {
    const span = number(args) - 1;
    const line = new Float64Array(out.length);
    averageDirectional(high, low, close, number(args), line);
    for (let row = 3 * number(args) - 2; row < out.length; row++) out[row] = (line[row] + line[row - span]) / 2;
  },
};

export const dx: IndicatorDefinition = {
  id: 'dx',
  aliases: ['directional_movement_index'],
  name: 'Directional Movement Index',
  category: 'momentum',
  talib: { name: 'DX', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14)],
  outputs: BOUNDED,
  formula: '100·|+di - -di|/(+di + -di), the value before it where both are 0 (TA-Lib DX)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + wilderStable(number(args)),
  compute([high, low, close], args, [out]) {
    const n = out.length;
    const plus = new Float64Array(n);
    const minus = new Float64Array(n);
    const ranges = new Float64Array(n);
    directionalSums(high, low, close, number(args), plus, minus, ranges);
    let value = 0;
    for (let row = number(args); row < n; row++) {
      value = directionalIndex(plus[row], minus[row], ranges[row], value);
      out[row] = value;
    }
  },
};

export const plusDi: IndicatorDefinition = directionalIndicator(
  'plus_di',
  'PLUS_DI',
  'Plus Directional Indicator',
  '100·Σ+dm/Σtrue range, Wilder sums',
);
export const minusDi: IndicatorDefinition = directionalIndicator(
  'minus_di',
  'MINUS_DI',
  'Minus Directional Indicator',
  '100·Σ-dm/Σtrue range, Wilder sums',
);
export const plusDm: IndicatorDefinition = directionalMovement(
  'plus_dm',
  'PLUS_DM',
  'Plus Directional Movement',
  'Wilder sum of max(high - high[1], 0) where it exceeds low[1] - low',
);
export const minusDm: IndicatorDefinition = directionalMovement(
  'minus_dm',
  'MINUS_DM',
  'Minus Directional Movement',
  'Wilder sum of max(low[1] - low, 0) where it exceeds high - high[1]',
);

function directionalIndicator(id: string, talib: string, name: string, formula: string): IndicatorDefinition {
  const isPlus = id.startsWith('plus');
  return {
    id,
    aliases: [],
    name,
    category: 'momentum',
    talib: { name: talib, args: { timeperiod: 'length' }, outputs: ['real'] },
    inputs: ['high', 'low', 'close'],
    args: [length(14, 1)],
    outputs: BOUNDED,
    formula: `${formula}; length 1: unsmoothed and not times 100 (TA-Lib ${talib})`,
    lookback: (args) => number(args),
    stableLookback: (args) => 1 + wilderStable(number(args)),
    compute([high, low, close], args, [out]) {
      const n = out.length;
      const plus = new Float64Array(n);
      const minus = new Float64Array(n);
      const ranges = new Float64Array(n);
      directionalSums(high, low, close, number(args), plus, minus, ranges);
      const moves = isPlus ? plus : minus;
      const scale = number(args) === 1 ? 1 : 100;
      for (let row = number(args); row < n; row++) out[row] = ranges[row] > 0 ? scale * (moves[row] / ranges[row]) : 0;
    },
  };
}

function directionalMovement(id: string, talib: string, name: string, formula: string): IndicatorDefinition {
  const isPlus = id.startsWith('plus');
  return {
    id,
    aliases: [],
    name,
    category: 'momentum',
    talib: { name: talib, args: { timeperiod: 'length' }, outputs: ['real'] },
    inputs: ['high', 'low'],
    args: [length(14, 1)],
    outputs: [{ name: 'value', kind: 'free' }],
    formula: `${formula} (TA-Lib ${talib})`,
    lookback: (args) => Math.max(1, number(args) - 1),
    stableLookback: (args) => 1 + wilderStable(number(args)),
    compute([high, low], args, [out]) {
      const other = new Float64Array(out.length);
      const [plus, minus] = isPlus ? [out, other] : [other, out];
      directionalSums(high, low, high, number(args), plus, minus, undefined);
      out.fill(NaN, 0, Math.max(1, number(args) - 1));
    },
  };
}

/** dx of the sums, `before` where it is undefined. */
function directionalIndex(plus: number, minus: number, range: number, before: number): number {
  if (!(range > 0)) return before;
  const plusDi = 100 * (plus / range);
  const minusDi = 100 * (minus / range);
  const total = plusDi + minusDi;
  return isZero(total) ? before : 100 * (Math.abs(minusDi - plusDi) / total);
}

/**
 * Wilder's sums of +DM, -DM and true range: rows up to length-1 are plain sums, the later ones shrink by 1/length
 * before the row is added. Length 1 keeps no memory at all.
 */
function directionalSums(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  length: number,
  plus: Float64Array,
  minus: Float64Array,
  ranges: Float64Array | undefined,
): void {
  const share = 1 / length;
  let plusSum = 0;
  let minusSum = 0;
  let rangeSum = 0;
  for (let row = 1; row < high.length; row++) {
    const shrink = row >= length ? share : 0;
    const up = high[row] - high[row - 1];
    const down = low[row - 1] - low[row];
    plusSum += (up > down && up > 0 ? up : 0) - plusSum * shrink;
    minusSum += (down > up && down > 0 ? down : 0) - minusSum * shrink;
    plus[row] = plusSum;
    minus[row] = minusSum;
    if (ranges === undefined) continue;
    const before = close[row - 1];
    rangeSum += Math.max(high[row], before) - Math.min(low[row], before) - rangeSum * shrink;
    ranges[row] = rangeSum;
  }
}

/** One pass; the two indicators' common factor 100/range cancels in their quotient. */
function averageDirectional(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  length: number,
  out: Float64Array,
): void {
  const n = out.length;
  const share = 1 / length;
  const keep = 1 - share;
  const start = 2 * length - 1;
  if (start >= n) return;
  let plus = 0;
  let minus = 0;
  let range = 0;
  let average = 0;
  for (let row = 1; row <= start; row++) {
    const up = high[row] - high[row - 1];
    const down = low[row - 1] - low[row];
    const decay = row >= length ? keep : 1;
    plus = decay * plus + dominant(up, down);
    minus = decay * minus + dominant(down, up);
    range = decay * range + trueRangeOf(high[row], low[row], close[row - 1]);
    if (row >= length && isMoving(plus, minus, range)) average += imbalance(plus, minus);
  }
  average /= length;
  out[start] = average;
  const recursion: Recursion = {
    seed: [plus, minus, range, average],
    weight: share,
    run(state, at, from, end) {
      let plus = state[at];
      let minus = state[at + 1];
      let range = state[at + 2];
      let average = state[at + 3];
      let previousHigh = high[from - 1];
      let previousLow = low[from - 1];
      let before = close[from - 1];
      for (let row = from; row < end; row++) {
        const h = high[row];
        const l = low[row];
        const up = h - previousHigh;
        const down = previousLow - l;
        plus = keep * plus + dominant(up, down);
        minus = keep * minus + dominant(down, up);
        range = keep * range + trueRangeOf(h, l, before);
        if (isMoving(plus, minus, range)) average += (imbalance(plus, minus) - average) * share;
        out[row] = average;
        previousHigh = h;
        previousLow = l;
        before = close[row];
      }
      state[at] = plus;
      state[at + 1] = minus;
      state[at + 2] = range;
      state[at + 3] = average;
    },
  };
  runRecursion(recursion, start + 1, n);
}

/** What exceeds zero and the other of two moves, without a branch: |m| + m is twice the positive part. */
const dominant = (move: number, other: number): number => 0.5 * (Math.abs(move) + move) * +(move > other);
/** Whether the two indicators count as more than zero. */
const isMoving = (plus: number, minus: number, range: number): boolean => plus + minus > 1e-16 * range;
const imbalance = (plus: number, minus: number): number => 100 * (Math.abs(minus - plus) / (plus + minus));
