// Cycle: Ehlers' dominant cycle by the Hilbert transform, its period, phase, sine wave, trendline and mode, over sines
// and cosines of the steps around one cycle that are rounded correctly.
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { DEGREES, hilbertTransform, type Cycle } from './hilbert.ts';

const VALUE: readonly OutputDefinition[] = [{ name: 'value', kind: 'free' }];
/** Rows that only feed the smoother: 9 where TA-Lib's lookback is 32, 34 where it is 63. */
const SHORT_SKIP = 9;
const LONG_SKIP = 34;
const SHORT_LOOKBACK = 32;
const LONG_LOOKBACK = 63;
/** The recurrences forget their start; TA-Lib gives no bound, 400 bars leave nothing above 1e-9 on the series tried. */
const STABLE = 400;

export const htDcPeriod: IndicatorDefinition = {
  id: 'ht_dcperiod',
  aliases: ['dominant_cycle_period'],
  name: 'Hilbert Transform: Dominant Cycle Period',
  category: 'cycle',
  talib: { name: 'HT_DCPERIOD', args: {}, outputs: ['real'] },
  inputs: ['source'],
  args: [],
  outputs: VALUE,
  formula: 'the smoothed period of the dominant cycle in bars (TA-Lib HT_DCPERIOD; Ehlers 2001)',
  lookback: () => SHORT_LOOKBACK,
  stableLookback: () => STABLE,
  compute([source], _args, [out]) {
    const cycle = hilbertTransform(source, 0, SHORT_SKIP);
    out.set(smoothPeriods(cycle).subarray(SHORT_LOOKBACK), SHORT_LOOKBACK);
  },
};

export const htPhasor: IndicatorDefinition = {
  id: 'ht_phasor',
  aliases: [],
  name: 'Hilbert Transform: Phasor Components',
  category: 'cycle',
  talib: { name: 'HT_PHASOR', args: {}, outputs: ['inphase', 'quadrature'] },
  inputs: ['source'],
  args: [],
  outputs: [
    { name: 'in_phase', kind: 'free' },
    { name: 'quadrature', kind: 'free' },
  ],
  formula: 'the in-phase and quadrature components of the detrended price (TA-Lib HT_PHASOR; Ehlers 2001)',
  lookback: () => SHORT_LOOKBACK,
  stableLookback: () => STABLE,
  compute([source], _args, [inPhase, quadrature]) {
    const cycle = hilbertTransform(source, 0, SHORT_SKIP);
    inPhase.set(cycle.inPhase.subarray(SHORT_LOOKBACK), SHORT_LOOKBACK);
    quadrature.set(cycle.quadrature.subarray(SHORT_LOOKBACK), SHORT_LOOKBACK);
  },
};

export const htDcPhase: IndicatorDefinition = {
  id: 'ht_dcphase',
  aliases: ['dominant_cycle_phase'],
  name: 'Hilbert Transform: Dominant Cycle Phase',
  category: 'cycle',
  talib: { name: 'HT_DCPHASE', args: {}, outputs: ['real'] },
  inputs: ['source'],
  args: [],
  outputs: VALUE,
  formula: 'the phase of the dominant cycle in degrees, -45 to 315 (TA-Lib HT_DCPHASE; Ehlers 2001)',
  lookback: () => LONG_LOOKBACK,
  stableLookback: () => STABLE,
  compute([source], _args, [out]) {
    const cycle = hilbertTransform(source, 0, LONG_SKIP);
    out.set(phases(cycle, smoothPeriods(cycle)).subarray(LONG_LOOKBACK), LONG_LOOKBACK);
  },
};

export const htSine: IndicatorDefinition = {
  id: 'ht_sine',
  aliases: ['sine_wave'],
  name: 'Hilbert Transform: Sine Wave',
  category: 'cycle',
  talib: { name: 'HT_SINE', args: {}, outputs: ['sine', 'leadsine'] },
  inputs: ['source'],
  args: [],
  outputs: [
    { name: 'sine', kind: 'bounded', min: -1, max: 1 },
    { name: 'lead_sine', kind: 'bounded', min: -1, max: 1 },
  ],
  formula: 'sin(phase) and sin(phase + 45°) of the dominant cycle (TA-Lib HT_SINE; Ehlers 2001)',
  lookback: () => LONG_LOOKBACK,
  stableLookback: () => STABLE,
  compute([source], _args, [sine, lead]) {
    const cycle = hilbertTransform(source, 0, LONG_SKIP);
    const phase = phases(cycle, smoothPeriods(cycle));
    for (let row = LONG_LOOKBACK; row < phase.length; row++) {
      sine[row] = Math.sin(phase[row] / DEGREES);
      lead[row] = Math.sin((phase[row] + 45) / DEGREES);
    }
  },
};

export const htTrendline: IndicatorDefinition = {
  id: 'ht_trendline',
  aliases: ['instantaneous_trendline'],
  name: 'Hilbert Transform: Instantaneous Trendline',
  category: 'overlap',
  talib: { name: 'HT_TRENDLINE', args: {}, outputs: ['real'] },
  inputs: ['source'],
  args: [],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'the mean over one dominant cycle, weighted 4 3 2 1 over four bars (TA-Lib HT_TRENDLINE; Ehlers 2001)',
  lookback: () => LONG_LOOKBACK,
  stableLookback: () => STABLE,
  compute([source], _args, [out]) {
    const cycle = hilbertTransform(source, 0, LONG_SKIP);
    out.set(trendline(source, cycle, smoothPeriods(cycle)).subarray(LONG_LOOKBACK), LONG_LOOKBACK);
  },
};

export const htTrendMode: IndicatorDefinition = {
  id: 'ht_trendmode',
  aliases: [],
  name: 'Hilbert Transform: Trend or Cycle Mode',
  category: 'cycle',
  talib: { name: 'HT_TRENDMODE', args: {}, outputs: ['integer'] },
  inputs: ['source'],
  args: [],
  outputs: [{ name: 'value', kind: 'flag', min: 0, max: 1 }],
  formula:
    '1 in a trend, 0 in a cycle: sine lines crossed lately, phase moves at the cycle’s rate, price near the ' +
    'trendline (TA-Lib HT_TRENDMODE; Ehlers 2001)',
  lookback: () => LONG_LOOKBACK,
  stableLookback: () => STABLE,
  compute([source], _args, [out]) {
    const cycle = hilbertTransform(source, 0, LONG_SKIP);
    const period = smoothPeriods(cycle);
    trendModes(cycle, period, phases(cycle, period), trendline(source, cycle, period), out);
  },
};

function smoothPeriods(cycle: Cycle): Float64Array {
  const smooth = new Float64Array(cycle.period.length);
  let value = 0;
  for (let row = cycle.start; row < smooth.length; row++) {
    value = 0.33 * cycle.period[row] + 0.67 * value;
    smooth[row] = value;
  }
  return smooth;
}

/** A discrete Fourier term of the smoothed price over one dominant cycle. */
function phases(cycle: Cycle, smoothPeriod: Float64Array): Float64Array {
  const phase = new Float64Array(smoothPeriod.length);
  let value = 0;
  for (let row = cycle.start; row < phase.length; row++) {
    const bars = Math.trunc(smoothPeriod[row] + 0.5);
    const { sine, cosine } = circleOf(bars);
    let real = 0;
    let imaginary = 0;
    for (let i = 0; i < bars; i++) {
      // Before the start the transform has seen no price: its ring is empty there.
      const price = row - i >= cycle.start ? cycle.smooth[row - i] : 0;
      real += sine[i] * price;
      imaginary += cosine[i] * price;
    }
    if (Math.abs(imaginary) > 0) value = Math.atan(real / imaginary) * DEGREES;
    else if (real < 0) value -= 90;
    else if (real > 0) value += 90;
    value += 90;
    // The weighted average lags one bar.
    value += 360 / smoothPeriod[row];
    if (imaginary < 0) value += 180;
    if (value > 315) value -= 360;
    phase[row] = value;
  }
  return phase;
}

function trendline(source: Float64Array, cycle: Cycle, smoothPeriod: Float64Array): Float64Array {
  const line = new Float64Array(source.length);
  let one = 0;
  let two = 0;
  let three = 0;
  for (let row = cycle.start; row < line.length; row++) {
    const bars = Math.trunc(smoothPeriod[row] + 0.5);
    let mean = 0;
    for (let i = 0; i < bars; i++) mean += source[row - i];
    if (bars > 0) mean /= bars;
    line[row] = (4 * mean + 3 * one + 2 * two + three) / 10;
    three = two;
    two = one;
    one = mean;
  }
  return line;
}

function trendModes(
  cycle: Cycle,
  smoothPeriod: Float64Array,
  phase: Float64Array,
  line: Float64Array,
  out: Float64Array,
): void {
  let barsInTrend = 0;
  let previousPhase = 0;
  let previousSine = 0;
  let previousLead = 0;
  for (let row = cycle.start; row < out.length; row++) {
    const sine = Math.sin(phase[row] / DEGREES);
    const lead = Math.sin((phase[row] + 45) / DEGREES);
    const hasCrossed = (sine > lead && previousSine <= previousLead) || (sine < lead && previousSine >= previousLead);
    barsInTrend = hasCrossed ? 1 : barsInTrend + 1;
    let isTrend = !hasCrossed && barsInTrend >= 0.5 * smoothPeriod[row];
    const turn = phase[row] - previousPhase;
    const expected = 360 / smoothPeriod[row];
    if (turn > 0.67 * expected && turn < 1.5 * expected) isTrend = false;
    const away = Math.abs((cycle.smooth[row] - line[row]) / line[row]);
    if (line[row] !== 0 && away >= 0.015) isTrend = true;
    previousPhase = phase[row];
    previousSine = sine;
    previousLead = lead;
    if (row >= LONG_LOOKBACK) out[row] = +isTrend;
  }
}

/** Steps around a circle of `bars` bars; sine[i] and cosine[i] are of the double nearest to i·2π/bars. */
interface Circle {
  readonly sine: Float64Array;
  readonly cosine: Float64Array;
}

/** The longest cycle the Hilbert transform reports is 50 bars. */
const circles: (Circle | undefined)[] = [];
const FRACTION_BITS = 200n;
const ONE = 1n << FRACTION_BITS;
const SCALE = 2 ** -100;

/**
 * The circle of `bars` steps, made once. On a flat series the Fourier sums over it consist only of the rounding errors
 * of its terms, and a phase is read from them: with Math.sin, which is off by an ulp here and there, the phase would
 * differ from TA-Lib's.
 */
function circleOf(bars: number): Circle {
  const known = circles[bars];
  if (known !== undefined) return known;
  const angles = Float64Array.from({ length: bars }, (_, i) => (i * (Math.atan(1) * 8)) / bars);
  const circle = { sine: angles.map((angle) => series(angle, 1)), cosine: angles.map((angle) => series(angle, 0)) };
  circles[bars] = circle;
  return circle;
}

/**
 * Taylor's series of the sine (from power 1) or cosine (from power 0) in 200-bit fixed point, rounded once at the end.
 */
function series(angle: number, power: 0 | 1): number {
  const x = fixed(angle);
  const square = (x * x) >> FRACTION_BITS;
  let term = power === 1 ? x : ONE;
  let sum = 0n;
  for (let k = BigInt(power); term !== 0n && term !== -1n; k += 2n) {
    sum += term;
    term = -((term * square) >> FRACTION_BITS) / ((k + 1n) * (k + 2n));
  }
  return Number(sum) * SCALE * SCALE;
}

/** A double is a whole multiple of 2^-1074; angles here are multiples of 2^-60 at the finest. */
const fixed = (value: number): bigint => BigInt(value * 2 ** 60) << (FRACTION_BITS - 60n);
