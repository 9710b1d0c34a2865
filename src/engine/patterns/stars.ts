// Stars: a long candle, a small one apart from it, and one that turns back into the first body.
import {
  BODY_DOJI,
  BODY_LONG,
  BODY_SHORT,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  bodyTop,
  color,
  gapDown,
  gapUp,
  isBlack,
  isWhite,
  benchmark,
  type Candles,
  type Benchmark,
} from './candles.ts';
import { definePattern } from './patternDefinition.ts';

function scanMorning(c: Candles, first: number, out: Float64Array, star: Benchmark, penetration: number): void {
  const { close } = c;
  const long = benchmark(c, BODY_LONG, first - 2);
  const small = benchmark(c, star, first - 1);
  const short = benchmark(c, BODY_SHORT, first);
  for (let i = first; i < c.length; i++)
    out[i] =
      isBlack(c, i - 2) &&
      body(c, i - 2) > long[i - 2] &&
      body(c, i - 1) <= small[i - 1] &&
      bodyGapDown(c, i - 1, i - 2) &&
      isWhite(c, i) &&
      body(c, i) > short[i] &&
      close[i] > close[i - 2] + body(c, i - 2) * penetration
        ? 100
        : 0;
}

function scanEvening(c: Candles, first: number, out: Float64Array, star: Benchmark, penetration: number): void {
  const { close } = c;
  const long = benchmark(c, BODY_LONG, first - 2);
  const small = benchmark(c, star, first - 1);
  const short = benchmark(c, BODY_SHORT, first);
  for (let i = first; i < c.length; i++)
    out[i] =
      isWhite(c, i - 2) &&
      body(c, i - 2) > long[i - 2] &&
      body(c, i - 1) <= small[i - 1] &&
      bodyGapUp(c, i - 1, i - 2) &&
      isBlack(c, i) &&
      body(c, i) > short[i] &&
      close[i] < close[i - 2] - body(c, i - 2) * penetration
        ? -100
        : 0;
}

const morningStar = definePattern({
  id: 'morning_star',
  talib: 'CDLMORNINGSTAR',
  name: 'Morning star',
  sides: ['bullish'],
  penetration: 0.3,
  lookback: 12,
  description: 'A long black candle, a short body gapping below it, and a white one that closes well into the first.',
  scan: (c, first, out, penetration) => scanMorning(c, first, out, BODY_SHORT, penetration),
});

const morningDojiStar = definePattern({
  id: 'morning_doji_star',
  talib: 'CDLMORNINGDOJISTAR',
  name: 'Morning doji star',
  sides: ['bullish'],
  penetration: 0.3,
  lookback: 12,
  description: 'A morning star whose middle candle is a doji.',
  scan: (c, first, out, penetration) => scanMorning(c, first, out, BODY_DOJI, penetration),
});

const eveningStar = definePattern({
  id: 'evening_star',
  talib: 'CDLEVENINGSTAR',
  name: 'Evening star',
  sides: ['bearish'],
  penetration: 0.3,
  lookback: 12,
  description: 'A long white candle, a short body gapping above it, and a black one that closes well into the first.',
  scan: (c, first, out, penetration) => scanEvening(c, first, out, BODY_SHORT, penetration),
});

const eveningDojiStar = definePattern({
  id: 'evening_doji_star',
  talib: 'CDLEVENINGDOJISTAR',
  name: 'Evening doji star',
  sides: ['bearish'],
  penetration: 0.3,
  lookback: 12,
  description: 'An evening star whose middle candle is a doji.',
  scan: (c, first, out, penetration) => scanEvening(c, first, out, BODY_DOJI, penetration),
});

const abandonedBaby = definePattern({
  id: 'abandoned_baby',
  talib: 'CDLABANDONEDBABY',
  name: 'Abandoned baby',
  sides: ['bullish', 'bearish'],
  penetration: 0.3,
  lookback: 12,
  description: 'A star whose middle candle is a doji that gaps, shadows included, away from both its neighbours.',
  scan(c, first, out, penetration) {
    const { close } = c;
    const long = benchmark(c, BODY_LONG, first - 2);
    const tiny = benchmark(c, BODY_DOJI, first - 1);
    const short = benchmark(c, BODY_SHORT, first);
    for (let i = first; i < c.length; i++) {
      const depth = body(c, i - 2) * penetration;
      const turns = isWhite(c, i - 2)
        ? isBlack(c, i) && close[i] < close[i - 2] - depth && gapUp(c, i - 1, i - 2) && gapDown(c, i, i - 1)
        : isWhite(c, i) && close[i] > close[i - 2] + depth && gapDown(c, i - 1, i - 2) && gapUp(c, i, i - 1);
      out[i] =
        turns && body(c, i - 2) > long[i - 2] && body(c, i - 1) <= tiny[i - 1] && body(c, i) > short[i]
          ? color(c, i) * 100
          : 0;
    }
  },
});

const tristar = definePattern({
  id: 'tristar',
  aliases: ['tri_star'],
  talib: 'CDLTRISTAR',
  name: 'Tristar',
  sides: ['bullish', 'bearish'],
  lookback: 12,
  description: 'Three doji in a row, the middle one gapping away from the first and the last one coming back.',
  scan(c, first, out) {
    // The benchmark of the first candle measures all three.
    const tiny = benchmark(c, BODY_DOJI, first - 2);
    for (let i = first; i < c.length; i++) {
      const limit = tiny[i - 2];
      const areDoji = body(c, i - 2) <= limit && body(c, i - 1) <= limit && body(c, i) <= limit;
      if (areDoji && bodyGapUp(c, i - 1, i - 2) && bodyTop(c, i) < bodyTop(c, i - 1)) out[i] = -100;
      else if (areDoji && bodyGapDown(c, i - 1, i - 2) && bodyBottom(c, i) > bodyBottom(c, i - 1)) out[i] = 100;
      else out[i] = 0;
    }
  },
});

export const STAR_PATTERNS = [
  morningStar,
  morningDojiStar,
  eveningStar,
  eveningDojiStar,
  abandonedBaby,
  tristar,
] as const;
