// Engulfing patterns: two candles of which the second engulfs, lies inside, or cuts into the first.
import {
  BODY_DOJI,
  BODY_LONG,
  BODY_SHORT,
  body,
  bodyBottom,
  bodyTop,
  color,
  isBlack,
  isWhite,
  benchmark,
  type Candles,
  type Benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

const engulfing = definePattern({
  id: 'engulfing',
  talib: 'CDLENGULFING',
  name: 'Engulfing',
  sides: ['bullish', 'bearish'],
  lookback: 2,
  description: 'A body that covers the opposite body before it; ±80 where one of their ends is equal.',
  scan(c, first, out) {
    for (let i = first; i < c.length; i++) {
      const top = bodyTop(c, i);
      const bottom = bodyBottom(c, i);
      const topBefore = bodyTop(c, i - 1);
      const bottomBefore = bodyBottom(c, i - 1);
      const covers = (top >= topBefore && bottom < bottomBefore) || (top > topBefore && bottom <= bottomBefore);
      const ties = top === topBefore || bottom === bottomBefore;
      out[i] = covers && color(c, i) !== color(c, i - 1) ? color(c, i) * (ties ? 80 : 100) : 0;
    }
  },
});

/** A long body, then one at most as large as `small` inside it; 80 where one of their ends is equal. */
function scanHarami(c: Candles, first: number, out: Float64Array, small: Benchmark): void {
  const long = benchmark(c, BODY_LONG, first - 1);
  const limit = benchmark(c, small, first);
  for (let i = first; i < c.length; i++) {
    const top = bodyTop(c, i);
    const bottom = bodyBottom(c, i);
    const topBefore = bodyTop(c, i - 1);
    const bottomBefore = bodyBottom(c, i - 1);
    const strength =
      top < topBefore && bottom > bottomBefore ? 100 : top <= topBefore && bottom >= bottomBefore ? 80 : 0;
    out[i] = strength > 0 && body(c, i - 1) > long[i - 1] && body(c, i) <= limit[i] ? -color(c, i - 1) * strength : 0;
  }
}

const harami = definePattern({
  id: 'harami',
  aliases: ['inside_body'],
  talib: 'CDLHARAMI',
  name: 'Harami',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'A short body inside the long body before it; ±80 where one of their ends is equal.',
  scan: (c, first, out) => scanHarami(c, first, out, BODY_SHORT),
});

const haramiCross = definePattern({
  id: 'harami_cross',
  talib: 'CDLHARAMICROSS',
  name: 'Harami cross',
  sides: ['bullish', 'bearish'],
  lookback: 11,
  description: 'A doji inside the long body before it; ±80 where one of their ends is equal.',
  scan: (c, first, out) => scanHarami(c, first, out, BODY_DOJI),
});

const piercing = definePattern({
  id: 'piercing',
  aliases: ['piercing_line'],
  talib: 'CDLPIERCING',
  name: 'Piercing line',
  sides: ['bullish'],
  lookback: 11,
  description: 'A long black candle, then a long white one that opens below its low and closes over half of its body.',
  scan(c, first, out) {
    const { open, low, close } = c;
    const longBefore = benchmark(c, BODY_LONG, first - 1);
    const long = benchmark(c, BODY_LONG, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 1) &&
        body(c, i - 1) > longBefore[i - 1] &&
        isWhite(c, i) &&
        body(c, i) > long[i] &&
        open[i] < low[i - 1] &&
        close[i] < open[i - 1] &&
        close[i] > close[i - 1] + body(c, i - 1) * 0.5
          ? 100
          : 0;
  },
});

const darkCloudCover = definePattern({
  id: 'dark_cloud_cover',
  aliases: ['dark_cloud'],
  talib: 'CDLDARKCLOUDCOVER',
  name: 'Dark cloud cover',
  sides: ['bearish'],
  penetration: 0.5,
  lookback: 11,
  description: 'A long white candle, then a black one that opens above its high and closes deep in its body.',
  scan(c, first, out, penetration) {
    const { open, high, close } = c;
    const long = benchmark(c, BODY_LONG, first - 1);
    for (let i = first; i < c.length; i++)
      out[i] =
        isWhite(c, i - 1) &&
        body(c, i - 1) > long[i - 1] &&
        isBlack(c, i) &&
        open[i] > high[i - 1] &&
        close[i] > open[i - 1] &&
        close[i] < close[i - 1] - body(c, i - 1) * penetration
          ? -100
          : 0;
  },
});

const homingPigeon = definePattern({
  id: 'homing_pigeon',
  talib: 'CDLHOMINGPIGEON',
  name: 'Homing pigeon',
  sides: ['bullish'],
  lookback: 11,
  description: 'A long black candle, then a short black one inside its body.',
  scan(c, first, out) {
    const { open, close } = c;
    const long = benchmark(c, BODY_LONG, first - 1);
    const short = benchmark(c, BODY_SHORT, first);
    for (let i = first; i < c.length; i++)
      out[i] =
        isBlack(c, i - 1) &&
        isBlack(c, i) &&
        body(c, i - 1) > long[i - 1] &&
        body(c, i) <= short[i] &&
        open[i] < open[i - 1] &&
        close[i] > close[i - 1]
          ? 100
          : 0;
  },
});

export const PAIR_PATTERNS = [engulfing, harami, haramiCross, piercing, darkCloudCover, homingPigeon] as const;
