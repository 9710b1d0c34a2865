// Every TA-Lib function against TA-Lib's own numbers: the real series with its parameter sets, and the degenerate ones.
import { describe, expect, it } from 'vitest';
import { resolveTalibArgs } from '../../src/engine/indicators/arguments.ts';
import { findTalib, INDICATORS } from '../../src/engine/indicators/registry.ts';
import { computeIndicator } from '../support/indicators.ts';
import { withArtificialInputs } from '../support/talibGolden.ts';
import { largestDifference, toleranceOf } from '../support/tolerances.ts';
import { readOracle } from './shared.ts';

interface Case {
  readonly fn: string;
  readonly params: Readonly<Record<string, number>>;
  readonly inputs: readonly string[];
  readonly lookback: number;
  readonly int_outputs: readonly string[];
  readonly outputs: Readonly<Record<string, readonly (number | null)[]>>;
}
interface Oracle {
  readonly bars: Readonly<Record<string, readonly number[]>>;
  readonly cases: readonly Case[];
}

const oracle = readOracle<Oracle>('talib-BTCUSDT-1h');
const columns = derivedColumns(oracle.bars);

describe('the engine, compared with TA-Lib on real bars,', () => {
  it('knows all 140 functions of the oracle by their TA-Lib name', () => {
    const names = new Set(oracle.cases.map((one) => one.fn));
    expect(names.size).toBe(140);
    expect([...names].filter((name) => findTalib(name) === undefined)).toEqual([]);
    expect(INDICATORS.filter((one) => one.talib !== undefined).length).toBe(140);
  });

  for (const one of oracle.cases) {
    it(`computes ${one.fn} ${JSON.stringify(one.params)} with the same values and lookback`, () =>
      expectEqual(one, columns));
  }
});

/** Whole-number outputs; the degenerate oracle does not mark them. */
const INTEGERS = new Set(oracle.cases.flatMap((one) => one.int_outputs.map((output) => `${one.fn}.${output}`)));

describe('the engine, compared with TA-Lib on degenerate series,', () => {
  const { series } = readOracle<{ series: readonly (Oracle & { readonly series: string })[] }>('talib-degenerate');
  for (const { series: name, bars, cases } of series) {
    it(`computes ${cases.length} functions on the ${name} series with the same values`, () => {
      const columns = derivedColumns(bars);
      for (const one of cases) {
        const int_outputs = Object.keys(one.outputs).filter((output) => INTEGERS.has(`${one.fn}.${output}`));
        expectEqual({ ...one, int_outputs }, columns);
      }
    });
  }
});

function expectEqual(one: Case, columns: ReadonlyMap<string, Float64Array>): void {
  const indicator = findTalib(one.fn)!;
  const { args, issues } = resolveTalibArgs(indicator, one.params);
  expect(issues).toEqual([]);
  expect(indicator.lookback(args)).toBe(one.lookback);
  const outputs = computeIndicator(
    indicator,
    args,
    one.inputs.map((name) => columns.get(name)!),
  );
  expect(indicator.talib!.outputs).toEqual(Object.keys(one.outputs));
  indicator.talib!.outputs.forEach((name, index) => {
    const expected = Float64Array.from(one.outputs[name], (value) => value ?? NaN);
    // Whole-number outputs hold 0 in TA-Lib's warm-up rows; ours are missing there.
    if (one.int_outputs.includes(name)) expected.fill(NaN, 0, one.lookback);
    const { difference, row } = largestDifference(outputs[index], expected);
    expect(difference, `${one.fn} ${name}[${row}] ${outputs[index][row]} against ${expected[row]}`).toBeLessThanOrEqual(
      toleranceOf(one.fn),
    );
  });
}

function derivedColumns(bars: Oracle['bars']): ReadonlyMap<string, Float64Array> {
  const columns = new Map(Object.entries(bars).map(([name, values]) => [name, Float64Array.from(values)]));
  return withArtificialInputs(columns);
}
