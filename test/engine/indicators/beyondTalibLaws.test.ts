// What every indicator of the extra list promises, on friendly and on hostile bars.
import { describe, expect, it } from 'vitest';
import type { IndicatorDefinition } from '../../../src/engine/indicators/definition.ts';
import { BEYOND_TALIB } from '../../../src/engine/indicators/registry.ts';
import { INDICATORS } from '../../../src/engine/indicators/registry.ts';
import { randomColumns } from '../../support/bars.ts';
import { argsOf, computeIndicator, oneLong } from '../../support/indicators.ts';
import { scaled, seededRandom } from '../../support/scale.ts';

type Columns = Readonly<Record<string, Float64Array>>;

const ROWS = 300;
/** Their first value depends on what the bars are, not only on the arguments. */
const DATED = ['zigzag', 'pivots_classic', 'pivots_fibonacci', 'pivots_camarilla'];

function columnsOf(seed: number, count: number): Columns {
  const { time, open, high, low, close, volume } = randomColumns({ count, seed, timeframe: '1h' });
  return { time, open, high, low, close, volume, source: close };
}
const mapped = (columns: Columns, names: readonly string[], change: (value: number, row: number) => number): Columns =>
  Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [name, names.includes(name) ? values.map(change) : values]),
  );

const PRICES = ['open', 'high', 'low', 'close', 'source'];
const friendly = columnsOf(2, ROWS);
const HOSTILE: Readonly<Record<string, Columns>> = {
  flat: mapped(friendly, PRICES, () => 100),
  'flat from row 100 to 200': mapped(friendly, PRICES, (value, row) => (row >= 100 && row < 200 ? 50 : value)),
  'zero prices': mapped(friendly, PRICES, () => 0),
  'prices of 1e-8': mapped(friendly, PRICES, (value) => value * 1e-10),
  'prices of 1e12': mapped(friendly, PRICES, (value) => value * 1e10),
  'no volume': mapped(friendly, ['volume'], () => 0),
  'volume of 1e-300': mapped(friendly, ['volume'], () => 1e-300),
  'flat without volume in the middle': mapped(
    mapped(friendly, PRICES, (value, row) => (row >= 60 && row < 160 ? 80 : value)),
    ['volume'],
    (value, row) => (row >= 60 && row < 160 ? 0 : value),
  ),
};

const inputsOf = (indicator: IndicatorDefinition, columns: Columns, count = ROWS): Float64Array[] =>
  indicator.inputs.map((name) => columns[name].slice(0, count));

describe('an indicator beyond TA-Lib', () => {
  it('has an id and aliases that are unique in the whole registry', () => {
    const names = INDICATORS.flatMap((indicator) => [indicator.id, ...indicator.aliases]);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  for (const indicator of BEYOND_TALIB) {
    const args = argsOf(indicator);

    it(`starts every output at its lookback: ${indicator.id}`, () => {
      for (const given of [args, ...oneLong(indicator)]) {
        const lookback = indicator.lookback(given);
        for (const output of computeIndicator(indicator, given, inputsOf(indicator, friendly))) {
          const first = output.findIndex((value) => !Number.isNaN(value));
          if (DATED.includes(indicator.id)) expect(first).toBeGreaterThanOrEqual(lookback);
          else expect(first, JSON.stringify(given)).toBe(lookback);
          // The Hurst exponent of a window too short for a slope is missing.
          const isShort = indicator.id === 'hurst' && given !== args;
          if (!isShort) expect(output.subarray(first).every((value) => Number.isFinite(value))).toBe(true);
        }
        expect(indicator.stableLookback?.(given) ?? Infinity).toBeGreaterThanOrEqual(lookback);
      }
    });

    it(`gives a prefix of its values on a prefix of the bars: ${indicator.id}`, () => {
      const random = seededRandom(17);
      const whole = computeIndicator(indicator, args, inputsOf(indicator, friendly));
      const cuts = Array.from({ length: scaled(100) }, () => 1 + Math.floor(random() * ROWS));
      for (const cut of [1, 2, indicator.lookback(args) + 1, ...cuts]) {
        const part = computeIndicator(indicator, args, inputsOf(indicator, friendly, cut));
        part.forEach((output, at) => expect(output).toEqual(whole[at].slice(0, cut)));
      }
    });

    it(`is finite, stays within its bounds and does not change its inputs: ${indicator.id}`, () => {
      for (const [name, columns] of Object.entries({ friendly, ...HOSTILE })) {
        const inputs = inputsOf(indicator, columns);
        const outputs = computeIndicator(indicator, args, inputs);
        expect(inputs).toEqual(inputsOf(indicator, columns));
        indicator.outputs.forEach(({ name: output, min = -Infinity, max = Infinity }, at) => {
          const wrong = outputs[at].find(
            (value) => Math.abs(value) === Infinity || value < min - 1e-9 || value > max + 1e-9,
          );
          expect(wrong, `${output} on ${name}`).toBeUndefined();
        });
      }
    });

    it(`accepts the ends of the ranges of its arguments: ${indicator.id}`, () => {
      const lowest = Object.fromEntries(
        indicator.args.filter(({ min }) => min !== undefined).map(({ name, min }) => [name, min!]),
      );
      const outputs = computeIndicator(indicator, argsOf(indicator, lowest), inputsOf(indicator, friendly));
      for (const output of outputs) expect(output.some((value) => Math.abs(value) === Infinity)).toBe(false);
      // A length beyond the data leaves everything missing.
      const long = indicator.args
        .filter(({ name }) => name.endsWith('length'))
        .map(({ name }) => [name, ROWS + 1] as const);
      if (long.length === 0) return;
      const missing = computeIndicator(
        indicator,
        argsOf(indicator, Object.fromEntries(long)),
        inputsOf(indicator, friendly),
      );
      for (const output of missing) expect(output.every((value) => Number.isNaN(value))).toBe(true);
    });
  }
});

describe('a flat stretch of prices', () => {
  it('leaves the z-score after it as if the running sums had begun there', () => {
    const zscore = BEYOND_TALIB.find(({ id }) => id === 'zscore')!;
    const source = HOSTILE['flat from row 100 to 200'].source;
    const [whole] = computeIndicator(zscore, argsOf(zscore), [source]);
    const [tail] = computeIndicator(zscore, argsOf(zscore), [source.slice(200)]);
    for (let row = 29; row < tail.length; row++) expect(whole[200 + row]).toBeCloseTo(tail[row], 9);
    expect(whole[150]).toBe(0);
  });

  it('makes choppiness and the Hurst exponent missing, not infinite', () => {
    for (const id of ['chop', 'hurst']) {
      const indicator = BEYOND_TALIB.find((one) => one.id === id)!;
      const [out] = computeIndicator(indicator, argsOf(indicator), inputsOf(indicator, HOSTILE.flat));
      expect(out.every((value) => Number.isNaN(value))).toBe(true);
    }
  });
});
