// Soldiers: consecutive rising white candles, strong or weakening.
import {
  BODY_LONG,
  BODY_SHORT,
  FAR,
  NEAR,
  SHADOW_SHORT,
  SHADOW_VERY_SHORT,
  body,
  isWhite,
  longShadow,
  upperShadow,
  benchmark,
  type Candles,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const areRisingWhites = (c: Candles, i: number): boolean =>
  isWhite(c, i - 2) &&
  isWhite(c, i - 1) &&
  isWhite(c, i) &&
  c.close[i] > c.close[i - 1] &&
  c.close[i - 1] > c.close[i - 2];

/** True when candle i opens above the previous open and at most `near` above the previous close. */
const opensWithin = (c: Candles, i: number, near: number): boolean =>
  c.open[i] > c.open[i - 1] && c.open[i] <= c.close[i - 1] + near;

const threeWhiteSoldiers = definePattern({
  id: 'three_white_soldiers',
  aliases: ['3_white_soldiers'],
  talib: 'CDL3WHITESOLDIERS',
  name: 'Three white soldiers',
  sides: ['bullish'],
  lookback: 12,
  description:
    'Three white candles of about equal size, opening within the body before and closing higher, at their highs.',
  scan(c, first, out) {
    const veryShort2 = benchmark(c, SHADOW_VERY_SHORT, first - 2);
    const veryShort1 = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    const near2 = benchmark(c, NEAR, first - 2);
    const near1 = benchmark(c, NEAR, first - 1);
    const far2 = benchmark(c, FAR, first - 2);
    const far1 = benchmark(c, FAR, first - 1);
    const short = benchmark(c, BODY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        areRisingWhites(c, i) &&
        upperShadow(c, i - 2) < veryShort2[i - 2] &&
        upperShadow(c, i - 1) < veryShort1[i - 1] &&
        upperShadow(c, i) < veryShort[i] &&
        opensWithin(c, i - 1, near2[i - 2]) &&
        opensWithin(c, i, near1[i - 1]) &&
        body(c, i - 1) > body(c, i - 2) - far2[i - 2] &&
        body(c, i) > body(c, i - 1) - far1[i - 1] &&
        body(c, i) > short[i]
          ? 100
          : 0;
  },
});

const advanceBlock = definePattern({
  id: 'advance_block',
  talib: 'CDLADVANCEBLOCK',
  name: 'Advance block',
  sides: ['bearish'],
  lookback: 12,
  description: 'Three white candles closing higher whose bodies shrink or whose upper shadows grow: the rise weakens.',
  scan(c, first, out) {
    const shortShadow2 = benchmark(c, SHADOW_SHORT, first - 2);
    const shortShadow1 = benchmark(c, SHADOW_SHORT, first - 1);
    const shortShadow = benchmark(c, SHADOW_SHORT, first);
    const near2 = benchmark(c, NEAR, first - 2);
    const near1 = benchmark(c, NEAR, first - 1);
    const far2 = benchmark(c, FAR, first - 2);
    const far1 = benchmark(c, FAR, first - 1);
    const long = benchmark(c, BODY_LONG, first - 2);
    for (let i = first; i < c.length; i++) {
      const body2 = body(c, i - 2);
      const body1 = body(c, i - 1);
      const body0 = body(c, i);
      const isWeakening =
        (body1 < body2 - far2[i - 2] && body0 < body1 + near1[i - 1]) ||
        body0 < body1 - far1[i - 1] ||
        (body0 < body1 &&
          body1 < body2 &&
          (upperShadow(c, i) > shortShadow[i] || upperShadow(c, i - 1) > shortShadow1[i - 1])) ||
        (body0 < body1 && upperShadow(c, i) > longShadow(c, i));
      out[i] =
        isWeakening &&
        areRisingWhites(c, i) &&
        opensWithin(c, i - 1, near2[i - 2]) &&
        opensWithin(c, i, near1[i - 1]) &&
        body2 > long[i - 2] &&
        upperShadow(c, i - 2) < shortShadow2[i - 2]
          ? -100
          : 0;
    }
  },
});

const stalledPattern = definePattern({
  id: 'stalled_pattern',
  aliases: ['deliberation'],
  talib: 'CDLSTALLEDPATTERN',
  name: 'Stalled pattern',
  sides: ['bearish'],
  lookback: 12,
  description: 'Two long white candles, then a short white one that rides on the shoulder of the second.',
  scan(c, first, out) {
    const { open, close } = c;
    const long2 = benchmark(c, BODY_LONG, first - 2);
    const long1 = benchmark(c, BODY_LONG, first - 1);
    const short = benchmark(c, BODY_SHORT, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    const near2 = benchmark(c, NEAR, first - 2);
    const near1 = benchmark(c, NEAR, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        areRisingWhites(c, i) &&
        body(c, i - 2) > long2[i - 2] &&
        body(c, i - 1) > long1[i - 1] &&
        upperShadow(c, i - 1) < veryShort[i - 1] &&
        opensWithin(c, i - 1, near2[i - 2]) &&
        body(c, i) < short[i] &&
        open[i] >= close[i - 1] - body(c, i) - near1[i - 1]
          ? -100
          : 0;
  },
});

export const SOLDIER_PATTERNS = [threeWhiteSoldiers, advanceBlock, stalledPattern] as const;
