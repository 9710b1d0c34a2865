// Patterns of one candle, distinguished by the length of its body and shadows.
import {
  averageShadow,
  black,
  long,
  longLowerShadow,
  longUpperShadow,
  lowerShadow,
  lt,
  noLowerShadow,
  noUpperShadow,
  short,
  upperShadow,
  veryLongLowerShadow,
  veryLongUpperShadow,
  white,
} from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

const shortUpperShadow = lt(upperShadow(0), averageShadow(0));
const shortLowerShadow = lt(lowerShadow(0), averageShadow(0));
/** The side is the candle's color. */
const BY_COLOR = { bullish: [white(0)], bearish: [black(0)] };

export const ONE_BAR_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'belt_hold',
    talib: 'CDLBELTHOLD',
    name: 'Belt hold',
    lookback: 10,
    description:
      'A long candle that opens at its extreme: white without a lower shadow, or black without an upper one.',
    signs: { when: [long(0)], bullish: [white(0), noLowerShadow(0)], bearish: [black(0), noUpperShadow(0)] },
  },
  {
    id: 'closing_marubozu',
    talib: 'CDLCLOSINGMARUBOZU',
    name: 'Closing marubozu',
    lookback: 10,
    description:
      'A long candle that closes at its extreme: white without an upper shadow, or black without a lower one.',
    signs: { when: [long(0)], bullish: [white(0), noUpperShadow(0)], bearish: [black(0), noLowerShadow(0)] },
  },
  {
    id: 'marubozu',
    talib: 'CDLMARUBOZU',
    name: 'Marubozu',
    lookback: 10,
    description: 'A long candle with hardly a shadow at either end.',
    signs: { when: [long(0), noUpperShadow(0), noLowerShadow(0)], ...BY_COLOR },
  },
  {
    id: 'long_line',
    talib: 'CDLLONGLINE',
    name: 'Long line candle',
    lookback: 10,
    description: 'A long body between short shadows.',
    signs: { when: [long(0), shortUpperShadow, shortLowerShadow], ...BY_COLOR },
  },
  {
    id: 'short_line',
    talib: 'CDLSHORTLINE',
    name: 'Short line candle',
    lookback: 10,
    description: 'A short body between short shadows.',
    signs: { when: [short(0), shortUpperShadow, shortLowerShadow], ...BY_COLOR },
  },
  {
    id: 'spinning_top',
    talib: 'CDLSPINNINGTOP',
    name: 'Spinning top',
    lookback: 10,
    description: 'A short body between two shadows longer than it.',
    signs: { when: [short(0), longUpperShadow(0), longLowerShadow(0)], ...BY_COLOR },
  },
  {
    id: 'high_wave',
    talib: 'CDLHIGHWAVE',
    name: 'High-wave candle',
    lookback: 10,
    description: 'A short body between two shadows more than twice as long.',
    signs: { when: [short(0), veryLongUpperShadow(0), veryLongLowerShadow(0)], ...BY_COLOR },
  },
];
