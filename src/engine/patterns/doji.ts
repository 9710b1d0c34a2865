// Doji patterns: candles that close about where they opened.
import {
  BODY_DOJI,
  BODY_LONG,
  NEAR,
  SHADOW_VERY_SHORT,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  bodyTop,
  color,
  isWhite,
  longShadow,
  lowerShadow,
  upperShadow,
  veryLongShadow,
  benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const doji = definePattern({
  id: 'doji',
  talib: 'CDLDOJI',
  name: 'Doji',
  sides: ['bullish'],
  lookback: 10,
  description: 'A body of at most a tenth of the recent ranges. It has no side; its value is positive.',
  scan(c, first, out) {
    const tiny = benchmark(c, BODY_DOJI, first);
    for (let i = first; i < c.length; i++) out[i] = body(c, i) <= tiny[i] ? 100 : 0;
  },
});

const dragonflyDoji = definePattern({
  id: 'dragonfly_doji',
  talib: 'CDLDRAGONFLYDOJI',
  name: 'Dragonfly doji',
  sides: ['bullish'],
  lookback: 10,
  description: 'A doji that opens and closes at its high, with a lower shadow.',
  scan(c, first, out) {
    const tiny = benchmark(c, BODY_DOJI, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] = body(c, i) <= tiny[i] && upperShadow(c, i) < veryShort[i] && lowerShadow(c, i) > veryShort[i] ? 100 : 0;
  },
});

const gravestoneDoji = definePattern({
  id: 'gravestone_doji',
  talib: 'CDLGRAVESTONEDOJI',
  name: 'Gravestone doji',
  sides: ['bullish'],
  lookback: 10,
  description: 'A doji that opens and closes at its low, with an upper shadow. Its value is positive, as in TA-Lib.',
  scan(c, first, out) {
    const tiny = benchmark(c, BODY_DOJI, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] = body(c, i) <= tiny[i] && lowerShadow(c, i) < veryShort[i] && upperShadow(c, i) > veryShort[i] ? 100 : 0;
  },
});

const longLeggedDoji = definePattern({
  id: 'long_legged_doji',
  talib: 'CDLLONGLEGGEDDOJI',
  name: 'Long-legged doji',
  sides: ['bullish'],
  lookback: 10,
  description: 'A doji with one or two shadows longer than its body.',
  scan(c, first, out) {
    const tiny = benchmark(c, BODY_DOJI, first);
    for (let i = first; i < c.length; i++) {
      const isLong = lowerShadow(c, i) > longShadow(c, i) || upperShadow(c, i) > longShadow(c, i);
      out[i] = body(c, i) <= tiny[i] && isLong ? 100 : 0;
    }
  },
});

const rickshawMan = definePattern({
  id: 'rickshaw_man',
  talib: 'CDLRICKSHAWMAN',
  name: 'Rickshaw man',
  sides: ['bullish'],
  lookback: 10,
  description: 'A doji with two long shadows whose body lies near the middle of its range.',
  scan(c, first, out) {
    const { high, low } = c;
    const tiny = benchmark(c, BODY_DOJI, first);
    const near = benchmark(c, NEAR, first);
    for (let i = first; i < c.length; i++) {
      const middle = low[i] + (high[i] - low[i]) / 2;
      out[i] =
        body(c, i) <= tiny[i] &&
        lowerShadow(c, i) > longShadow(c, i) &&
        upperShadow(c, i) > longShadow(c, i) &&
        bodyBottom(c, i) <= middle + near[i] &&
        bodyTop(c, i) >= middle - near[i]
          ? 100
          : 0;
    }
  },
});

const takuri = definePattern({
  id: 'takuri',
  talib: 'CDLTAKURI',
  name: 'Takuri line',
  sides: ['bullish'],
  lookback: 10,
  description: 'A dragonfly doji with a very long lower shadow.',
  scan(c, first, out) {
    const tiny = benchmark(c, BODY_DOJI, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        body(c, i) <= tiny[i] && upperShadow(c, i) < veryShort[i] && lowerShadow(c, i) > veryLongShadow(c, i) ? 100 : 0;
  },
});

const dojiStar = definePattern({
  id: 'doji_star',
  talib: 'CDLDOJISTAR',
  name: 'Doji star',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'A long candle, then a doji whose body gaps away in its direction: the move may turn.',
  scan(c, first, out) {
    const long = benchmark(c, BODY_LONG, first - 1);
    const tiny = benchmark(c, BODY_DOJI, first);
    for (let i = first; i < c.length; i++) {
      const gaps = isWhite(c, i - 1) ? bodyGapUp(c, i, i - 1) : bodyGapDown(c, i, i - 1);
      out[i] = gaps && body(c, i - 1) > long[i - 1] && body(c, i) <= tiny[i] ? -100 * color(c, i - 1) : 0;
    }
  },
});

export const DOJI_PATTERNS = [
  doji,
  dragonflyDoji,
  gravestoneDoji,
  longLeggedDoji,
  rickshawMan,
  takuri,
  dojiStar,
] as const;
