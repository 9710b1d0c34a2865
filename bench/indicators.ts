// Indicator kernels: ns per bar at 1e4 bars (columns in cache) and 1e6 (columns in memory), default arguments.
import { Bench } from 'tinybench';
import type { Args, IndicatorDefinition } from '../src/engine/indicators/definition.ts';
import { INDICATORS } from '../src/engine/indicators/registry.ts';
import { isShort, measure, needs, onDemand, timed } from './measure.ts';
import { argsOf } from '../test/support/indicators.ts';
import { seededRandom } from '../test/support/scale.ts';

export const BAR_COUNTS: readonly number[] = isShort ? [10_000] : [10_000, 1_000_000];
/** The nine indicators that are measured against TA-Lib, with their usual lengths. */
export const MEASURED: readonly (readonly [id: string, args: Args])[] = [
  ['sma', { length: 20 }],
  ['ema', { length: 20 }],
  ['rsi', { length: 14 }],
  ['atr', { length: 14 }],
  ['macd', {}],
  ['bbands', { length: 20 }],
  ['adx', { length: 14 }],
  ['stoch', {}],
  ['max', { length: 50 }],
];

type Columns = Readonly<Record<string, Float64Array>>;

/** A random walk in shared memory, where market columns live. */
function randomColumns(count: number): Columns {
  const random = seededRandom(11);
  const column = (): Float64Array => new Float64Array(new SharedArrayBuffer(8 * count));
  const [time, open, high, low, close, volume, periods] = Array.from({ length: 7 }, column);
  let price = 100;
  for (let row = 0; row < count; row++) {
    time[row] = Date.UTC(1980, 0, 1) + row * 3_600_000;
    open[row] = price;
    price *= 1 + (random() - 0.5) * 0.012;
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + random() * 0.003);
    low[row] = Math.min(open[row], price) * (1 - random() * 0.003);
    volume[row] = random() * 1000;
    periods[row] = 2 + (row % 29);
  }
  return { time, open, high, low, close, volume, periods, source: close, source2: open };
}

/**
 * The nine of MEASURED, or every indicator with `all`. A task's name is `indicators/ID/BARS`; its time divided by BARS
 * is ns per bar. Run each question in its own process: kernels that are measured after many others have seen more
 * shapes and are slower.
 */
export function suite({ all = false } = {}): Bench {
  const bench = new Bench(timed(200));
  for (const count of BAR_COUNTS) {
    const columns = onDemand(() => randomColumns(count));
    const chosen = MEASURED.map(([id, args]) => [INDICATORS.find((one) => one.id === id)!, args] as const);
    for (const [indicator, given] of all ? INDICATORS.map((one) => [one, {}] as const) : chosen) {
      add(bench, indicator, argsOf(indicator, given), columns, count);
    }
  }
  return bench;
}

function add(bench: Bench, indicator: IndicatorDefinition, args: Args, columns: () => Columns, count: number): void {
  const inputs = onDemand(() => indicator.inputs.map((name) => columns()[name]));
  const outputs = onDemand(() => indicator.outputs.map(() => new Float64Array(new SharedArrayBuffer(8 * count))));
  const compute = (): void => indicator.compute(inputs(), args, outputs());
  bench.add(`indicators/${indicator.id}/${count}`, compute, needs(inputs, outputs));
}

if (import.meta.main) await measure(suite());
