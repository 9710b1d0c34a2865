// Strength: gains against losses, by Wilder (RSI, CMO), by sums (CMOU, IMI), and by money flow (MFI).
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { wilderStable } from './stability.ts';
import { runRecursion, type Recursion } from '../kernels/recursion.ts';
import { rollingSum } from '../kernels/rollingSums.ts';
import { isZeroBeside } from './talibZero.ts';

const BOUNDED = { name: 'value', kind: 'bounded', min: 0, max: 100 } as const;
const SIGNED = { name: 'value', kind: 'bounded', min: -100, max: 100 } as const;

export const rsi: IndicatorDefinition = {
  id: 'rsi',
  aliases: ['relative_strength_index'],
  name: 'Relative Strength Index',
  category: 'momentum',
  talib: { name: 'RSI', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(14)],
  outputs: [BOUNDED],
  formula:
    '100·rma(gain)/(rma(gain) + rma(loss)), seeded with the means of the first length changes; 0 when nothing moved ' +
    '(TA-Lib RSI; Wilder 1978)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + wilderStable(number(args)),
  compute: ([source], args, [out]) => relativeStrength(source, number(args), out),
};

export const mfi: IndicatorDefinition = {
  id: 'mfi',
  aliases: ['money_flow_index'],
  name: 'Money Flow Index',
  category: 'momentum',
  talib: { name: 'MFI', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close', 'volume'],
  args: [length(14)],
  outputs: [BOUNDED],
  formula:
    '100·Σ up flow / Σ flow, flow = typical price·volume of bars whose typical price moved (TA-Lib MFI; Quong and ' +
    'Soudack 1989)',
  lookback: (args) => number(args),
  compute: ([high, low, close, volume], args, [out]) => moneyFlow(high, low, close, volume, number(args), out),
};

export const cmo: IndicatorDefinition = {
  id: 'cmo',
  aliases: ['chande_momentum_oscillator'],
  name: 'Chande Momentum Oscillator, Wilder-smoothed',
  category: 'momentum',
  talib: { name: 'CMO', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(14)],
  outputs: [SIGNED],
  formula: '100·(rma(gain) - rma(loss))/(rma(gain) + rma(loss)) (TA-Lib CMO; cmou is Chande’s own, with plain sums)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + wilderStable(number(args)),
  compute([source], args, [out]) {
    relativeStrength(source, number(args), out);
    // (g - l)/(g + l) = 2g/(g + l) - 1, but 0 and not -1 where nothing moved.
    let hasMoved = false;
    for (let row = 1; row < out.length; row++) {
      hasMoved ||= source[row] !== source[row - 1];
      if (row >= number(args)) out[row] = hasMoved ? 2 * out[row] - 100 : 0;
    }
  },
};

export const cmoU: IndicatorDefinition = {
  id: 'cmou',
  aliases: ['chande_momentum_unsmoothed'],
  name: 'Chande Momentum Oscillator',
  category: 'momentum',
  talib: { name: 'CMOU', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(14)],
  outputs: [SIGNED],
  formula: '100·(Σ gain - Σ loss)/(Σ gain + Σ loss); 0 when nothing moved (TA-Lib CMOU; Chande 1994)',
  lookback: (args) => number(args),
  compute([source], args, [out]) {
    const n = out.length;
    const span = number(args);
    const distance = new Float64Array(n);
    for (let row = 1; row < n; row++) distance[row] = Math.abs(source[row] - source[row - 1]);
    rollingSum(distance, 1, span, out);
    for (let row = span; row < n; row++)
      out[row] = out[row] > 0 ? (100 * (source[row] - source[row - span])) / out[row] : 0;
  },
};

export const imi: IndicatorDefinition = {
  id: 'imi',
  aliases: ['intraday_momentum_index'],
  name: 'Intraday Momentum Index',
  category: 'momentum',
  talib: { name: 'IMI', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['open', 'close'],
  args: [length(14)],
  outputs: [BOUNDED],
  formula: '100·Σ max(close - open, 0)/Σ |close - open|; 50 on bars without body (TA-Lib IMI; Chande)',
  lookback: (args) => number(args) - 1,
  compute([open, close], args, [out]) {
    const n = out.length;
    const span = number(args);
    const bodies = new Float64Array(n);
    const totals = new Float64Array(n);
    for (let row = 0; row < n; row++) bodies[row] = Math.max(0, close[row] - open[row]);
    rollingSum(bodies, 0, span, out);
    for (let row = 0; row < n; row++) bodies[row] = Math.abs(close[row] - open[row]);
    rollingSum(bodies, 0, span, totals);
    for (let row = span - 1; row < n; row++) out[row] = totals[row] > 0 ? 100 * (out[row] / totals[row]) : 50;
  },
};

/** RSI of the source, rows length … n-1 (Wilder 1978). */
export function relativeStrength(source: Float64Array, length: number, out: Float64Array): void {
  const n = source.length;
  if (length >= n) return;
  let gain = 0;
  let size = 0;
  for (let row = 1; row <= length; row++) {
    const change = source[row] - source[row - 1];
    gain += change > 0 ? change : 0;
    size += Math.abs(change);
  }
  const share = 1 / length;
  gain *= share;
  size *= share;
  out[length] = size > 0 ? 100 * (gain / size) : 0;
  runRecursion(smoothedStrength(source, [gain, size], share, out), length + 1, n);
}

/**
 * Wilder's averages of gains and of the size of changes, and their ratio. Gain and loss are split without a branch,
 * (|d| ± d)/2: the sign of a price change is a coin toss that a branch predictor cannot learn.
 */
function smoothedStrength(
  source: Float64Array,
  seed: readonly [gain: number, size: number],
  share: number,
  out: Float64Array,
): Recursion {
  const keep = 1 - share;
  return {
    seed,
    weight: share,
    run(state, at, from, end) {
      let gain = state[at];
      let size = state[at + 1];
      for (let row = from; row < end; row++) {
        const change = source[row] - source[row - 1];
        const distance = Math.abs(change);
        gain = keep * gain + 0.5 * share * (distance + change);
        size = keep * size + share * distance;
        out[row] = size > 0 ? 100 * (gain / size) : 0;
      }
      state[at] = gain;
      state[at + 1] = size;
    },
    known: { name: 'strength', columns: [source], out },
  };
}

function moneyFlow(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  volume: Float64Array,
  length: number,
  out: Float64Array,
): void {
  const n = close.length;
  const flows = new Float64Array(n);
  let previous = (high[0] + low[0] + close[0]) / 3;
  let up = 0;
  let down = 0;
  let stillRows = 0;
  for (let row = 1; row < n; row++) {
    if (row > length) {
      const dropped = flows[row - length];
      up -= dropped > 0 ? dropped : 0;
      down -= dropped < 0 ? -dropped : 0;
    }
    const typical = (high[row] + low[row] + close[row]) / 3;
    const change = typical - previous;
    const isStill = isZeroBeside(change, Math.abs(typical) + Math.abs(previous));
    previous = typical;
    const flow = isStill ? 0 : typical * volume[row];
    flows[row] = change < 0 ? -flow : flow;
    up += change < 0 ? 0 : flow;
    down += change < 0 ? flow : 0;
    stillRows = flow === 0 ? stillRows + 1 : 0;
    // An empty window holds only the rounding residue of what left it: it counts as zero.
    if (stillRows >= length) {
      up = 0;
      down = 0;
    }
    if (row < length) continue;
    const total = up + down;
    out[row] = total <= 0 ? 0 : 100 * (Math.min(Math.max(up, 0), total) / total);
  }
}
