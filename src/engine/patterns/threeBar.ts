// Patterns of three candles that reverse by confirmation, by a shared close, or across a gap.
import {
  BODY_LONG,
  BODY_SHORT,
  EQUAL,
  NEAR,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  bodyTop,
  color,
  isBlack,
  isWhite,
  benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const threeInside = definePattern({
  id: 'three_inside',
  aliases: ['3_inside'],
  talib: 'CDL3INSIDE',
  name: 'Three inside up or down',
  sides: ['bullish', 'bearish'],
  lookback: 12,
  description: 'A harami confirmed by a close beyond the open of its first candle.',
  scan(c, first, out) {
    const { open, close } = c;
    const long = benchmark(c, BODY_LONG, first - 2);
    const short = benchmark(c, BODY_SHORT, first - 1);
    for (let i = first; i < c.length; i++) {
      const isConfirmed = isWhite(c, i - 2)
        ? isBlack(c, i) && close[i] < open[i - 2]
        : isWhite(c, i) && close[i] > open[i - 2];
      out[i] =
        isConfirmed &&
        body(c, i - 2) > long[i - 2] &&
        body(c, i - 1) <= short[i - 1] &&
        bodyTop(c, i - 1) < bodyTop(c, i - 2) &&
        bodyBottom(c, i - 1) > bodyBottom(c, i - 2)
          ? -100 * color(c, i - 2)
          : 0;
    }
  },
});

const threeOutside = definePattern({
  id: 'three_outside',
  aliases: ['3_outside'],
  talib: 'CDL3OUTSIDE',
  name: 'Three outside up or down',
  sides: ['bullish', 'bearish'],
  lookback: 3,
  description: 'An engulfing confirmed by a close farther in its direction.',
  scan(c, first, out) {
    const { open, close } = c;
    for (let i = first; i < c.length; i++) {
      const isEngulfed = isWhite(c, i - 1)
        ? isBlack(c, i - 2) && close[i - 1] > open[i - 2] && open[i - 1] < close[i - 2] && close[i] > close[i - 1]
        : isWhite(c, i - 2) && open[i - 1] > close[i - 2] && close[i - 1] < open[i - 2] && close[i] < close[i - 1];
      out[i] = isEngulfed ? color(c, i - 1) * 100 : 0;
    }
  },
});

const stickSandwich = definePattern({
  id: 'stick_sandwich',
  talib: 'CDLSTICKSANDWICH',
  name: 'Stick sandwich',
  sides: ['bullish'],
  lookback: 7,
  description: 'A white candle between two black ones that close at about the same price.',
  scan(c, first, out) {
    const { low, close } = c;
    const equal = benchmark(c, EQUAL, first - 2);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 2) &&
        isWhite(c, i - 1) &&
        isBlack(c, i) &&
        low[i - 1] > close[i - 2] &&
        close[i] <= close[i - 2] + equal[i - 2] &&
        close[i] >= close[i - 2] - equal[i - 2]
          ? 100
          : 0;
  },
});

const uniqueThreeRiver = definePattern({
  id: 'unique_three_river',
  aliases: ['unique_3_river'],
  talib: 'CDLUNIQUE3RIVER',
  name: 'Unique three river bottom',
  sides: ['bullish'],
  lookback: 12,
  description: 'A long black candle, a black harami with a lower low, and a short white one that opens above that low.',
  scan(c, first, out) {
    const { open, low, close } = c;
    const long = benchmark(c, BODY_LONG, first - 2);
    const short = benchmark(c, BODY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        body(c, i - 2) > long[i - 2] &&
        isBlack(c, i - 2) &&
        isBlack(c, i - 1) &&
        close[i - 1] > close[i - 2] &&
        open[i - 1] <= open[i - 2] &&
        low[i - 1] < low[i - 2] &&
        body(c, i) < short[i] &&
        isWhite(c, i) &&
        open[i] > low[i - 1]
          ? 100
          : 0;
  },
});

const tasukiGap = definePattern({
  id: 'tasuki_gap',
  talib: 'CDLTASUKIGAP',
  name: 'Tasuki gap',
  sides: ['bullish', 'bearish'],
  lookback: 7,
  description: 'A gap, then a candle of about equal size that turns back into the gap without closing it.',
  scan(c, first, out) {
    const { open, close } = c;
    const near = benchmark(c, NEAR, first - 1);
    for (let i = first; i < c.length; i++) {
      const isUp =
        bodyGapUp(c, i - 1, i - 2) &&
        isWhite(c, i - 1) &&
        isBlack(c, i) &&
        open[i] < close[i - 1] &&
        open[i] > open[i - 1] &&
        close[i] < open[i - 1] &&
        close[i] > bodyTop(c, i - 2);
      const isDown =
        bodyGapDown(c, i - 1, i - 2) &&
        isBlack(c, i - 1) &&
        isWhite(c, i) &&
        open[i] < open[i - 1] &&
        open[i] > close[i - 1] &&
        close[i] > open[i - 1] &&
        close[i] < bodyBottom(c, i - 2);
      out[i] = (isUp || isDown) && Math.abs(body(c, i - 1) - body(c, i)) < near[i - 1] ? color(c, i - 1) * 100 : 0;
    }
  },
});

const gapSideBySideWhite = definePattern({
  id: 'gap_side_by_side_white',
  aliases: ['side_by_side_white'],
  talib: 'CDLGAPSIDESIDEWHITE',
  name: 'Gap, side-by-side white lines',
  sides: ['bullish', 'bearish'],
  lookback: 7,
  description: 'Two white candles of about equal size and open, side by side beyond a gap.',
  scan(c, first, out) {
    const { open } = c;
    const near = benchmark(c, NEAR, first - 1);
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++) {
      const isUp = bodyGapUp(c, i - 1, i - 2);
      const gaps = (isUp && bodyGapUp(c, i, i - 2)) || (bodyGapDown(c, i - 1, i - 2) && bodyGapDown(c, i, i - 2));
      out[i] =
        gaps &&
        isWhite(c, i - 1) &&
        isWhite(c, i) &&
        body(c, i) >= body(c, i - 1) - near[i - 1] &&
        body(c, i) <= body(c, i - 1) + near[i - 1] &&
        open[i] >= open[i - 1] - equal[i - 1] &&
        open[i] <= open[i - 1] + equal[i - 1]
          ? isUp
            ? 100
            : -100
          : 0;
    }
  },
});

const gapThreeMethods = definePattern({
  id: 'gap_three_methods',
  aliases: ['xside_gap_three_methods', 'gap_3_methods'],
  talib: 'CDLXSIDEGAP3METHODS',
  name: 'Upside or downside gap three methods',
  sides: ['bullish', 'bearish'],
  lookback: 2,
  description: 'Two candles of one colour with a gap between them, then one of the other colour that closes the gap.',
  scan(c, first, out) {
    const { open, close } = c;
    for (let i = first; i < c.length; i++) {
      const gaps = isWhite(c, i - 2) ? bodyGapUp(c, i - 1, i - 2) : bodyGapDown(c, i - 1, i - 2);
      out[i] =
        gaps &&
        color(c, i - 2) === color(c, i - 1) &&
        color(c, i - 1) !== color(c, i) &&
        open[i] < bodyTop(c, i - 1) &&
        open[i] > bodyBottom(c, i - 1) &&
        close[i] < bodyTop(c, i - 2) &&
        close[i] > bodyBottom(c, i - 2)
          ? color(c, i - 2) * 100
          : 0;
    }
  },
});

export const TRIPLE_PATTERNS = [
  threeInside,
  threeOutside,
  stickSandwich,
  uniqueThreeRiver,
  tasukiGap,
  gapSideBySideWhite,
  gapThreeMethods,
] as const;
