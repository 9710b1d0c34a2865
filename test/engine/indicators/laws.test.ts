// What every indicator promises, on friendly and on hostile bars, at the ends of its arguments' ranges too.
import { describe, expect, it } from 'vitest';
import { computeIndicator as computeOverPresent } from '../../../src/engine/indicators/compute.ts';
import type { ArgDefinition, Args, IndicatorDefinition } from '../../../src/engine/indicators/definition.ts';
import { BEYOND_TALIB } from '../../../src/engine/indicators/registry.ts';
import { findIndicator, findTalib, INDICATORS } from '../../../src/engine/indicators/registry.ts';
import { randomColumns } from '../../support/bars.ts';
import { argsOf, computeIndicator, oneLong } from '../../support/indicators.ts';
import { scaled, seededRandom } from '../../support/scale.ts';

type Columns = Readonly<Record<string, Float64Array>>;

const ROWS = 320;

function columnsOf(seed: number, change = (value: number, _row: number): number => value): Columns {
  const { time, open, high, low, close, volume } = randomColumns({ count: ROWS, seed, timeframe: '1h' });
  const [o, h, l, c] = [open, high, low, close].map((values) => values.map(change));
  return {
    time,
    open: o,
    high: h,
    low: l,
    close: c,
    volume,
    source: c,
    source2: h,
    periods: time.map((_, row) => (row % 40) - 3),
  };
}

const friendly = columnsOf(2);
const HOSTILE: Readonly<Record<string, Columns>> = {
  flat: columnsOf(2, () => 100),
  'flat between': columnsOf(2, (value, row) => (row > 90 && row < 200 ? 50 : value)),
  zero: columnsOf(2, () => 0),
  tiny: columnsOf(2, (value) => value * 1e-10),
  huge: columnsOf(2, (value) => value * 1e10),
  spiked: columnsOf(2, (value, row) => (row === 150 ? value * 1e6 : value)),
  'without volume': { ...columnsOf(2), volume: new Float64Array(ROWS) },
  'with dead volume between': {
    ...columnsOf(2),
    volume: columnsOf(2).volume.map((value, row) => (row > 90 && row < 200 ? 0 : value)),
  },
};
const OWN = INDICATORS.filter((indicator) => !BEYOND_TALIB.includes(indicator));
/** Their values grow beyond a double on hostile input only by what their names say. */
const UNBOUNDED = ['exp', 'cosh', 'sinh'];

/** Defined within [-1, 1] only. */
const OF_SHARES = ['acos', 'asin'];

function inputsOf(indicator: IndicatorDefinition, columns: Columns, count = ROWS): Float64Array[] {
  const inputs = indicator.inputs.map((name) => columns[name].slice(0, count));
  return OF_SHARES.includes(indicator.id) ? inputs.map((input) => input.map((value) => value / 1000)) : inputs;
}

/** An argument's interesting values: its ends where they are small, and some between. */
function valuesOf(arg: ArgDefinition): (number | string | boolean)[] {
  if (arg.type === 'choice') return [...arg.values!];
  if (arg.type === 'bool') return [true, false];
  const wanted = arg.type === 'int' ? [arg.min!, arg.min! + 1, 3, 8, 21, ROWS + 5] : [arg.min!, 0, 0.5, 2, arg.max!];
  return wanted.filter((value) => value >= arg.min! && value <= arg.max! && Math.abs(value) < 1e6);
}

function argsSample(indicator: IndicatorDefinition, count: number): Args[] {
  const random = seededRandom(indicator.id.length * 1000 + indicator.args.length);
  const pick = (arg: ArgDefinition): number | string | boolean => {
    const values = valuesOf(arg);
    return values[Math.floor(random() * values.length)];
  };
  const lowest = Object.fromEntries(
    indicator.args.filter((arg) => arg.type === 'int').map((arg) => [arg.name, arg.min!]),
  );
  const drawn = Array.from({ length: count }, () =>
    Object.fromEntries(indicator.args.map((arg) => [arg.name, pick(arg)])),
  );
  return [{}, lowest, ...(indicator.args.length === 0 ? [] : drawn)].map((given) => argsOf(indicator, given));
}

const sampleSize = scaled(60);
const firstValue = (output: Float64Array): number => {
  const row = output.findIndex((value) => !Number.isNaN(value));
  return row === -1 ? output.length : row;
};

describe('the registry of indicators', () => {
  it('holds each id and alias once, and finds them in any case', () => {
    const names = INDICATORS.flatMap((indicator) => [indicator.id, ...indicator.aliases]);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    for (const indicator of INDICATORS) expect(findIndicator(indicator.id.toUpperCase())).toBe(indicator);
  });

  it('holds the 140 non-pattern functions of TA-Lib 0.8, with each argument mapped to one of ours', () => {
    const bound = INDICATORS.filter((indicator) => indicator.talib !== undefined);
    expect(bound.length).toBe(140);
    for (const indicator of bound) {
      expect(findTalib(indicator.talib!.name.toLowerCase())).toBe(indicator);
      expect(indicator.talib!.outputs.length).toBe(indicator.outputs.length);
      const ours = indicator.args.map((arg) => arg.name);
      for (const name of Object.values(indicator.talib!.args)) expect(ours).toContain(name);
      for (const name of Object.keys(indicator.talib!.choices ?? {}))
        expect(ours).toContain(indicator.talib!.args[name]);
    }
  });

  it('states what every indicator computes and its source, with defaults within their bounds', () => {
    for (const indicator of INDICATORS) {
      expect(indicator.formula.length, indicator.id).toBeGreaterThan(5);
      for (const arg of indicator.args) expect(argsOf(indicator)[arg.name]).toBe(arg.default);
    }
  });
});

for (const indicator of OWN) {
  describe(indicator.id, () => {
    it('starts at its lookback, in every output and for every argument', () => {
      for (const args of [...argsSample(indicator, sampleSize), ...oneLong(indicator)]) {
        const lookback = Math.min(ROWS, indicator.lookback(args));
        for (const output of computeIndicator(indicator, args, inputsOf(indicator, friendly))) {
          expect(firstValue(output), JSON.stringify(args)).toBe(lookback);
        }
        expect(indicator.stableLookback?.(args) ?? Infinity).toBeGreaterThanOrEqual(indicator.lookback(args));
      }
    });

    it('gives a prefix of its values on a prefix of the bars, so it sees no later bar', () => {
      const random = seededRandom(17);
      for (const args of argsSample(indicator, Math.ceil(sampleSize / 3))) {
        const whole = computeIndicator(indicator, args, inputsOf(indicator, friendly));
        for (const cut of [
          1,
          indicator.lookback(args) + 1,
          257,
          ...[1, 2].map(() => 1 + Math.floor(random() * ROWS)),
        ]) {
          const part = computeIndicator(indicator, args, inputsOf(indicator, friendly, Math.min(cut, ROWS)));
          part.forEach((output, at) => expect(output).toEqual(whole[at].slice(0, cut)));
        }
      }
    });

    it('is finite, stays within its bounds and does not change its inputs, even on hostile bars', () => {
      for (const [name, columns] of Object.entries(HOSTILE)) {
        for (const args of argsSample(indicator, Math.ceil(sampleSize / 3))) {
          const inputs = inputsOf(indicator, columns);
          const outputs = computeIndicator(indicator, args, inputs);
          expect(inputs).toEqual(inputsOf(indicator, columns));
          indicator.outputs.forEach(({ name: output, min = -Infinity, max = Infinity }, at) => {
            const isBounded = !UNBOUNDED.includes(indicator.id);
            const wrong = outputs[at].find((value) => isBounded && Math.abs(value) === Infinity);
            expect(wrong, `${output} on ${name} with ${JSON.stringify(args)}`).toBeUndefined();
            // An average of choice may overshoot what it averages; a plain call keeps its bounds.
            if (args !== undefined && indicator.args.some((arg) => arg.type === 'choice')) return;
            const outside = outputs[at].find((value) => value < min - 1e-6 || value > max + 1e-6);
            expect(outside, `${output} on ${name} with ${JSON.stringify(args)}`).toBeUndefined();
          });
        }
      }
    });

    it('writes every row from its lookback on and no others, whatever the output held', () => {
      const args = argsOf(indicator);
      const inputs = inputsOf(indicator, friendly);
      const lookback = indicator.lookback(args);
      const used = indicator.outputs.map(() => new Float64Array(ROWS).fill(12_345).fill(NaN, 0, lookback));
      indicator.compute(inputs, args, used);
      expect(used).toEqual(computeIndicator(indicator, args, inputs));
    });

    it('runs over present rows only, and is missing where an input is', () => {
      const args = argsOf(indicator);
      const whole = inputsOf(indicator, friendly);
      const holed = whole.map((input) =>
        Float64Array.from({ length: ROWS + 2 }, (_, row) =>
          row === 0 || row === 100 ? NaN : input[row - (row > 100 ? 2 : 1)],
        ),
      );
      const expected = computeIndicator(indicator, args, whole);
      computeOverPresent(indicator, args, holed).forEach((output, at) => {
        expect(output[0]).toBeNaN();
        expect(output[100]).toBeNaN();
        expect([...output].filter((_, row) => row !== 0 && row !== 100)).toEqual([...expected[at]]);
      });
    });
  });
}
