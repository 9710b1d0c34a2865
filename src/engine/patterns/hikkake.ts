// Hikkake: a false break of an inside bar, and its confirmation within three bars.
import { allOf, close, ge, gt, high, le, low, lt, minus, near, plus, type Condition } from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

/** A candle inside the one before it. */
const isInside = (back: number): Condition => allOf(lt(high(back), high(back + 1)), gt(low(back), low(back + 1)));
/** A break below the candle before: a trap for sellers. */
const BREAKS_DOWN = [lt(high(0), high(1)), lt(low(0), low(1))];
const BREAKS_UP = [gt(high(0), high(1)), gt(low(0), low(1))];

export const HIKKAKE_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'hikkake',
    talib: 'CDLHIKKAKE',
    name: 'Hikkake',
    lookback: 5,
    description: 'An inside bar broken on one side only; ±200 on the bar that confirms the turn within three bars.',
    isConfirmable: true,
    signs: { when: [isInside(1)], bullish: BREAKS_DOWN, bearish: BREAKS_UP },
  },
  {
    id: 'modified_hikkake',
    aliases: ['hikkake_modified', 'hikkake_mod'],
    talib: 'CDLHIKKAKEMOD',
    name: 'Modified hikkake',
    lookback: 10,
    description:
      'A hikkake after two inside bars of which the first closes at the end that breaks; ±200 when confirmed.',
    isConfirmable: true,
    signs: {
      when: [isInside(2), isInside(1)],
      bullish: [...BREAKS_DOWN, le(close(2), plus(low(2), near(2)))],
      bearish: [...BREAKS_UP, ge(close(2), minus(high(2), near(2)))],
    },
  },
];
