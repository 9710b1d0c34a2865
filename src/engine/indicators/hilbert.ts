// Hilbert transform: Ehlers' in-phase and quadrature components of a series and the cycle period they imply (TA-Lib's
// HT_ family and MAMA).

/** The output of the transform; rows before `start` are 0, as its filters assume. */
export interface Cycle {
  readonly start: number;
  /** The price, smoothed by a weighted average of four. */
  readonly smooth: Float64Array;
  readonly inPhase: Float64Array;
  readonly quadrature: Float64Array;
  /** The period in bars, between 6 and 50, as estimated after the row. */
  readonly period: Float64Array;
}

export const DEGREES = 180 / (4 * Math.atan(1));

/** Ehlers' filter coefficients ("Rocket Science for Traders", 2001). */
const OUTER = 0.0962;
const INNER = 0.5769;
/** A ring of 8 rows for each of the four filters: each looks back 6. */
const DETREND = 0;
const QUADRATURE = 8;
const LEAD_IN_PHASE = 16;
const LEAD_QUADRATURE = 24;

/**
 * Rows first+3+skip … n-1; `skip` rows only feed the smoother. The order of operations is TA-Lib's: on flat input the
 * filters see rounding residue only, and another order would give another residue.
 */
export function hilbertTransform(source: Float64Array, first: number, skip: number): Cycle {
  const n = source.length;
  const start = first + 3 + skip;
  const smooth = smoothed(source, first, start);
  const inPhase = new Float64Array(n);
  const quadrature = new Float64Array(n);
  const periods = new Float64Array(n);
  const detrended = new Float64Array(n);
  const rings = new Float64Array(32);
  let period = 0;
  let previousI2 = 0;
  let previousQ2 = 0;
  let re = 0;
  let im = 0;
  for (let row = start; row < n; row++) {
    const gain = 0.075 * period + 0.54;
    const detrend = filtered(rings, DETREND, row, smooth[row], gain);
    const q1 = filtered(rings, QUADRATURE, row, detrend, gain);
    const i1 = row - 3 >= start ? detrended[row - 3] : 0;
    detrended[row] = detrend;
    const jI = filtered(rings, LEAD_IN_PHASE, row, i1, gain);
    const jQ = filtered(rings, LEAD_QUADRATURE, row, q1, gain);
    const q2 = 0.2 * (q1 + jI) + 0.8 * previousQ2;
    const i2 = 0.2 * (i1 - jQ) + 0.8 * previousI2;
    re = 0.2 * (i2 * previousI2 + q2 * previousQ2) + 0.8 * re;
    im = 0.2 * (i2 * previousQ2 - q2 * previousI2) + 0.8 * im;
    previousQ2 = q2;
    previousI2 = i2;
    const before = period;
    if (im !== 0 && re !== 0) period = 360 / (Math.atan(im / re) * DEGREES);
    if (period > 1.5 * before) period = 1.5 * before;
    if (period < 0.67 * before) period = 0.67 * before;
    if (period < 6) period = 6;
    else if (period > 50) period = 50;
    period = 0.2 * period + 0.8 * before;
    inPhase[row] = i1;
    quadrature[row] = q1;
    periods[row] = period;
  }
  return { start, smooth, inPhase, quadrature, period: periods };
}

/** One step of a filter over its own ring: a·x + b·x[2] - b·x[4] - a·x[6], summed in TA-Lib's order. */
function filtered(rings: Float64Array, ring: number, row: number, value: number, gain: number): number {
  rings[ring + (row & 7)] = value;
  const oldest = rings[ring + ((row - 6) & 7)];
  const inner = rings[ring + ((row - 4) & 7)];
  const recent = rings[ring + ((row - 2) & 7)];
  return (-(OUTER * oldest) + OUTER * value - INNER * inner + INNER * recent) * gain;
}

/** The four-bar weighted average, slid from `first`; only rows from `start` are kept. */
function smoothed(source: Float64Array, first: number, start: number): Float64Array {
  const n = source.length;
  const smooth = new Float64Array(n);
  if (start >= n) return smooth;
  let sum = source[first] + source[first + 1] + source[first + 2];
  let weighted = source[first] + source[first + 1] * 2 + source[first + 2] * 3;
  let trailing = 0;
  for (let row = first + 3; row < n; row++) {
    const value = source[row];
    sum += value;
    sum -= trailing;
    weighted += value * 4;
    trailing = source[row - 3];
    if (row >= start) smooth[row] = weighted * 0.1;
    weighted -= sum;
  }
  return smooth;
}
