// Hammers: a small body at one end of a long shadow, distinguished by the position of the candle.
import {
  BODY_SHORT,
  NEAR,
  SHADOW_VERY_SHORT,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  longShadow,
  lowerShadow,
  upperShadow,
  benchmark,
  type Candles,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

/** A short body at the upper end: a long lower shadow, almost no upper one. */
const isHammer = (c: Candles, i: number, short: Float64Array, veryShort: Float64Array): boolean =>
  body(c, i) < short[i] && lowerShadow(c, i) > longShadow(c, i) && upperShadow(c, i) < veryShort[i];

/** A short body at the lower end: a long upper shadow, almost no lower one. */
const isInvertedHammer = (c: Candles, i: number, short: Float64Array, veryShort: Float64Array): boolean =>
  body(c, i) < short[i] && upperShadow(c, i) > longShadow(c, i) && lowerShadow(c, i) < veryShort[i];

const hammer = definePattern({
  id: 'hammer',
  talib: 'CDLHAMMER',
  name: 'Hammer',
  sides: ['bullish'],
  lookback: 11,
  description: 'A small body with a long lower shadow and hardly an upper one, at or below the low before it.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    const near = benchmark(c, NEAR, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] = isHammer(c, i, short, veryShort) && bodyBottom(c, i) <= c.low[i - 1] + near[i - 1] ? 100 : 0;
  },
});

const hangingMan = definePattern({
  id: 'hanging_man',
  talib: 'CDLHANGINGMAN',
  name: 'Hanging man',
  sides: ['bearish'],
  lookback: 11,
  description: 'A small body with a long lower shadow and hardly an upper one, at or above the high before it.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    const near = benchmark(c, NEAR, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] = isHammer(c, i, short, veryShort) && bodyBottom(c, i) >= c.high[i - 1] - near[i - 1] ? -100 : 0;
  },
});

const invertedHammer = definePattern({
  id: 'inverted_hammer',
  talib: 'CDLINVERTEDHAMMER',
  name: 'Inverted hammer',
  sides: ['bullish'],
  lookback: 11,
  description: 'A small body with a long upper shadow and hardly a lower one, gapping below the body before it.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] = isInvertedHammer(c, i, short, veryShort) && bodyGapDown(c, i, i - 1) ? 100 : 0;
  },
});

const shootingStar = definePattern({
  id: 'shooting_star',
  talib: 'CDLSHOOTINGSTAR',
  name: 'Shooting star',
  sides: ['bearish'],
  lookback: 11,
  description: 'A small body with a long upper shadow and hardly a lower one, gapping above the body before it.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] = isInvertedHammer(c, i, short, veryShort) && bodyGapUp(c, i, i - 1) ? -100 : 0;
  },
});

export const HAMMER_PATTERNS = [hammer, hangingMan, invertedHammer, shootingStar] as const;
