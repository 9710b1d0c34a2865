// Contradictions: which bars their children contradict, within what tolerance, from which share on nothing is drilled
// into, and what is said to have caused them.
import { describe, expect, it } from 'vitest';
import { TIMEFRAME_MS, type Bars, type Timeframe } from '../../../src/engine/bars/bars.ts';
import { causeOf, describeContradictions } from '../../../src/engine/bars/contradictionCause.ts';
import { contradictionsOf, type Contradictions } from '../../../src/engine/bars/contradictions.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import { marketUpTo, marketFrom } from '../../../src/engine/robustness/cutMarket.ts';
import { randomBars } from '../../support/bars.ts';
import { barsOf, INSTRUMENT, type Ohlc } from '../simulate/input.ts';

const HOUR_MS = TIMEFRAME_MS['1h'];
const FROM = Date.UTC(2024, 0, 1);

/** Days that were imported, and the hours that they were made of. */
const HOURS = randomBars({ count: 24 * 100, seed: 5 });
const DAYS: Bars = { ...resample(HOURS, '1d'), sha256: 'days', isResampled: false };
const scaled = (bars: Bars, factor: (row: number) => number): Bars => {
  const column = (values: Float64Array): Float64Array => values.map((value, row) => value * factor(row));
  const { open, high, low, close } = bars;
  return { ...bars, open: column(open), high: column(high), low: column(low), close: column(close) };
};
const moved = (bars: Bars, ms: number): Bars => ({ ...bars, time: bars.time.map((time) => time + ms) });
/** The hours that open between two hours of the day, as on a market with sessions. */
function sessions(bars: Bars, from: number, to: number): Bars {
  const rows = [...bars.time.keys()].filter((row) => {
    const hour = new Date(bars.time[row]).getUTCHours();
    return hour >= from && hour < to;
  });
  const pick = (values: Float64Array): Float64Array => Float64Array.from(rows, (row) => values[row]);
  const { time, open, high, low, close, volume } = bars;
  return {
    ...bars,
    length: rows.length,
    time: pick(time),
    open: pick(open),
    high: pick(high),
    low: pick(low),
    close: pick(close),
    volume: pick(volume),
  };
}

const found = (base: Bars, fine: Bars): Contradictions => contradictionsOf(base, fine)!;

/** Whether four children contradict the bar 100 110 90 105, whose tolerance is 2. */
function contradicts(children: readonly Ohlc[], at = 0): boolean {
  const base = barsOf([[100, 110, 90, 105]], '1h', FROM);
  return found(base, barsOf(children, '15m', FROM + at * TIMEFRAME_MS['15m'])).count === 1;
}
const quarters = (change: { [row: number]: Ohlc } = {}): Ohlc[] => {
  const rows: Ohlc[] = [
    [100, 105, 99, 104],
    [104, 110, 100, 102],
    [102, 103, 90, 95],
    [95, 106, 94, 105],
  ];
  return rows.map((row, at) => change[at] ?? row);
};

describe('a bar', () => {
  it.each([
    ['the same prices', quarters(), false],
    ['a high 1.9 above', quarters({ 1: [104, 111.9, 100, 102] }), false],
    ['a high 2.1 above', quarters({ 1: [104, 112.1, 100, 102] }), true],
    ['a low 2.1 below', quarters({ 2: [102, 103, 87.9, 95] }), true],
    ['a high 2.1 lower, with no child missing', quarters({ 1: [104, 107.9, 100, 102] }), true],
    ['a low 2.1 higher, with no child missing', quarters({ 2: [102, 103, 92.1, 95] }), true],
    ['an open 1.9 away', quarters({ 0: [101.9, 105, 99, 104] }), false],
    ['an open 2.1 away', quarters({ 0: [102.1, 105, 99, 104] }), true],
    ['a close 2.1 away', quarters({ 3: [95, 106, 94, 102.9] }), true],
  ])('is compared with children that have %s', (_, children, expected) => {
    expect(contradicts(children)).toBe(expected);
  });

  it('is not contradicted by missing children, unless those that are there lie outside of it', () => {
    const [first, ...others] = quarters();
    expect(contradicts([first])).toBe(false);
    expect(contradicts(others, 1)).toBe(false);
    expect(contradicts([[104, 110, 100, 102]], 1)).toBe(false);
    expect(contradicts([[104, 113, 100, 102]], 1)).toBe(true);
    expect(contradicts([[93, 94, 87, 93]], 2)).toBe(true);
  });

  it('that hardly moves tolerates a ten-thousandth of its price', () => {
    const base = barsOf([[100, 100, 100, 100]], '1h', FROM);
    const countOf = (price: number): number => found(base, barsOf([[price, price, price, price]], '15m', FROM)).count;
    expect([countOf(100.009), countOf(100.011), countOf(99.989)]).toEqual([0, 1, 1]);
  });

  it('without children is not compared', () => {
    const { comparedBars, count } = found(DAYS, sessions(HOURS, 0, 0));
    expect([comparedBars, count]).toEqual([0, 0]);
  });

  it('made from the finer bars is not compared with them', () => {
    expect(contradictionsOf(resample(HOURS, '1d'), HOURS)).toBeNull();
  });

  it('of a part of a series is contradicted as in the whole', () => {
    const wrong = scaled(HOURS, (row) => (row % 240 < 24 ? 1.3 : 1));
    const whole = found(DAYS, wrong);
    expect([...Array(100).keys()].filter((row) => hasBit(whole.runRows, row))).toEqual([
      0, 10, 20, 30, 40, 50, 60, 70, 80, 90,
    ]);
    const market = { base: DAYS, instrument: INSTRUMENT, fine: wrong, bars: () => undefined };
    for (const cut of [marketUpTo(market, 33), marketFrom(market, 33)]) {
      const part = found(cut.base, cut.fine!);
      const expected = [...cut.base.time.keys()].filter(
        (row) => (cut.base.time[row] - DAYS.time[0]) % (10 * 24 * HOUR_MS) === 0,
      );
      expect(expected.length).toBeGreaterThan(3);
      expect([...cut.base.time.keys()].filter((row) => hasBit(part.runRows, row))).toEqual(expected);
    }
  });
});

describe('drilling', () => {
  /** Hours of which so many days are wrong. */
  const wrongDays = (count: number): Bars => scaled(HOURS, (row) => (row < 24 * count ? 1.3 : 1));
  const isOff = (base: Bars, fine: Bars): boolean => found(base, fine).isDrillingOff;

  it('is off when more than a tenth of the bars with children are contradicted', () => {
    expect(found(DAYS, wrongDays(10))).toMatchObject({ comparedBars: 100, count: 10, isDrillingOff: false });
    expect(found(DAYS, wrongDays(11))).toMatchObject({ comparedBars: 100, count: 11, isDrillingOff: true });
  });

  it('is not put off by fewer than five bars', () => {
    const month: Bars = { ...DAYS, length: 20 };
    expect([isOff(month, wrongDays(4)), isOff(month, wrongDays(5))]).toEqual([false, true]);
  });

  it.each([1.3, 1.02, 0.98, 1.05])('is off for hours at %d of their price, sessions included', (factor) => {
    for (const hours of [HOURS, sessions(HOURS, 14, 21)]) {
      const base: Bars = { ...resample(hours, '1d'), sha256: 'days', isResampled: false };
      expect(isOff(base, hours)).toBe(false);
      expect(
        isOff(
          base,
          scaled(hours, () => factor),
        ),
      ).toBe(true);
    }
  });
});

describe('the likely cause', () => {
  const causeIn = (base: Bars, fine: Bars) => causeOf(found(base, fine));

  it('is a constant ratio when prices are one multiple of the others', () => {
    const cause = causeIn(
      DAYS,
      scaled(HOURS, () => 1.3),
    );
    expect(cause).toEqual({ kind: 'ratio', from: expect.closeTo(1.3, 9), to: expect.closeTo(1.3, 9) });
    const text = describeContradictions(
      found(
        DAYS,
        scaled(HOURS, () => 1.3),
      ),
    );
    const [high, top] = [DAYS.high[0], DAYS.high[0] * 1.3];
    expect(text).toBe(
      'The 1h bars contradict 100 of the 100 1d bars that they lie in. The first opens at 2024-01-01T00:00Z: its ' +
        `high is ${high}, and the 1h bars inside it reach ${top}. Likely cause: adjusted prices beside raw ones, ` +
        '1h to 1d ratio 1.30.',
    );
  });

  it('is a ratio that falls, as dividends and splits make it', () => {
    const adjusted = scaled(HOURS, (row) => 4 - Math.floor(row / 600));
    expect(causeIn(DAYS, adjusted)).toEqual({ kind: 'ratio', from: expect.closeTo(4, 9), to: expect.closeTo(2, 9) });
    expect(describeContradictions(found(DAYS, adjusted))).toContain('a ratio of 4.00 at first and 2.00 at last');
  });

  it.each([
    ['stamped with their close', HOUR_MS, '1 h earlier'],
    ['five hours late', 5 * HOUR_MS, '5 h earlier'],
    ['eight hours early', -8 * HOUR_MS, '8 h later'],
    ['a day late', 24 * HOUR_MS, '24 h earlier'],
  ])('is a time offset when the finer bars are %s', (_, ms, text) => {
    const late = moved(HOURS, ms);
    expect(causeIn(DAYS, late)).toEqual({ kind: 'offset', ms });
    expect(describeContradictions(found(DAYS, late))).toContain(`The 1h bars fit when they open ${text}.`);
  });

  it('is not known when the bars have nothing in common', () => {
    const other = randomBars({ count: HOURS.length, seed: 99 });
    expect(causeIn(DAYS, other)).toEqual({ kind: 'unknown' });
    expect(describeContradictions(found(DAYS, other))).toContain('The cause is not known');
  });

  it('is not known for a bad tick', () => {
    const ticked = { ...HOURS, high: HOURS.high.with(500, 999) };
    const { count } = found(DAYS, ticked);
    expect(count).toBe(1);
    expect(causeIn(DAYS, ticked)).toEqual({ kind: 'unknown' });
    expect(describeContradictions(found(DAYS, ticked))).toMatch(
      /opens at 2024-01-21T00:00Z: its high is \S+, and the 1h bars inside it reach 999\./,
    );
  });
});

it('compares each bar with its own children alone, on any timeframes', () => {
  for (const timeframe of ['15m', '1h', '4h', '1d'] as const satisfies readonly Timeframe[]) {
    const fine = randomBars({ timeframe: '5m', count: 3_000, seed: 8 });
    const base: Bars = { ...resample(fine, timeframe), sha256: 'base', isResampled: false };
    const span = TIMEFRAME_MS[timeframe] / TIMEFRAME_MS['5m'];
    const wrong = scaled(fine, (row) => (Math.floor(row / span) % 7 === 3 ? 2 : 1));
    const { runRows, comparedBars } = found(base, wrong);
    expect(comparedBars).toBe(base.length);
    expect([...base.time.keys()].filter((row) => hasBit(runRows, row))).toEqual(
      [...base.time.keys()].filter((row) => row % 7 === 3),
    );
  }
});
