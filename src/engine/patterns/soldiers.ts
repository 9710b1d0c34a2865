// Soldiers: consecutive rising white candles, strong or weakening.
import {
  allOf,
  anyOf,
  averageShadow,
  body,
  close,
  far,
  ge,
  gt,
  le,
  long,
  longUpperShadow,
  lt,
  minus,
  near,
  noUpperShadow,
  open,
  plus,
  short,
  upperShadow,
  whites,
  type Condition,
} from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

const RISING_WHITES = [whites(0, 1, 2), gt(close(0), close(1)), gt(close(1), close(2))];

/** A candle that opens above the previous open and at most near the previous close. */
const opensWithin = (back: number): Condition =>
  allOf(gt(open(back), open(back + 1)), le(open(back), plus(close(back + 1), near(back + 1))));
const longerUpperShadow = (back: number): Condition => gt(upperShadow(back), averageShadow(back));
/** A body that is far smaller than the one before it. */
const shrinks = (back: number): Condition => lt(body(back), minus(body(back + 1), far(back + 1)));
const isSmaller = (back: number): Condition => lt(body(back), body(back + 1));

export const SOLDIER_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'three_white_soldiers',
    aliases: ['3_white_soldiers'],
    talib: 'CDL3WHITESOLDIERS',
    name: 'Three white soldiers',
    lookback: 12,
    description:
      'Three white candles of about equal size, opening within the body before and closing higher, at their highs.',
    signs: {
      bullish: [
        ...RISING_WHITES,
        ...[2, 1, 0].map(noUpperShadow),
        opensWithin(1),
        opensWithin(0),
        gt(body(1), minus(body(2), far(2))),
        gt(body(0), minus(body(1), far(1))),
        long(0),
      ],
    },
  },
  {
    id: 'advance_block',
    talib: 'CDLADVANCEBLOCK',
    name: 'Advance block',
    lookback: 12,
    description:
      'Three white candles closing higher whose bodies shrink or whose upper shadows grow: the rise weakens.',
    signs: {
      bearish: [
        ...RISING_WHITES,
        opensWithin(1),
        opensWithin(0),
        long(2),
        lt(upperShadow(2), averageShadow(2)),
        anyOf(
          allOf(shrinks(1), lt(body(0), plus(body(1), near(1)))),
          shrinks(0),
          allOf(isSmaller(0), isSmaller(1), anyOf(longerUpperShadow(0), longerUpperShadow(1))),
          allOf(isSmaller(0), longUpperShadow(0)),
        ),
      ],
    },
  },
  {
    id: 'stalled_pattern',
    aliases: ['deliberation'],
    talib: 'CDLSTALLEDPATTERN',
    name: 'Stalled pattern',
    lookback: 12,
    description: 'Two long white candles, then a short white one that rides on the shoulder of the second.',
    signs: {
      bearish: [
        ...RISING_WHITES,
        long(2),
        long(1),
        noUpperShadow(1),
        opensWithin(1),
        short(0),
        ge(open(0), minus(minus(close(1), body(0)), near(1))),
      ],
    },
  },
];
