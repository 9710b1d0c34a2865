// The core indicators a second time, as slow and obvious as their definitions read, on random bars.
import { describe, expect, it } from 'vitest';
import type { Args } from '../../../src/engine/indicators/definition.ts';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { randomColumns } from '../../support/bars.ts';
import { argsOf, computeIndicator } from '../../support/indicators.ts';
import { scaled } from '../../support/scale.ts';

interface Row {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}
type Values = readonly number[];

const mean = (values: Values): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const last = (values: Values, row: number, length: number): Values => values.slice(row - length + 1, row + 1);

/** f over each full window; NaN before. `from` is the first row that has a value. */
const windowed = (values: Values, length: number, f: (window: Values) => number, from = 0): Values =>
  values.map((_, row) => (row < from + length - 1 ? NaN : f(last(values, row, length))));

/** A recursive average from the mean of the first `length` values at `from`. */
function smoothed(values: Values, length: number, weight: number, from = 0): Values {
  const out: number[] = [];
  values.forEach((value, row) => {
    if (row < from + length - 1) out.push(NaN);
    else if (row === from + length - 1) out.push(mean(values.slice(from, from + length)));
    else out.push(out[row - 1] + weight * (value - out[row - 1]));
  });
  return out;
}
const emaOf = (values: Values, length: number, from = 0): Values => smoothed(values, length, 2 / (length + 1), from);
const wilderOf = (values: Values, length: number, from = 0): Values => smoothed(values, length, 1 / length, from);
const deviation = (window: Values): number => Math.sqrt(mean(window.map((value) => (value - mean(window)) ** 2)));
const trueRanges = (rows: readonly Row[]): Values =>
  rows.map(({ high, low }, row) => {
    if (row === 0) return NaN;
    const before = rows[row - 1].close;
    return Math.max(high - low, Math.abs(high - before), Math.abs(low - before));
  });
const changes = (values: Values): Values => values.map((value, row) => (row === 0 ? NaN : value - values[row - 1]));
const combine = (left: Values, right: Values, f: (a: number, b: number) => number): Values =>
  left.map((value, row) => f(value, right[row]));

/** Wilder's sums: plain up to row length-1, then shrinking by 1/length a bar. */
function wilderSums(values: Values, length: number): Values {
  let sum = 0;
  return values.map((value, row) => {
    if (row > 0) sum = sum * (row >= length ? 1 - 1 / length : 1) + value;
    return sum;
  });
}

function adxOf(rows: readonly Row[], length: number): Values {
  const moves = rows.map(({ high, low }, row) => {
    const up = row === 0 ? 0 : high - rows[row - 1].high;
    const down = row === 0 ? 0 : rows[row - 1].low - low;
    return { plus: up > down ? Math.max(up, 0) : 0, minus: down > up ? Math.max(down, 0) : 0 };
  });
  const plus = wilderSums(
    moves.map((move) => move.plus),
    length,
  );
  const minus = wilderSums(
    moves.map((move) => move.minus),
    length,
  );
  const dx = plus.map((value, row) => (100 * Math.abs(value - minus[row])) / (value + minus[row]));
  return wilderOf(dx, length, length);
}

interface Reference {
  readonly id: string;
  readonly args: Args;
  readonly of: (rows: readonly Row[], close: Values) => readonly Values[];
}

const REFERENCES: readonly Reference[] = [
  { id: 'sma', args: { length: 9 }, of: (_, close) => [windowed(close, 9, mean)] },
  { id: 'ema', args: { length: 9 }, of: (_, close) => [emaOf(close, 9)] },
  { id: 'rma', args: { length: 9 }, of: (_, close) => [wilderOf(close, 9)] },
  {
    id: 'wma',
    args: { length: 4 },
    of: (_, close) => [windowed(close, 4, ([a, b, c, d]) => (a + 2 * b + 3 * c + 4 * d) / 10)],
  },
  {
    id: 'mom',
    args: { length: 5 },
    of: (_, close) => [close.map((value, row) => (row < 5 ? NaN : value - close[row - 5]))],
  },
  {
    id: 'roc',
    args: { length: 5 },
    of: (_, close) => [close.map((value, row) => (row < 5 ? NaN : 100 * (value / close[row - 5] - 1)))],
  },
  {
    id: 'stddev',
    args: { length: 7, multiplier: 2 },
    of: (_, close) => [windowed(close, 7, (window) => 2 * deviation(window))],
  },
  { id: 'max', args: { length: 6 }, of: (_, close) => [windowed(close, 6, (window) => Math.max(...window))] },
  { id: 'min', args: { length: 6 }, of: (_, close) => [windowed(close, 6, (window) => Math.min(...window))] },
  {
    id: 'bbands',
    args: { length: 8, multiplier: 2.5, multiplier_down: 1.5 },
    of: (_, close) => [
      windowed(close, 8, (window) => mean(window) + 2.5 * deviation(window)),
      windowed(close, 8, mean),
      windowed(close, 8, (window) => mean(window) - 1.5 * deviation(window)),
    ],
  },
  {
    id: 'rsi',
    args: { length: 6 },
    of(_, close) {
      const change = changes(close);
      const gain = wilderOf(
        change.map((value) => Math.max(value, 0)),
        6,
        1,
      );
      const loss = wilderOf(
        change.map((value) => Math.max(-value, 0)),
        6,
        1,
      );
      return [combine(gain, loss, (up, down) => 100 - 100 / (1 + up / down))];
    },
  },
  {
    id: 'macd',
    args: { fast_length: 4, slow_length: 9, signal_length: 5 },
    of(_, close) {
      const line = combine(emaOf(close, 4, 5), emaOf(close, 9), (fast, slow) => fast - slow);
      const signal = emaOf(line, 5, 8);
      return [
        combine(line, signal, (a, b) => (Number.isNaN(b) ? NaN : a)),
        signal,
        combine(line, signal, (a, b) => a - b),
      ];
    },
  },
  { id: 'atr', args: { length: 6 }, of: (rows) => [wilderOf(trueRanges(rows), 6, 1)] },
  { id: 'adx', args: { length: 5 }, of: (rows) => [adxOf(rows, 5)] },
  {
    id: 'stoch',
    args: { k_length: 6, k_smooth: 3, d_length: 4 },
    of(rows) {
      const raw = rows.map(({ close }, row) => {
        if (row < 5) return NaN;
        const window = rows.slice(row - 5, row + 1);
        const bottom = Math.min(...window.map((one) => one.low));
        return (100 * (close - bottom)) / (Math.max(...window.map((one) => one.high)) - bottom);
      });
      const k = windowed(raw, 3, mean, 5);
      const d = windowed(k, 4, mean, 7);
      return [combine(k, d, (a, b) => (Number.isNaN(b) ? NaN : a)), d];
    },
  },
  {
    id: 'cci',
    args: { length: 7 },
    of(rows) {
      const typical = rows.map(({ high, low, close }) => (high + low + close) / 3);
      return [
        windowed(
          typical,
          7,
          (window) =>
            (window[6] - mean(window)) / (0.015 * mean(window.map((value) => Math.abs(value - mean(window))))),
        ),
      ];
    },
  },
  {
    id: 'willr',
    args: { length: 7 },
    of: (rows) => [
      rows.map(({ close }, row) => {
        if (row < 6) return NaN;
        const window = rows.slice(row - 6, row + 1);
        const top = Math.max(...window.map((one) => one.high));
        return (-100 * (top - close)) / (top - Math.min(...window.map((one) => one.low)));
      }),
    ],
  },
  {
    id: 'mfi',
    args: { length: 6 },
    of(rows) {
      const typical = rows.map(({ high, low, close }) => (high + low + close) / 3);
      // A move that is the rounding of a third is none.
      const flow = changes(typical).map((change, row) =>
        Math.abs(change) < 1e-12 ? 0 : Math.sign(change) * typical[row] * rows[row].volume,
      );
      const up = windowed(
        flow.map((value) => Math.max(value, 0)),
        6,
        mean,
        1,
      );
      const down = windowed(
        flow.map((value) => Math.max(-value, 0)),
        6,
        mean,
        1,
      );
      return [combine(up, down, (a, b) => (100 * a) / (a + b))];
    },
  },
  {
    id: 'obv',
    args: {},
    of(rows, close) {
      let total = rows[0].volume;
      return [
        close.map((value, row) =>
          row === 0 ? total : (total += Math.sign(value - close[row - 1]) * rows[row].volume),
        ),
      ];
    },
  },
];

describe('an indicator, compared with its definition computed afresh for every bar,', () => {
  for (const { id, args, of } of REFERENCES) {
    it(id, () => {
      const indicator = findIndicator(id)!;
      for (let seed = 1; seed <= scaled(50); seed++) {
        const { time, open, high, low, close, volume } = randomColumns({ count: 120, seed });
        const columns = { time, open, high, low, close, volume, source: close, source2: open, periods: open };
        const rows = Array.from(close, (_, row) => ({
          open: open[row],
          high: high[row],
          low: low[row],
          close: close[row],
          volume: volume[row],
        }));
        const outputs = computeIndicator(
          indicator,
          argsOf(indicator, args),
          indicator.inputs.map((name) => columns[name]),
        );
        of(rows, [...close]).forEach((expected, at) => {
          expected.forEach((value, row) => {
            const place = `${indicator.outputs[at].name}[${row}], seed ${seed}`;
            if (Number.isNaN(value)) expect(outputs[at][row], place).toBeNaN();
            else
              expect(Math.abs(outputs[at][row] - value), place).toBeLessThanOrEqual(
                1e-9 * Math.max(1, Math.abs(value)),
              );
          });
        });
      }
    });
  }
});
