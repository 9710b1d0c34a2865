// Patterns of four and five candles that pause, break away or strike back.
import {
  allOf,
  between,
  black,
  blacks,
  body,
  bodyBottom,
  bodyGapDown,
  bodyGapUp,
  bodyTop,
  close,
  ge,
  gt,
  hasUpperShadow,
  high,
  le,
  long,
  low,
  lt,
  minus,
  near,
  noLowerShadow,
  noUpperShadow,
  open,
  plus,
  short,
  times,
  white,
  whites,
  type Condition,
} from './candles.ts';
import type { PatternDeclaration } from './patternDefinition.ts';

/** A candle that opens within the body before it, or near it. */
const opensNearBody = (back: number): Condition => {
  const margin = near(back + 1);
  return allOf(ge(open(back), minus(bodyBottom(back + 1), margin)), le(open(back), plus(bodyTop(back + 1), margin)));
};
/** A candle with a lower high and a lower low than the one before it. */
const stepsDown = (back: number): Condition => allOf(lt(high(back), high(back + 1)), lt(low(back), low(back + 1)));
const stepsUp = (back: number): Condition => allOf(gt(high(back), high(back + 1)), gt(low(back), low(back + 1)));
const opensAndClosesLower = (back: number): Condition =>
  allOf(lt(open(back), open(back + 1)), lt(close(back), close(back + 1)));
/** A body that reaches into the range of the first of five candles. */
const reachesInto = (back: number): Condition => allOf(lt(bodyBottom(back), high(4)), gt(bodyTop(back), low(4)));

export const FIVE_BAR_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'three_line_strike',
    aliases: ['3_line_strike'],
    talib: 'CDL3LINESTRIKE',
    name: 'Three-line strike',
    lookback: 8,
    description: 'Three candles of one color in a row, then one of the other color that undoes all three.',
    signs: {
      when: [opensNearBody(2), opensNearBody(1)],
      bullish: [
        whites(1, 2, 3),
        black(0),
        gt(close(1), close(2)),
        gt(close(2), close(3)),
        gt(open(0), close(1)),
        lt(close(0), open(3)),
      ],
      bearish: [
        blacks(1, 2, 3),
        white(0),
        lt(close(1), close(2)),
        lt(close(2), close(3)),
        lt(open(0), close(1)),
        gt(close(0), open(3)),
      ],
    },
  },
  {
    id: 'breakaway',
    talib: 'CDLBREAKAWAY',
    name: 'Breakaway',
    lookback: 14,
    description:
      'A long candle, a gap on, two more steps, then a candle of the other color that closes inside the gap.',
    signs: {
      when: [long(4)],
      bullish: [
        blacks(1, 3, 4),
        white(0),
        bodyGapDown(3, 4),
        stepsDown(2),
        stepsDown(1),
        between(close(0), open(3), close(4)),
      ],
      bearish: [
        whites(1, 3, 4),
        black(0),
        bodyGapUp(3, 4),
        stepsUp(2),
        stepsUp(1),
        between(close(0), close(4), open(3)),
      ],
    },
  },
  {
    id: 'concealing_baby_swallow',
    talib: 'CDLCONCEALBABYSWALL',
    name: 'Concealing baby swallow',
    lookback: 13,
    description:
      'Two black marubozu, a black candle gapping below with a shadow back into them, and one that engulfs it.',
    signs: {
      bullish: [
        blacks(0, 1, 2, 3),
        ...[3, 2].flatMap((back) => [noLowerShadow(back), noUpperShadow(back)]),
        bodyGapDown(1, 2),
        hasUpperShadow(1),
        gt(high(1), close(2)),
        gt(high(0), high(1)),
        lt(low(0), low(1)),
      ],
    },
  },
  {
    id: 'ladder_bottom',
    talib: 'CDLLADDERBOTTOM',
    name: 'Ladder bottom',
    lookback: 14,
    description:
      'Three black steps down, a black candle with an upper shadow, and a white one that closes above its high.',
    signs: {
      bullish: [
        blacks(1, 2, 3, 4),
        opensAndClosesLower(3),
        opensAndClosesLower(2),
        hasUpperShadow(1),
        white(0),
        gt(open(0), open(1)),
        gt(close(0), high(1)),
      ],
    },
  },
  {
    id: 'mat_hold',
    talib: 'CDLMATHOLD',
    name: 'Mat hold',
    penetration: 0.5,
    lookback: 14,
    description:
      'A long white candle, three short ones that drift back from a gap without giving up half of it, and a new high.',
    signs: (penetration) => {
      const floor = minus(close(4), times(body(4), penetration));
      return {
        bullish: [
          long(4),
          ...[3, 2, 1].map(short),
          whites(0, 4),
          black(3),
          bodyGapUp(3, 4),
          between(bodyBottom(2), floor, close(4)),
          between(bodyBottom(1), floor, close(4)),
          lt(bodyTop(2), open(3)),
          lt(bodyTop(1), bodyTop(2)),
          gt(open(0), close(1)),
          ...[3, 2, 1].map((back) => gt(close(0), high(back))),
        ],
      };
    },
  },
  {
    id: 'rise_fall_three_methods',
    aliases: ['rising_falling_three_methods', 'rise_fall_3_methods'],
    talib: 'CDLRISEFALL3METHODS',
    name: 'Rising or falling three methods',
    lookback: 14,
    description: 'A long candle, three short ones against it within its range, and a long one that closes beyond it.',
    signs: {
      when: [long(4), ...[3, 2, 1].map(short), long(0), ...[3, 2, 1].map(reachesInto)],
      bullish: [
        whites(0, 4),
        blacks(1, 2, 3),
        lt(close(2), close(3)),
        lt(close(1), close(2)),
        gt(open(0), close(1)),
        gt(close(0), close(4)),
      ],
      bearish: [
        blacks(0, 4),
        whites(1, 2, 3),
        gt(close(2), close(3)),
        gt(close(1), close(2)),
        lt(open(0), close(1)),
        lt(close(0), close(4)),
      ],
    },
  },
];
