// Stars: a long candle, a small one apart from it, and one that turns back into the first body.
import {
  allOf,
  black,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  bodyTop,
  close,
  doji,
  gapDown,
  gapUp,
  gt,
  le,
  long,
  lt,
  minus,
  notLong,
  plus,
  tiny,
  times,
  white,
  type Condition,
} from './candles.ts';
import type { PatternDeclaration, PatternSigns } from './patternDefinition.ts';

/** The last candle turns up from below the first, closing so far into its body. */
const turnsUp = (penetration: number): Condition =>
  allOf(black(2), white(0), gt(close(0), plus(close(2), times(body(2), penetration))));
const turnsDown = (penetration: number): Condition =>
  allOf(white(2), black(0), lt(close(0), minus(close(2), times(body(2), penetration))));

const morning =
  (star: Condition) =>
  (penetration: number): PatternSigns => ({
    bullish: [long(2), star, bodyGapDown(1, 2), long(0), turnsUp(penetration)],
  });
const evening =
  (star: Condition) =>
  (penetration: number): PatternSigns => ({
    bearish: [long(2), star, bodyGapUp(1, 2), long(0), turnsDown(penetration)],
  });

/** Three doji: the benchmark of the first candle measures all three. */
const THREE_DOJI = [0, 1, 2].map((back) => le(body(back), tiny(2)));

export const STAR_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'morning_star',
    talib: 'CDLMORNINGSTAR',
    name: 'Morning star',
    penetration: 0.3,
    lookback: 12,
    description: 'A long black candle, a short body gapping below it, and a white one that closes well into the first.',
    signs: morning(notLong(1)),
  },
  {
    id: 'morning_doji_star',
    talib: 'CDLMORNINGDOJISTAR',
    name: 'Morning doji star',
    penetration: 0.3,
    lookback: 12,
    description: 'A morning star whose middle candle is a doji.',
    signs: morning(doji(1)),
  },
  {
    id: 'evening_star',
    talib: 'CDLEVENINGSTAR',
    name: 'Evening star',
    penetration: 0.3,
    lookback: 12,
    description: 'A long white candle, a short body gapping above it, and a black one that closes well into the first.',
    signs: evening(notLong(1)),
  },
  {
    id: 'evening_doji_star',
    talib: 'CDLEVENINGDOJISTAR',
    name: 'Evening doji star',
    penetration: 0.3,
    lookback: 12,
    description: 'An evening star whose middle candle is a doji.',
    signs: evening(doji(1)),
  },
  {
    id: 'abandoned_baby',
    talib: 'CDLABANDONEDBABY',
    name: 'Abandoned baby',
    penetration: 0.3,
    lookback: 12,
    description: 'A star whose middle candle is a doji that gaps, shadows included, away from both its neighbors.',
    signs: (penetration) => ({
      when: [long(2), doji(1), long(0)],
      bullish: [turnsUp(penetration), gapDown(1, 2), gapUp(0, 1)],
      bearish: [turnsDown(penetration), gapUp(1, 2), gapDown(0, 1)],
    }),
  },
  {
    id: 'tristar',
    aliases: ['tri_star'],
    talib: 'CDLTRISTAR',
    name: 'Tristar',
    lookback: 12,
    description: 'Three doji in a row, the middle one gapping away from the first and the last one coming back.',
    signs: {
      when: THREE_DOJI,
      bullish: [bodyGapDown(1, 2), gt(bodyBottom(0), bodyBottom(1))],
      bearish: [bodyGapUp(1, 2), lt(bodyTop(0), bodyTop(1))],
    },
  },
];
