// Indicators no peer offers, beside second implementations that are slow and plain: from the formula, a row at a time,
// over all bars before it.
import { describe, expect, it } from 'vitest';
import type { Args } from '../../../src/engine/indicators/definition.ts';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { randomColumns } from '../../support/bars.ts';
import { argsOf, computeIndicator } from '../../support/indicators.ts';

const ROWS = 400;
const bars = randomColumns({ count: ROWS, seed: 5, timeframe: '1h' });
const { time, high, low, close, volume } = bars;
const typical = close.map((value, row) => (high[row] + low[row] + value) / 3);
const middle = close.map((_, row) => (high[row] + low[row]) / 2);
const DAY_MS = 86_400_000;

/** Row r of one output must be `expected(r)`, NaN for missing, to 1e-9. */
function expectOutput(id: string, given: Args, output: string, expected: (row: number) => number): void {
  const indicator = findIndicator(id)!;
  const args = argsOf(indicator, given);
  const columns = { ...bars, source: close } as unknown as Record<string, Float64Array>;
  const outputs = computeIndicator(
    indicator,
    args,
    indicator.inputs.map((name) => columns[name]),
  );
  const ours = outputs[indicator.outputs.findIndex(({ name }) => name === output)];
  let present = 0;
  for (let row = 0; row < ROWS; row++) {
    const want = row < indicator.lookback(args) ? NaN : expected(row);
    const difference = Math.abs(ours[row] - want) / Math.max(1, Math.abs(want));
    const isSame = Number.isNaN(want) ? Number.isNaN(ours[row]) : difference <= 1e-9;
    if (!isSame) throw new Error(`${id} ${output}[${row}] is ${ours[row]}, the reference has ${want}`);
    if (!Number.isNaN(want)) present++;
  }
  expect(present, `${id} ${output}: rows with a value`).toBeGreaterThan(ROWS / 10);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values: readonly number[]): number =>
  Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
const last = (values: Float64Array, row: number, count: number): number[] =>
  Array.from(values.subarray(row - count + 1, row + 1));

/** A recursive average of every value from `first` on, seeded with the mean of the first `length`; NaN before. */
function recursive(values: readonly number[], first: number, length: number, weight: number): number[] {
  const out = values.map(() => NaN);
  for (let row = first + length - 1; row < values.length; row++) {
    const seed = row === first + length - 1;
    out[row] = seed ? mean(values.slice(first, row + 1)) : out[row - 1] + weight * (values[row] - out[row - 1]);
  }
  return out;
}
const emaOf = (values: readonly number[], first: number, length: number) =>
  recursive(values, first, length, 2 / (length + 1));

describe('an indicator beyond TA-Lib, compared with its definition,', () => {
  it('weighs the latest bars most in alma with an offset above one half', () => {
    expectOutput('alma', { length: 9 }, 'value', (row) => {
      const weights = Array.from({ length: 9 }, (_, age) =>
        Math.exp(-((8 - age - 0.85 * 8) ** 2) / (2 * (9 / 6) ** 2)),
      );
      const sum = weights.reduce((total, weight, age) => total + weight * close[row - age], 0);
      return sum / weights.reduce((total, weight) => total + weight, 0);
    });
  });

  it('shows each smoothed line of the alligator as it was its offset ago', () => {
    const lines = { jaw: [13, 8], teeth: [8, 5], lips: [5, 3] } as const;
    for (const [name, [length, offset]] of Object.entries(lines)) {
      const smoothed = recursive([...middle], 0, length, 1 / length);
      expectOutput('alligator', {}, name, (row) => smoothed[row - offset]);
    }
  });

  it('follows the formula of wavetrend average by average', () => {
    const base = emaOf([...typical], 0, 10);
    const distance = base.map((value, row) => typical[row] - value);
    const size = emaOf(distance.map(Math.abs), 9, 10);
    const wave = emaOf(
      distance.map((value, row) => value / (0.015 * size[row])),
      18,
      21,
    );
    expectOutput('wavetrend', {}, 'wt1', (row) => wave[row]);
    expectOutput('wavetrend', {}, 'wt2', (row) => mean(wave.slice(row - 3, row + 1)));
  });

  it.each([
    [41, 9],
    [9, 30],
  ])(
    'is squeezed where both bands of %i bars lie inside the channel of %i, once all of its parts are known',
    (bb, kc) => {
      const trueRanges = Float64Array.from(
        close,
        (_, row) => Math.max(high[row], close[row - 1]) - Math.min(low[row], close[row - 1]),
      );
      const isOn = (row: number): boolean => {
        const bbHalf = 2 * deviation(last(close, row, bb));
        const kcHalf = 1.5 * mean(last(trueRanges, row, kc));
        const [bbMiddle, kcMiddle] = [mean(last(close, row, bb)), mean(last(close, row, kc))];
        return bbMiddle - bbHalf > kcMiddle - kcHalf && bbMiddle + bbHalf < kcMiddle + kcHalf;
      };
      const args = { bb_length: bb, kc_length: kc };
      // The true range of the first bar is missing; the regression of kc bars reads a mean of kc bars.
      const bandsFrom = Math.max(bb - 1, kc);
      const from = (first: number) => (row: number) => (row < first ? NaN : Number(isOn(row)));
      expectOutput('squeeze_momentum', args, 'on', from(Math.max(bandsFrom, 2 * (kc - 1))));
      expectOutput('ttm_squeeze', { ...args, momentum_length: 2, smooth_length: 2 }, 'on', from(bandsFrom));
    },
  );

  it('computes parkinson volatility as the root of the mean squared log range over 4 ln 2', () => {
    const squares = high.map((value, row) => Math.log(value / low[row]) ** 2);
    expectOutput('parkinson', { length: 12, annualization: 365 }, 'value', (row) => {
      return 100 * Math.sqrt((mean(last(squares, row, 12)) / (4 * Math.log(2))) * 365);
    });
  });

  it('computes the Hurst exponent as the least-squares slope of log deviation on log lag', () => {
    expectOutput('hurst', { length: 60, max_lag: 12 }, 'value', (row) => {
      const window = last(close, row, 60);
      const points = Array.from({ length: 11 }, (_, i) => {
        const lag = i + 2;
        return [Math.log(lag), Math.log(deviation(window.slice(lag).map((value, at) => value - window[at])))] as const;
      });
      const x = mean(points.map((point) => point[0]));
      const y = mean(points.map((point) => point[1]));
      const slope = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
      return slope / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
    });
  });

  it('gives a noisy straight climb a higher Hurst exponent than a random walk', () => {
    const indicator = findIndicator('hurst')!;
    const args = argsOf(indicator);
    const [walk] = computeIndicator(indicator, args, [close]);
    const [climb] = computeIndicator(indicator, args, [close.map((value, row) => value + Math.sin(row / 30) * 200)]);
    expect(climb[ROWS - 1]).toBeGreaterThan(0.9);
    expect(walk[ROWS - 1]).toBeLessThan(0.75);
  });

  it('computes a session band as the volume-weighted deviation since midnight UTC', () => {
    const session = (row: number): readonly [mean: number, deviation: number] => {
      const rows = [...time.keys()].filter(
        (at) => at <= row && Math.floor(time[at] / DAY_MS) === Math.floor(time[row] / DAY_MS),
      );
      const total = rows.reduce((sum, at) => sum + volume[at], 0);
      const center = rows.reduce((sum, at) => sum + volume[at] * typical[at], 0) / total;
      return [center, Math.sqrt(rows.reduce((sum, at) => sum + volume[at] * (typical[at] - center) ** 2, 0) / total)];
    };
    expectOutput('vwap_bands', { multiplier: 1.5 }, 'upper', (row) => session(row)[0] + 1.5 * session(row)[1]);
    expectOutput('vwap_bands', { multiplier: 1.5 }, 'lower', (row) => session(row)[0] - 1.5 * session(row)[1]);
    expectOutput('vwap_session', {}, 'value', (row) => session(row)[0]);
  });

  it('begins an anchored vwap with the first bar at or after its anchor', () => {
    const anchor = time[100] - 1;
    expectOutput('vwap_anchored', { anchor_time: anchor }, 'value', (row) => {
      const rows = [...time.keys()].filter((at) => at <= row && time[at] >= anchor);
      const total = rows.reduce((sum, at) => sum + volume[at], 0);
      return rows.reduce((sum, at) => sum + volume[at] * typical[at], 0) / total;
    });
  });

  it('takes the pivots of an hourly bar from the whole previous UTC day', () => {
    const before = (row: number): readonly [high: number, low: number, close: number] => {
      const rows = [...time.keys()].filter(
        (at) => Math.floor(time[at] / DAY_MS) === Math.floor(time[row] / DAY_MS) - 1,
      );
      if (rows.length === 0) return [NaN, NaN, NaN];
      return [Math.max(...rows.map((at) => high[at])), Math.min(...rows.map((at) => low[at])), close[rows.at(-1)!]];
    };
    expectOutput('pivots_classic', {}, 'pivot', (row) => mean(before(row)));
    expectOutput('pivots_classic', {}, 'r1', (row) => 2 * mean(before(row)) - before(row)[1]);
    expectOutput('pivots_classic', {}, 's3', (row) => before(row)[1] - 2 * (before(row)[0] - mean(before(row))));
    expectOutput('pivots_fibonacci', {}, 'r2', (row) => mean(before(row)) + 0.618 * (before(row)[0] - before(row)[1]));
    expectOutput('pivots_camarilla', {}, 's4', (row) => before(row)[2] - (1.1 * (before(row)[0] - before(row)[1])) / 2);
  });
});

describe('the confirmed zigzag', () => {
  const DEVIATION = 4;

  /** From the definition, a leg at a time: find the pivot that ends it and the bar that shows it. */
  function pivots(): { at: number; price: number; shownAt: number; side: 1 | -1 }[] {
    const found: { at: number; price: number; shownAt: number; side: 1 | -1 }[] = [];
    const share = DEVIATION / 100;
    const firstOf = (row: number, test: (at: number) => boolean): number => {
      for (let at = row; at < ROWS; at++) if (test(at)) return at;
      return ROWS;
    };
    const best = (from: number, to: number, side: 1 | -1): number => {
      let at = from;
      for (let row = from; row <= to; row++) if (side < 0 ? high[row] > high[at] : low[row] < low[at]) at = row;
      return at;
    };
    /** The first bar after `from` that turns far enough against the extreme of the bars from `from` on. */
    const turn = (from: number, side: 1 | -1): number =>
      firstOf(from + 1, (row) => {
        const at = best(from, row, side);
        if (at === row) return false;
        return side < 0 ? low[row] <= high[at] * (1 - share) : high[row] >= low[at] * (1 + share);
      });
    let from = 0;
    const down = turn(0, -1);
    const up = turn(0, 1);
    let side: 1 | -1 = down <= up ? -1 : 1;
    let shownAt = Math.min(down, up);
    while (shownAt < ROWS) {
      const at = best(from, shownAt, side);
      found.push({ at, price: side < 0 ? high[at] : low[at], shownAt, side });
      from = shownAt;
      side = side < 0 ? 1 : -1;
      shownAt = turn(from, side);
    }
    return found;
  }

  const known = pivots();
  const latest = (row: number) => known.findLast(({ shownAt }) => shownAt <= row);

  it('finds pivots of both kinds in these bars', () => {
    expect(known.length).toBeGreaterThan(20);
    expect(new Set(known.map(({ side }) => side)).size).toBe(2);
  });

  it('shows each pivot from the bar that confirms it, and its direction and age', () => {
    expectOutput('zigzag', { deviation: DEVIATION }, 'pivot', (row) => latest(row)?.price ?? NaN);
    expectOutput('zigzag', { deviation: DEVIATION }, 'direction', (row) => latest(row)?.side ?? NaN);
    expectOutput('zigzag', { deviation: DEVIATION }, 'age', (row) => row - (latest(row)?.at ?? NaN));
  });
});
