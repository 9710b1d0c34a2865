// Patterns of four and five candles that pause, break away or strike back.
import {
  BODY_LONG,
  BODY_SHORT,
  NEAR,
  SHADOW_VERY_SHORT,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  bodyTop,
  color,
  isBlack,
  isWhite,
  lowerShadow,
  upperShadow,
  benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const threeLineStrike = definePattern({
  id: 'three_line_strike',
  aliases: ['3_line_strike'],
  talib: 'CDL3LINESTRIKE',
  name: 'Three-line strike',
  sides: ['bullish', 'bearish'],
  lookback: 8,
  description: 'Three candles of one colour in a row, then one of the other colour that undoes all three.',
  scan(c, first, out) {
    const { open, close } = c;
    const near3 = benchmark(c, NEAR, first - 3);
    const near2 = benchmark(c, NEAR, first - 2);
    for (let i = first; i < c.length; i++) {
      const strikes = isWhite(c, i - 1)
        ? close[i - 1] > close[i - 2] && close[i - 2] > close[i - 3] && open[i] > close[i - 1] && close[i] < open[i - 3]
        : close[i - 1] < close[i - 2] &&
          close[i - 2] < close[i - 3] &&
          open[i] < close[i - 1] &&
          close[i] > open[i - 3];
      out[i] =
        strikes &&
        color(c, i - 3) === color(c, i - 2) &&
        color(c, i - 2) === color(c, i - 1) &&
        color(c, i) !== color(c, i - 1) &&
        open[i - 2] >= bodyBottom(c, i - 3) - near3[i - 3] &&
        open[i - 2] <= bodyTop(c, i - 3) + near3[i - 3] &&
        open[i - 1] >= bodyBottom(c, i - 2) - near2[i - 2] &&
        open[i - 1] <= bodyTop(c, i - 2) + near2[i - 2]
          ? color(c, i - 1) * 100
          : 0;
    }
  },
});

const breakaway = definePattern({
  id: 'breakaway',
  talib: 'CDLBREAKAWAY',
  name: 'Breakaway',
  sides: ['bullish', 'bearish'],
  lookback: 14,
  description: 'A long candle, a gap on, two more steps, then a candle of the other colour that closes inside the gap.',
  scan(c, first, out) {
    const { open, high, low, close } = c;
    const long = benchmark(c, BODY_LONG, first - 4);
    for (let i = first; i < c.length; i++) {
      const breaks = isBlack(c, i - 4)
        ? bodyGapDown(c, i - 3, i - 4) &&
          high[i - 2] < high[i - 3] &&
          low[i - 2] < low[i - 3] &&
          high[i - 1] < high[i - 2] &&
          low[i - 1] < low[i - 2] &&
          close[i] > open[i - 3] &&
          close[i] < close[i - 4]
        : bodyGapUp(c, i - 3, i - 4) &&
          high[i - 2] > high[i - 3] &&
          low[i - 2] > low[i - 3] &&
          high[i - 1] > high[i - 2] &&
          low[i - 1] > low[i - 2] &&
          close[i] < open[i - 3] &&
          close[i] > close[i - 4];
      out[i] =
        breaks &&
        body(c, i - 4) > long[i - 4] &&
        color(c, i - 4) === color(c, i - 3) &&
        color(c, i - 3) === color(c, i - 1) &&
        color(c, i - 1) !== color(c, i)
          ? color(c, i) * 100
          : 0;
    }
  },
});

const concealingBabySwallow = definePattern({
  id: 'concealing_baby_swallow',
  talib: 'CDLCONCEALBABYSWALL',
  name: 'Concealing baby swallow',
  sides: ['bullish'],
  lookback: 13,
  description:
    'Two black marubozu, a black candle gapping below with a shadow back into them, and one that engulfs it.',
  scan(c, first, out) {
    const { high, low, close } = c;
    const veryShort3 = benchmark(c, SHADOW_VERY_SHORT, first - 3);
    const veryShort2 = benchmark(c, SHADOW_VERY_SHORT, first - 2);
    const veryShort1 = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 3) &&
        isBlack(c, i - 2) &&
        isBlack(c, i - 1) &&
        isBlack(c, i) &&
        lowerShadow(c, i - 3) < veryShort3[i - 3] &&
        upperShadow(c, i - 3) < veryShort3[i - 3] &&
        lowerShadow(c, i - 2) < veryShort2[i - 2] &&
        upperShadow(c, i - 2) < veryShort2[i - 2] &&
        bodyGapDown(c, i - 1, i - 2) &&
        upperShadow(c, i - 1) > veryShort1[i - 1] &&
        high[i - 1] > close[i - 2] &&
        high[i] > high[i - 1] &&
        low[i] < low[i - 1]
          ? 100
          : 0;
  },
});

const ladderBottom = definePattern({
  id: 'ladder_bottom',
  talib: 'CDLLADDERBOTTOM',
  name: 'Ladder bottom',
  sides: ['bullish'],
  lookback: 14,
  description:
    'Three black steps down, a black candle with an upper shadow, and a white one that closes above its high.',
  scan(c, first, out) {
    const { open, high, close } = c;
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 4) &&
        isBlack(c, i - 3) &&
        isBlack(c, i - 2) &&
        open[i - 4] > open[i - 3] &&
        open[i - 3] > open[i - 2] &&
        close[i - 4] > close[i - 3] &&
        close[i - 3] > close[i - 2] &&
        isBlack(c, i - 1) &&
        upperShadow(c, i - 1) > veryShort[i - 1] &&
        isWhite(c, i) &&
        open[i] > open[i - 1] &&
        close[i] > high[i - 1]
          ? 100
          : 0;
  },
});

const matHold = definePattern({
  id: 'mat_hold',
  talib: 'CDLMATHOLD',
  name: 'Mat hold',
  sides: ['bullish'],
  penetration: 0.5,
  lookback: 14,
  description:
    'A long white candle, three short ones that drift back from a gap without giving up half of it, and a new high.',
  scan(c, first, out, penetration) {
    const { open, high, close } = c;
    const long = benchmark(c, BODY_LONG, first - 4);
    const short3 = benchmark(c, BODY_SHORT, first - 3);
    const short2 = benchmark(c, BODY_SHORT, first - 2);
    const short1 = benchmark(c, BODY_SHORT, first - 1);
    for (let i = first; i < c.length; i++) {
      const floor = close[i - 4] - body(c, i - 4) * penetration;
      out[i] =
        body(c, i - 4) > long[i - 4] &&
        body(c, i - 3) < short3[i - 3] &&
        body(c, i - 2) < short2[i - 2] &&
        body(c, i - 1) < short1[i - 1] &&
        isWhite(c, i - 4) &&
        isBlack(c, i - 3) &&
        isWhite(c, i) &&
        bodyGapUp(c, i - 3, i - 4) &&
        bodyBottom(c, i - 2) < close[i - 4] &&
        bodyBottom(c, i - 1) < close[i - 4] &&
        bodyBottom(c, i - 2) > floor &&
        bodyBottom(c, i - 1) > floor &&
        bodyTop(c, i - 2) < open[i - 3] &&
        bodyTop(c, i - 1) < bodyTop(c, i - 2) &&
        open[i] > close[i - 1] &&
        close[i] > Math.max(high[i - 3], high[i - 2], high[i - 1])
          ? 100
          : 0;
    }
  },
});

const riseFallThreeMethods = definePattern({
  id: 'rise_fall_three_methods',
  aliases: ['rising_falling_three_methods', 'rise_fall_3_methods'],
  talib: 'CDLRISEFALL3METHODS',
  name: 'Rising or falling three methods',
  sides: ['bullish', 'bearish'],
  lookback: 14,
  description: 'A long candle, three short ones against it within its range, and a long one that closes beyond it.',
  scan(c, first, out) {
    const { open, high, low, close } = c;
    const long4 = benchmark(c, BODY_LONG, first - 4);
    const short3 = benchmark(c, BODY_SHORT, first - 3);
    const short2 = benchmark(c, BODY_SHORT, first - 2);
    const short1 = benchmark(c, BODY_SHORT, first - 1);
    const long = benchmark(c, BODY_LONG, first);
    for (let i = first; i < c.length; i++) {
      const side = color(c, i - 4);
      const sizesFit =
        body(c, i - 4) > long4[i - 4] &&
        body(c, i - 3) < short3[i - 3] &&
        body(c, i - 2) < short2[i - 2] &&
        body(c, i - 1) < short1[i - 1] &&
        body(c, i) > long[i];
      const colorsFit =
        color(c, i - 3) === -side && color(c, i - 2) === -side && color(c, i - 1) === -side && color(c, i) === side;
      const staysInside =
        bodyBottom(c, i - 3) < high[i - 4] &&
        bodyTop(c, i - 3) > low[i - 4] &&
        bodyBottom(c, i - 2) < high[i - 4] &&
        bodyTop(c, i - 2) > low[i - 4] &&
        bodyBottom(c, i - 1) < high[i - 4] &&
        bodyTop(c, i - 1) > low[i - 4];
      const breaksOut =
        close[i - 2] * side < close[i - 3] * side &&
        close[i - 1] * side < close[i - 2] * side &&
        open[i] * side > close[i - 1] * side &&
        close[i] * side > close[i - 4] * side;
      out[i] = sizesFit && colorsFit && staysInside && breaksOut ? 100 * side : 0;
    }
  },
});

export const CAMPAIGN_PATTERNS = [
  threeLineStrike,
  breakaway,
  concealingBabySwallow,
  ladderBottom,
  matHold,
  riseFallThreeMethods,
] as const;
