// Patterns of one candle, distinguished by the length of its body and shadows.
import {
  BODY_LONG,
  BODY_SHORT,
  SHADOW_SHORT,
  SHADOW_VERY_SHORT,
  body,
  color,
  isWhite,
  lowerShadow,
  upperShadow,
  veryLongShadow,
  benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const beltHold = definePattern({
  id: 'belt_hold',
  talib: 'CDLBELTHOLD',
  name: 'Belt hold',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A long candle that opens at its extreme: white without a lower shadow, or black without an upper one.',
  scan(c, first, out) {
    const long = benchmark(c, BODY_LONG, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++) {
      const openingShadow = isWhite(c, i) ? lowerShadow(c, i) : upperShadow(c, i);
      out[i] = body(c, i) > long[i] && openingShadow < veryShort[i] ? color(c, i) * 100 : 0;
    }
  },
});

const closingMarubozu = definePattern({
  id: 'closing_marubozu',
  talib: 'CDLCLOSINGMARUBOZU',
  name: 'Closing marubozu',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A long candle that closes at its extreme: white without an upper shadow, or black without a lower one.',
  scan(c, first, out) {
    const long = benchmark(c, BODY_LONG, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++) {
      const closingShadow = isWhite(c, i) ? upperShadow(c, i) : lowerShadow(c, i);
      out[i] = body(c, i) > long[i] && closingShadow < veryShort[i] ? color(c, i) * 100 : 0;
    }
  },
});

const marubozu = definePattern({
  id: 'marubozu',
  talib: 'CDLMARUBOZU',
  name: 'Marubozu',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A long candle with hardly a shadow at either end.',
  scan(c, first, out) {
    const long = benchmark(c, BODY_LONG, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        body(c, i) > long[i] && upperShadow(c, i) < veryShort[i] && lowerShadow(c, i) < veryShort[i]
          ? color(c, i) * 100
          : 0;
  },
});

const longLine = definePattern({
  id: 'long_line',
  talib: 'CDLLONGLINE',
  name: 'Long line candle',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A long body between short shadows.',
  scan(c, first, out) {
    const long = benchmark(c, BODY_LONG, first);
    const shortShadow = benchmark(c, SHADOW_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        body(c, i) > long[i] && upperShadow(c, i) < shortShadow[i] && lowerShadow(c, i) < shortShadow[i]
          ? color(c, i) * 100
          : 0;
  },
});

const shortLine = definePattern({
  id: 'short_line',
  talib: 'CDLSHORTLINE',
  name: 'Short line candle',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A short body between short shadows.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    const shortShadow = benchmark(c, SHADOW_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        body(c, i) < short[i] && upperShadow(c, i) < shortShadow[i] && lowerShadow(c, i) < shortShadow[i]
          ? color(c, i) * 100
          : 0;
  },
});

const spinningTop = definePattern({
  id: 'spinning_top',
  talib: 'CDLSPINNINGTOP',
  name: 'Spinning top',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A short body between two shadows longer than it.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    for (let i = first; i < c.length; i++) {
      const length = body(c, i);
      out[i] = length < short[i] && upperShadow(c, i) > length && lowerShadow(c, i) > length ? color(c, i) * 100 : 0;
    }
  },
});

const highWave = definePattern({
  id: 'high_wave',
  talib: 'CDLHIGHWAVE',
  name: 'High-wave candle',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A short body between two shadows more than twice as long.',
  scan(c, first, out) {
    const short = benchmark(c, BODY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        body(c, i) < short[i] && upperShadow(c, i) > veryLongShadow(c, i) && lowerShadow(c, i) > veryLongShadow(c, i)
          ? color(c, i) * 100
          : 0;
  },
});

export const LINE_PATTERNS = [beltHold, closingMarubozu, marubozu, longLine, shortLine, spinningTop, highWave] as const;
