// Crows: consecutive falling black candles, and the gap they may start from.
import {
  BODY_LONG,
  BODY_SHORT,
  EQUAL,
  SHADOW_VERY_SHORT,
  body,
  bodyGapUp,
  isBlack,
  isWhite,
  longShadow,
  lowerShadow,
  upperShadow,
  benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const twoCrows = definePattern({
  id: 'two_crows',
  aliases: ['2_crows'],
  talib: 'CDL2CROWS',
  name: 'Two crows',
  sides: ['bearish'],
  lookback: 12,
  description:
    'A long white candle, a black one gapping above it, and a black one from inside that back into the first.',
  scan(c, first, out) {
    const { open, close } = c;
    const long = benchmark(c, BODY_LONG, first - 2);
    for (let i = first; i < c.length; i++)
      out[i] =
        isWhite(c, i - 2) &&
        body(c, i - 2) > long[i - 2] &&
        isBlack(c, i - 1) &&
        bodyGapUp(c, i - 1, i - 2) &&
        isBlack(c, i) &&
        open[i] < open[i - 1] &&
        open[i] > close[i - 1] &&
        close[i] > open[i - 2] &&
        close[i] < close[i - 2]
          ? -100
          : 0;
  },
});

const upsideGapTwoCrows = definePattern({
  id: 'upside_gap_two_crows',
  aliases: ['upside_gap_2_crows'],
  talib: 'CDLUPSIDEGAP2CROWS',
  name: 'Upside gap two crows',
  sides: ['bearish'],
  lookback: 12,
  description: 'A long white candle, a short black one gapping above it, and a black one that engulfs the second.',
  scan(c, first, out) {
    const { open, close } = c;
    const long = benchmark(c, BODY_LONG, first - 2);
    const short = benchmark(c, BODY_SHORT, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isWhite(c, i - 2) &&
        body(c, i - 2) > long[i - 2] &&
        isBlack(c, i - 1) &&
        body(c, i - 1) <= short[i - 1] &&
        bodyGapUp(c, i - 1, i - 2) &&
        isBlack(c, i) &&
        open[i] > open[i - 1] &&
        close[i] < close[i - 1] &&
        close[i] > close[i - 2]
          ? -100
          : 0;
  },
});

const threeBlackCrows = definePattern({
  id: 'three_black_crows',
  aliases: ['3_black_crows'],
  talib: 'CDL3BLACKCROWS',
  name: 'Three black crows',
  sides: ['bearish'],
  lookback: 13,
  description:
    'After a white candle, three black ones that open inside the body before and close lower, at their lows.',
  scan(c, first, out) {
    const { open, high, close } = c;
    const veryShort2 = benchmark(c, SHADOW_VERY_SHORT, first - 2);
    const veryShort1 = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        isWhite(c, i - 3) &&
        isBlack(c, i - 2) &&
        lowerShadow(c, i - 2) < veryShort2[i - 2] &&
        isBlack(c, i - 1) &&
        lowerShadow(c, i - 1) < veryShort1[i - 1] &&
        isBlack(c, i) &&
        lowerShadow(c, i) < veryShort[i] &&
        open[i - 1] < open[i - 2] &&
        open[i - 1] > close[i - 2] &&
        open[i] < open[i - 1] &&
        open[i] > close[i - 1] &&
        high[i - 3] > close[i - 2] &&
        close[i - 2] > close[i - 1] &&
        close[i - 1] > close[i]
          ? -100
          : 0;
  },
});

const identicalThreeCrows = definePattern({
  id: 'identical_three_crows',
  aliases: ['identical_3_crows'],
  talib: 'CDLIDENTICAL3CROWS',
  name: 'Identical three crows',
  sides: ['bearish'],
  lookback: 12,
  description: 'Three black candles, each opening at about the close before and closing lower, at its low.',
  scan(c, first, out) {
    const { open, close } = c;
    const veryShort2 = benchmark(c, SHADOW_VERY_SHORT, first - 2);
    const veryShort1 = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    const equal2 = benchmark(c, EQUAL, first - 2);
    const equal1 = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 2) &&
        lowerShadow(c, i - 2) < veryShort2[i - 2] &&
        isBlack(c, i - 1) &&
        lowerShadow(c, i - 1) < veryShort1[i - 1] &&
        isBlack(c, i) &&
        lowerShadow(c, i) < veryShort[i] &&
        close[i - 2] > close[i - 1] &&
        close[i - 1] > close[i] &&
        open[i - 1] <= close[i - 2] + equal2[i - 2] &&
        open[i - 1] >= close[i - 2] - equal2[i - 2] &&
        open[i] <= close[i - 1] + equal1[i - 1] &&
        open[i] >= close[i - 1] - equal1[i - 1]
          ? -100
          : 0;
  },
});

const threeStarsInSouth = definePattern({
  id: 'three_stars_in_south',
  aliases: ['3_stars_in_south', 'three_stars_in_the_south'],
  talib: 'CDL3STARSINSOUTH',
  name: 'Three stars in the south',
  sides: ['bullish'],
  lookback: 12,
  description: 'Three black candles, each smaller than the one before and with a higher low: the fall runs out.',
  scan(c, first, out) {
    const { open, high, low, close } = c;
    const long = benchmark(c, BODY_LONG, first - 2);
    const short = benchmark(c, BODY_SHORT, first);
    const veryShort1 = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 2) &&
        isBlack(c, i - 1) &&
        isBlack(c, i) &&
        body(c, i - 2) > long[i - 2] &&
        lowerShadow(c, i - 2) > longShadow(c, i - 2) &&
        body(c, i - 1) < body(c, i - 2) &&
        open[i - 1] > close[i - 2] &&
        open[i - 1] <= high[i - 2] &&
        low[i - 1] < close[i - 2] &&
        low[i - 1] >= low[i - 2] &&
        lowerShadow(c, i - 1) > veryShort1[i - 1] &&
        body(c, i) < short[i] &&
        lowerShadow(c, i) < veryShort[i] &&
        upperShadow(c, i) < veryShort[i] &&
        low[i] > low[i - 1] &&
        high[i] < high[i - 1]
          ? 100
          : 0;
  },
});

export const CROW_PATTERNS = [
  twoCrows,
  upsideGapTwoCrows,
  threeBlackCrows,
  identicalThreeCrows,
  threeStarsInSouth,
] as const;
