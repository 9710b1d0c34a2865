// Indicator kernels: ns per bar, from a market's columns to a plan's. Every indicator at 1e4 bars (columns in cache),
// and nine of them at 1e6 (columns in memory).
import { Bench } from 'tinybench';
import type { Args, IndicatorDefinition } from '../src/engine/indicators/definition.ts';
import { INDICATORS } from '../src/engine/indicators/registry.ts';
import { newColumn } from '../src/engine/kernels/ownedColumns.ts';
import { isShort, measure, needs, onDemand, timed } from './measure.ts';
import { argsOf } from '../test/support/indicators.ts';
import { walkMarket } from './walk.ts';

const IN_CACHE = 10_000;
const IN_MEMORY = 1_000_000;
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

/** A market's columns, which kernels read in place, and lengths of windows that differ from row to row. */
function walkColumns(count: number): Columns {
  const { time, open, high, low, close, volume } = walkMarket(count).base;
  const periods = Float64Array.from({ length: count }, (_, row) => 2 + (row % 29));
  return { time, open, high, low, close, volume, periods, source: close, source2: open };
}

/**
 * The nine of MEASURED first: kernels that are measured after many others have seen more shapes and are slower. A
 * task's name is `indicators/ID/BARS`; its time divided by BARS is ns per bar.
 */
export function suite(): Bench {
  const bench = new Bench(timed(200));
  const measured = MEASURED.map(([id, args]) => [INDICATORS.find((one) => one.id === id)!, args] as const);
  const others = INDICATORS.filter(({ id }) => !MEASURED.some(([name]) => name === id));
  const addAll = (count: number, all: readonly (readonly [IndicatorDefinition, Args])[]): void => {
    const columns = onDemand(() => walkColumns(count));
    for (const [indicator, given] of all) add(bench, indicator, argsOf(indicator, given), columns, count);
  };
  addAll(IN_CACHE, [...measured, ...others.map((one) => [one, {}] as const)]);
  if (!isShort) addAll(IN_MEMORY, measured);
  return bench;
}

function add(bench: Bench, indicator: IndicatorDefinition, args: Args, columns: () => Columns, count: number): void {
  const inputs = onDemand(() => indicator.inputs.map((name) => columns()[name]));
  const outputs = onDemand(() => indicator.outputs.map(() => newColumn(count)));
  const compute = (): void => indicator.compute(inputs(), args, outputs());
  bench.add(`indicators/${indicator.id}/${count}`, compute, needs(inputs, outputs));
}

if (import.meta.main) await measure(suite());
