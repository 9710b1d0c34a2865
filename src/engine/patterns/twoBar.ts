// Patterns of two candles of which the second opens or closes at a price of the first.
import {
  BODY_LONG,
  EQUAL,
  SHADOW_VERY_SHORT,
  body,
  color,
  gapDown,
  gapUp,
  isBlack,
  isWhite,
  lowerShadow,
  upperShadow,
  benchmark,
  type Candles,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const onNeck = definePattern({
  id: 'on_neck',
  talib: 'CDLONNECK',
  name: 'On-neck',
  sides: ['bearish'],
  lookback: 11,
  description: 'A long black candle, then a white one that opens below its low and closes about at it.',
  scan(c, first, out) {
    const { open, low, close } = c;
    const long = benchmark(c, BODY_LONG, first - 1);
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 1) &&
        body(c, i - 1) > long[i - 1] &&
        isWhite(c, i) &&
        open[i] < low[i - 1] &&
        close[i] <= low[i - 1] + equal[i - 1] &&
        close[i] >= low[i - 1] - equal[i - 1]
          ? -100
          : 0;
  },
});

const inNeck = definePattern({
  id: 'in_neck',
  talib: 'CDLINNECK',
  name: 'In-neck',
  sides: ['bearish'],
  lookback: 11,
  description: 'A long black candle, then a white one that opens below its low and closes at or just above its close.',
  scan(c, first, out) {
    const { open, low, close } = c;
    const long = benchmark(c, BODY_LONG, first - 1);
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 1) &&
        body(c, i - 1) > long[i - 1] &&
        isWhite(c, i) &&
        open[i] < low[i - 1] &&
        close[i] <= close[i - 1] + equal[i - 1] &&
        close[i] >= close[i - 1]
          ? -100
          : 0;
  },
});

const thrusting = definePattern({
  id: 'thrusting',
  talib: 'CDLTHRUSTING',
  name: 'Thrusting',
  sides: ['bearish'],
  lookback: 11,
  description:
    'A long black candle, then a white one that opens below its low and closes in the lower half of its body.',
  scan(c, first, out) {
    const { open, low, close } = c;
    const long = benchmark(c, BODY_LONG, first - 1);
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 1) &&
        body(c, i - 1) > long[i - 1] &&
        isWhite(c, i) &&
        open[i] < low[i - 1] &&
        close[i] > close[i - 1] + equal[i - 1] &&
        close[i] <= close[i - 1] + body(c, i - 1) * 0.5
          ? -100
          : 0;
  },
});

const counterattack = definePattern({
  id: 'counterattack',
  talib: 'CDLCOUNTERATTACK',
  name: 'Counterattack',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'Two long candles of opposite colours that close at about the same price.',
  scan(c, first, out) {
    const { close } = c;
    const longBefore = benchmark(c, BODY_LONG, first - 1);
    const long = benchmark(c, BODY_LONG, first);
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        color(c, i) !== color(c, i - 1) &&
        body(c, i - 1) > longBefore[i - 1] &&
        body(c, i) > long[i] &&
        close[i] <= close[i - 1] + equal[i - 1] &&
        close[i] >= close[i - 1] - equal[i - 1]
          ? color(c, i) * 100
          : 0;
  },
});

const separatingLines = definePattern({
  id: 'separating_lines',
  talib: 'CDLSEPARATINGLINES',
  name: 'Separating lines',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'A candle, then a long one of the other colour that opens at the same price and never comes back to it.',
  scan(c, first, out) {
    const { open } = c;
    const long = benchmark(c, BODY_LONG, first);
    const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++) {
      const openingShadow = isWhite(c, i) ? lowerShadow(c, i) : upperShadow(c, i);
      out[i] =
        color(c, i) !== color(c, i - 1) &&
        open[i] <= open[i - 1] + equal[i - 1] &&
        open[i] >= open[i - 1] - equal[i - 1] &&
        body(c, i) > long[i] &&
        openingShadow < veryShort[i]
          ? color(c, i) * 100
          : 0;
    }
  },
});

const matchingLow = definePattern({
  id: 'matching_low',
  talib: 'CDLMATCHINGLOW',
  name: 'Matching low',
  sides: ['bullish'],
  lookback: 6,
  description: 'Two black candles that close at about the same price.',
  scan(c, first, out) {
    const { close } = c;
    const equal = benchmark(c, EQUAL, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 1) &&
        isBlack(c, i) &&
        close[i] <= close[i - 1] + equal[i - 1] &&
        close[i] >= close[i - 1] - equal[i - 1]
          ? 100
          : 0;
  },
});

/**
 * Two marubozu of opposite colors with a gap between them; `byLength`: the longer one decides the side, else the
 * second.
 */
function scanKicking(c: Candles, first: number, out: Float64Array, byLength: boolean): void {
  const longBefore = benchmark(c, BODY_LONG, first - 1);
  const long = benchmark(c, BODY_LONG, first);
  const veryShortBefore = benchmark(c, SHADOW_VERY_SHORT, first - 1);
  const veryShort = benchmark(c, SHADOW_VERY_SHORT, first);
  for (let i = first; i < c.length; i++) {
    const gaps = isBlack(c, i - 1) ? gapUp(c, i, i - 1) : gapDown(c, i, i - 1);
    const areMarubozu =
      body(c, i - 1) > longBefore[i - 1] &&
      upperShadow(c, i - 1) < veryShortBefore[i - 1] &&
      lowerShadow(c, i - 1) < veryShortBefore[i - 1] &&
      body(c, i) > long[i] &&
      upperShadow(c, i) < veryShort[i] &&
      lowerShadow(c, i) < veryShort[i];
    const decides = !byLength || body(c, i) > body(c, i - 1) ? i : i - 1;
    out[i] = gaps && areMarubozu && color(c, i) !== color(c, i - 1) ? color(c, decides) * 100 : 0;
  }
}

const kicking = definePattern({
  id: 'kicking',
  talib: 'CDLKICKING',
  name: 'Kicking',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'Two marubozu of opposite colours with a gap between them; the second one gives the side.',
  scan: (c, first, out) => scanKicking(c, first, out, false),
});

const kickingByLength = definePattern({
  id: 'kicking_by_length',
  talib: 'CDLKICKINGBYLENGTH',
  name: 'Kicking, by the longer marubozu',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'Two marubozu of opposite colours with a gap between them; the longer one gives the side.',
  scan: (c, first, out) => scanKicking(c, first, out, true),
});

export const MEETING_PATTERNS = [
  onNeck,
  inNeck,
  thrusting,
  counterattack,
  separatingLines,
  matchingLow,
  kicking,
  kickingByLength,
] as const;
