// Hammers: a small body at one end of a long shadow, distinguished by the position of the candle.
import {
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  ge,
  high,
  le,
  longLowerShadow,
  longUpperShadow,
  low,
  minus,
  near,
  noLowerShadow,
  noUpperShadow,
  plus,
  short,
} from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

const HAMMER = [short(0), longLowerShadow(0), noUpperShadow(0)];
const INVERTED_HAMMER = [short(0), longUpperShadow(0), noLowerShadow(0)];

export const HAMMER_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'hammer',
    talib: 'CDLHAMMER',
    name: 'Hammer',
    lookback: 11,
    description: 'A small body with a long lower shadow and hardly an upper one, at or below the low before it.',
    signs: { bullish: [...HAMMER, le(bodyBottom(0), plus(low(1), near(1)))] },
  },
  {
    id: 'hanging_man',
    talib: 'CDLHANGINGMAN',
    name: 'Hanging man',
    lookback: 11,
    description: 'A small body with a long lower shadow and hardly an upper one, at or above the high before it.',
    signs: { bearish: [...HAMMER, ge(bodyBottom(0), minus(high(1), near(1)))] },
  },
  {
    id: 'inverted_hammer',
    talib: 'CDLINVERTEDHAMMER',
    name: 'Inverted hammer',
    lookback: 11,
    description: 'A small body with a long upper shadow and hardly a lower one, gapping below the body before it.',
    signs: { bullish: [...INVERTED_HAMMER, bodyGapDown(0, 1)] },
  },
  {
    id: 'shooting_star',
    talib: 'CDLSHOOTINGSTAR',
    name: 'Shooting star',
    lookback: 11,
    description: 'A small body with a long upper shadow and hardly a lower one, gapping above the body before it.',
    signs: { bearish: [...INVERTED_HAMMER, bodyGapUp(0, 1)] },
  },
];
