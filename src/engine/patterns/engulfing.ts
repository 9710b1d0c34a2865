// Engulfing patterns: two candles of which the second engulfs, lies inside, or cuts into the first.
import {
  allOf,
  anyOf,
  between,
  black,
  blacks,
  body,
  bodyBottom,
  bodyTop,
  close,
  doji,
  ge,
  gt,
  high,
  le,
  long,
  low,
  lt,
  minus,
  not,
  notLong,
  open,
  plus,
  same,
  times,
  white,
} from './candles.ts';
import type { PatternDeclaration, PatternSigns } from './patternDefinition.ts';
import type { Condition } from './candles.ts';

const covers = anyOf(
  allOf(ge(bodyTop(0), bodyTop(1)), lt(bodyBottom(0), bodyBottom(1))),
  allOf(gt(bodyTop(0), bodyTop(1)), le(bodyBottom(0), bodyBottom(1))),
);

/** A long body, then one as small as `small` inside it, against it in sign; 80 where one of their ends is equal. */
const harami = (small: Condition): PatternSigns => ({
  when: [long(1), small, le(bodyTop(0), bodyTop(1)), ge(bodyBottom(0), bodyBottom(1))],
  bullish: [black(1)],
  bearish: [white(1)],
  tied: not(allOf(lt(bodyTop(0), bodyTop(1)), gt(bodyBottom(0), bodyBottom(1)))),
});

export const ENGULFING_PATTERNS: readonly PatternDeclaration[] = [
  {
    id: 'engulfing',
    talib: 'CDLENGULFING',
    name: 'Engulfing',
    lookback: 2,
    description: 'A body that covers the opposite body before it; ±80 where one of their ends is equal.',
    signs: {
      when: [covers],
      bullish: [white(0), black(1)],
      bearish: [black(0), white(1)],
      tied: anyOf(same(bodyTop(0), bodyTop(1)), same(bodyBottom(0), bodyBottom(1))),
    },
  },
  {
    id: 'harami',
    aliases: ['inside_body'],
    talib: 'CDLHARAMI',
    name: 'Harami',
    lookback: 11,
    description: 'A short body inside the long body before it; ±80 where one of their ends is equal.',
    signs: harami(notLong(0)),
  },
  {
    id: 'harami_cross',
    talib: 'CDLHARAMICROSS',
    name: 'Harami cross',
    lookback: 11,
    description: 'A doji inside the long body before it; ±80 where one of their ends is equal.',
    signs: harami(doji(0)),
  },
  {
    id: 'piercing',
    aliases: ['piercing_line'],
    talib: 'CDLPIERCING',
    name: 'Piercing line',
    lookback: 11,
    description:
      'A long black candle, then a long white one that opens below its low and closes over half of its body.',
    signs: {
      bullish: [
        black(1),
        long(1),
        white(0),
        long(0),
        lt(open(0), low(1)),
        between(close(0), plus(close(1), times(body(1), 0.5)), open(1)),
      ],
    },
  },
  {
    id: 'dark_cloud_cover',
    aliases: ['dark_cloud'],
    talib: 'CDLDARKCLOUDCOVER',
    name: 'Dark cloud cover',
    penetration: 0.5,
    lookback: 11,
    description: 'A long white candle, then a black one that opens above its high and closes deep in its body.',
    signs: (penetration) => ({
      bearish: [
        white(1),
        long(1),
        black(0),
        gt(open(0), high(1)),
        between(close(0), open(1), minus(close(1), times(body(1), penetration))),
      ],
    }),
  },
  {
    id: 'homing_pigeon',
    talib: 'CDLHOMINGPIGEON',
    name: 'Homing pigeon',
    lookback: 11,
    description: 'A long black candle, then a short black one inside its body.',
    signs: { bullish: [blacks(0, 1), long(1), notLong(0), lt(open(0), open(1)), gt(close(0), close(1))] },
  },
];
