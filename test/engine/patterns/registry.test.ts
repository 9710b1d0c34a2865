// The pattern registry: names, sides, arguments, and the promises every pattern makes.
import { describe, expect, it } from 'vitest';
import { findPattern, PATTERNS, type PatternDefinition } from '../../../src/engine/patterns/patternRegistry.ts';
import { scaled, seededRandom } from '../../support/scale.ts';
import { jaggedBars, type PriceColumns } from './jagged.ts';

const ROWS = scaled(40_000);
const columns = jaggedBars(ROWS, 7);

const values = (pattern: PatternDefinition, bars: PriceColumns, args = {}): Float64Array => {
  const out = new Float64Array(bars[0].length).fill(NaN);
  pattern.compute(...bars, args, out);
  return out;
};
const head = (bars: PriceColumns, count: number): PriceColumns => [
  bars[0].slice(0, count),
  bars[1].slice(0, count),
  bars[2].slice(0, count),
  bars[3].slice(0, count),
];

describe('the pattern registry', () => {
  it('holds 61 patterns with unique names', () => {
    const names = PATTERNS.flatMap((pattern) => [pattern.id, ...pattern.aliases, pattern.talib]);
    expect(PATTERNS.length).toBe(61);
    expect(new Set(names).size).toBe(names.length);
    for (const { id, aliases, talib } of PATTERNS) {
      for (const name of [id, ...aliases]) expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect(talib).toMatch(/^CDL[A-Z0-9]+$/);
    }
  });

  it('finds a pattern by id, alias and TA-Lib name in any case, and nothing else', () => {
    const piercing = PATTERNS.find((pattern) => pattern.id === 'piercing');
    expect(findPattern('piercing')).toBe(piercing);
    expect(findPattern('piercing_line')).toBe(piercing);
    expect(findPattern('CDLPIERCING')).toBe(piercing);
    expect(findPattern('Piercing')).toBe(piercing);
    for (const name of ['', 'piercings', 'constructor', '__proto__', 'CDL']) expect(findPattern(name)).toBeUndefined();
  });

  it('gives the seven TA-Lib patterns with a penetration that argument, with TA-Lib’s defaults', () => {
    const defaults = PATTERNS.filter((pattern) => pattern.args.length > 0).map(({ talib, args }) => [
      talib,
      args[0].default,
    ]);
    expect(Object.fromEntries(defaults)).toEqual({
      CDLABANDONEDBABY: 0.3,
      CDLDARKCLOUDCOVER: 0.5,
      CDLEVENINGDOJISTAR: 0.3,
      CDLEVENINGSTAR: 0.3,
      CDLMATHOLD: 0.5,
      CDLMORNINGDOJISTAR: 0.3,
      CDLMORNINGSTAR: 0.3,
    });
  });

  it('finds fewer patterns for a deeper penetration', () => {
    const count = (penetration: number): number =>
      values(findPattern('dark_cloud_cover')!, columns, { penetration }).reduce(
        (sum, value) => sum + (value < 0 ? 1 : 0),
        0,
      );
    expect(count(0)).toBeGreaterThan(count(0.5));
    expect(count(0.5)).toBeGreaterThan(count(0.9));
    expect(values(findPattern('dark_cloud_cover')!, columns)).toEqual(
      values(findPattern('dark_cloud_cover')!, columns, { penetration: 0.5 }),
    );
  });
});

describe('every pattern of the registry', () => {
  for (const pattern of PATTERNS) {
    it(`starts ${pattern.id} at its lookback, with 0, ±80, ±100 or ±200 on its declared sides`, () => {
      const out = values(pattern, columns);
      const lookback = pattern.lookback({});
      expect(out.findIndex((value) => !Number.isNaN(value))).toBe(lookback);
      const seen = [...new Set(out.subarray(lookback))];
      expect(seen.filter((value) => ![0, 80, 100, 200].includes(Math.abs(value)))).toEqual([]);
      if (seen.some((value) => value > 0)) expect(pattern.sides).toContain('bullish');
      if (seen.some((value) => value < 0)) expect(pattern.sides).toContain('bearish');
    });

    it(`gives a prefix of the values of ${pattern.id} on a prefix of the bars`, () => {
      const whole = values(pattern, columns);
      const random = seededRandom(11);
      const cuts = [
        0,
        1,
        pattern.lookback({}),
        pattern.lookback({}) + 1,
        ...[1, 2, 3].map(() => Math.floor(random() * ROWS)),
      ];
      for (const cut of cuts) expect(values(pattern, head(columns, cut))).toEqual(whole.slice(0, cut));
    });
  }

  it('does not change its inputs', () => {
    const before = columns.map((column) => column.slice());
    for (const pattern of PATTERNS) values(pattern, columns);
    expect(columns).toEqual(before);
  });

  it('occurs on every side it declares, except the seven rarest', () => {
    const bars = jaggedBars(scaled(300_000), 3);
    const shows = (out: Float64Array, side: string): boolean =>
      out.some((value) => (side === 'bullish' ? value > 0 : value < 0));
    const silent = PATTERNS.filter((pattern) => {
      const out = values(pattern, bars);
      return !pattern.sides.every((side) => shows(out, side));
    });
    expect(RARE).toEqual(expect.arrayContaining(silent.map((pattern) => pattern.id)));
  });
});

/** Met in the golden windows; jagged bars have them once in a hundred thousand or less. */
const RARE = [
  'upside_gap_two_crows',
  'three_stars_in_south',
  'three_line_strike',
  'breakaway',
  'concealing_baby_swallow',
  'mat_hold',
  'rise_fall_three_methods',
];
