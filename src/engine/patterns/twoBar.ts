// Patterns of two candles of which the second opens or closes at a price of the first.
import {
  about,
  allOf,
  anyOf,
  black,
  blacks,
  body,
  close,
  equal,
  gapDown,
  gapUp,
  ge,
  gt,
  le,
  long,
  low,
  lt,
  noLowerShadow,
  noUpperShadow,
  not,
  open,
  plus,
  times,
  white,
} from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

/** A long black candle, then a white one that opens below its low. */
const OPENS_BELOW = [black(1), long(1), white(0), lt(open(0), low(1))];
const closesAtClose = about(close(0), close(1), equal(1));
const opensAtOpen = about(open(0), open(1), equal(1));

const MARUBOZU_PAIR = [long(1), noUpperShadow(1), noLowerShadow(1), long(0), noUpperShadow(0), noLowerShadow(0)];
const kicksUp = allOf(black(1), white(0), gapUp(0, 1));
const kicksDown = allOf(white(1), black(0), gapDown(0, 1));
const isLonger = gt(body(0), body(1));

export const TWO_BAR_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'on_neck',
    talib: 'CDLONNECK',
    name: 'On-neck',
    lookback: 11,
    description: 'A long black candle, then a white one that opens below its low and closes about at it.',
    signs: { bearish: [...OPENS_BELOW, about(close(0), low(1), equal(1))] },
  },
  {
    id: 'in_neck',
    talib: 'CDLINNECK',
    name: 'In-neck',
    lookback: 11,
    description:
      'A long black candle, then a white one that opens below its low and closes at or just above its close.',
    signs: { bearish: [...OPENS_BELOW, le(close(0), plus(close(1), equal(1))), ge(close(0), close(1))] },
  },
  {
    id: 'thrusting',
    talib: 'CDLTHRUSTING',
    name: 'Thrusting',
    lookback: 11,
    description:
      'A long black candle, then a white one that opens below its low and closes in the lower half of its body.',
    signs: {
      bearish: [
        ...OPENS_BELOW,
        gt(close(0), plus(close(1), equal(1))),
        le(close(0), plus(close(1), times(body(1), 0.5))),
      ],
    },
  },
  {
    id: 'counterattack',
    talib: 'CDLCOUNTERATTACK',
    name: 'Counterattack',
    lookback: 11,
    description: 'Two long candles of opposite colors that close at about the same price.',
    signs: {
      when: [long(1), long(0), closesAtClose],
      bullish: [black(1), white(0)],
      bearish: [white(1), black(0)],
    },
  },
  {
    id: 'separating_lines',
    talib: 'CDLSEPARATINGLINES',
    name: 'Separating lines',
    lookback: 11,
    description:
      'A candle, then a long one of the other color that opens at the same price and never comes back to it.',
    signs: {
      when: [opensAtOpen, long(0)],
      bullish: [black(1), white(0), noLowerShadow(0)],
      bearish: [white(1), black(0), noUpperShadow(0)],
    },
  },
  {
    id: 'matching_low',
    talib: 'CDLMATCHINGLOW',
    name: 'Matching low',
    lookback: 6,
    description: 'Two black candles that close at about the same price.',
    signs: { bullish: [blacks(0, 1), closesAtClose] },
  },
  {
    id: 'kicking',
    talib: 'CDLKICKING',
    name: 'Kicking',
    lookback: 11,
    description: 'Two marubozu of opposite colors with a gap between them; the second one gives the side.',
    signs: { when: MARUBOZU_PAIR, bullish: [kicksUp], bearish: [kicksDown] },
  },
  {
    id: 'kicking_by_length',
    talib: 'CDLKICKINGBYLENGTH',
    name: 'Kicking, by the longer marubozu',
    lookback: 11,
    description: 'Two marubozu of opposite colors with a gap between them; the longer one gives the side.',
    signs: {
      when: MARUBOZU_PAIR,
      bullish: [anyOf(allOf(kicksUp, isLonger), allOf(kicksDown, not(isLonger)))],
      bearish: [anyOf(allOf(kicksDown, isLonger), allOf(kicksUp, not(isLonger)))],
    },
  },
];
