// Crows: consecutive falling black candles, and the gap they may start from.
import {
  about,
  allOf,
  between,
  blacks,
  body,
  bodyGapUp,
  close,
  equal,
  ge,
  gt,
  hasLowerShadow,
  high,
  le,
  long,
  longLowerShadow,
  low,
  lt,
  noLowerShadow,
  noUpperShadow,
  notLong,
  open,
  short,
  white,
  type Condition,
} from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

/** A candle that opens strictly inside the black body before it. */
const opensInside = (back: number): Condition => between(open(back), close(back + 1), open(back + 1));
/** Three black candles at their lows, each closing lower. */
const THREE_FALLING = [
  blacks(0, 1, 2),
  ...[0, 1, 2].map(noLowerShadow),
  allOf(gt(close(2), close(1)), gt(close(1), close(0))),
];

export const CROW_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'two_crows',
    aliases: ['2_crows'],
    talib: 'CDL2CROWS',
    name: 'Two crows',
    lookback: 12,
    description:
      'A long white candle, a black one gapping above it, and a black one from inside that back into the first.',
    signs: {
      bearish: [white(2), long(2), blacks(0, 1), bodyGapUp(1, 2), opensInside(0), between(close(0), open(2), close(2))],
    },
  },
  {
    id: 'upside_gap_two_crows',
    aliases: ['upside_gap_2_crows'],
    talib: 'CDLUPSIDEGAP2CROWS',
    name: 'Upside gap two crows',
    lookback: 12,
    description: 'A long white candle, a short black one gapping above it, and a black one that engulfs the second.',
    signs: {
      bearish: [
        white(2),
        long(2),
        blacks(0, 1),
        notLong(1),
        bodyGapUp(1, 2),
        gt(open(0), open(1)),
        between(close(0), close(2), close(1)),
      ],
    },
  },
  {
    id: 'three_black_crows',
    aliases: ['3_black_crows'],
    talib: 'CDL3BLACKCROWS',
    name: 'Three black crows',
    lookback: 13,
    description:
      'After a white candle, three black ones that open inside the body before and close lower, at their lows.',
    signs: { bearish: [white(3), ...THREE_FALLING, opensInside(1), opensInside(0), gt(high(3), close(2))] },
  },
  {
    id: 'identical_three_crows',
    aliases: ['identical_3_crows'],
    talib: 'CDLIDENTICAL3CROWS',
    name: 'Identical three crows',
    lookback: 12,
    description: 'Three black candles, each opening at about the close before and closing lower, at its low.',
    signs: {
      bearish: [...THREE_FALLING, about(open(1), close(2), equal(2)), about(open(0), close(1), equal(1))],
    },
  },
  {
    id: 'three_stars_in_south',
    aliases: ['3_stars_in_south', 'three_stars_in_the_south'],
    talib: 'CDL3STARSINSOUTH',
    name: 'Three stars in the south',
    lookback: 12,
    description: 'Three black candles, each smaller than the one before and with a higher low: the fall runs out.',
    signs: {
      bullish: [
        blacks(0, 1, 2),
        long(2),
        longLowerShadow(2),
        lt(body(1), body(2)),
        gt(open(1), close(2)),
        le(open(1), high(2)),
        lt(low(1), close(2)),
        ge(low(1), low(2)),
        hasLowerShadow(1),
        short(0),
        noLowerShadow(0),
        noUpperShadow(0),
        gt(low(0), low(1)),
        lt(high(0), high(1)),
      ],
    },
  },
];
