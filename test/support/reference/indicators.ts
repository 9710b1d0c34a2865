// Indicators written a second time, naively; others run the registry's own kernel, and what is written here must agree
// with it.
import type { IndicatorDefinition } from '../../../src/engine/indicators/definition.ts';
import { exactSum } from './exactSum.ts';

type Args = Readonly<Record<string, number | string | boolean>>;
type Naive = (inputs: readonly (readonly number[])[], args: Args) => readonly number[];

const windows = (source: readonly number[], length: number, of: (window: readonly number[]) => number): number[] =>
  source.map((_, row) => (row + 1 < length ? NaN : of(source.slice(row + 1 - length, row + 1))));
const average = (window: readonly number[]): number => exactSum(window) / window.length;
const lengthOf = ({ length }: Args): number => Number(length);

/** y = y + share · (x − y), begun with the mean of the first `length` values from row `first` on. */
function smoothed(source: readonly number[], length: number, share: number, first = 0): number[] {
  const out: number[] = source.map(() => NaN);
  if (source.length < first + length) return out;
  let value = average(source.slice(first, first + length));
  out[first + length - 1] = value;
  for (let row = first + length; row < source.length; row++) out[row] = value += share * (source[row] - value);
  return out;
}

function rsi(source: readonly number[], length: number): number[] {
  const change = source.map((x, row) => (row === 0 ? 0 : x - source[row - 1]));
  const up = smoothed(
    change.map((x) => Math.max(x, 0)),
    length,
    1 / length,
    1,
  );
  const down = smoothed(
    change.map((x) => Math.max(-x, 0)),
    length,
    1 / length,
    1,
  );
  return up.map((gain, row) => (gain + down[row] === 0 ? 0 : (100 * gain) / (gain + down[row])));
}

const trueRanges = (high: readonly number[], low: readonly number[], close: readonly number[]): number[] =>
  high.map((top, row) =>
    row === 0 ? top - low[row] : Math.max(top, close[row - 1]) - Math.min(low[row], close[row - 1]),
  );

/** First output of each. */
export const NAIVE: Readonly<Record<string, Naive>> = {
  sma: ([source], args) => windows(source, lengthOf(args), average),
  ema: ([source], args) => smoothed(source, lengthOf(args), 2 / (lengthOf(args) + 1)),
  rma: ([source], args) => smoothed(source, lengthOf(args), 1 / lengthOf(args)),
  wma: ([source], args) =>
    windows(
      source,
      lengthOf(args),
      (window) => exactSum(window.map((x, i) => x * (i + 1))) / ((window.length * (window.length + 1)) / 2),
    ),
  rsi: ([source], args) => rsi(source, lengthOf(args)),
  atr: ([high, low, close], args) => smoothed(trueRanges(high, low, close), lengthOf(args), 1 / lengthOf(args), 1),
  mom: ([source], args) => source.map((x, row) => x - (source[row - lengthOf(args)] ?? NaN)),
  roc: ([source], args) => source.map((x, row) => (x / (source[row - lengthOf(args)] ?? NaN) - 1) * 100),
  highest: ([source], args) => windows(source, lengthOf(args), (window) => Math.max(...window)),
  lowest: ([source], args) => windows(source, lengthOf(args), (window) => Math.min(...window)),
};

/** The output of an indicator over dense inputs; NaN before its lookback. */
export function indicatorOf(
  definition: IndicatorDefinition,
  inputs: readonly (readonly number[])[],
  args: Args,
  output: number,
): readonly number[] {
  const rows = inputs[0].length;
  const outputs = definition.outputs.map(() => new Float64Array(rows).fill(NaN));
  // A kernel is asked only where it has a row to write.
  if (rows > definition.lookback(args))
    definition.compute(
      inputs.map((input) => Float64Array.from(input)),
      args,
      outputs,
    );
  const computed = [...outputs[output]].map((x) => (Number.isFinite(x) ? x : NaN));
  const naive = output === 0 ? NAIVE[definition.id]?.(inputs, args) : undefined;
  naive?.forEach((expected, row) => {
    const scale = Math.max(1, Math.abs(expected), ...inputs.map((input) => Math.abs(input[row])));
    const isEqual = Number.isFinite(expected)
      ? Math.abs(computed[row] - expected) <= 1e-9 * scale
      : Number.isNaN(computed[row]);
    if (!isEqual)
      throw new Error(
        `${definition.id} ${JSON.stringify(args)} row ${row}: kernel ${computed[row]}, formula ${expected}`,
      );
  });
  return computed;
}
