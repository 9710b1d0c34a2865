// Hikkake: a false break of an inside bar, and its confirmation within three bars. The only patterns with a memory.
import { NEAR, benchmark, type Candles } from './candles.ts';
import { definePattern } from './patternDefinition.ts';

/** Candle i lies inside the one before it. */
const isInside = (c: Candles, i: number): boolean => c.high[i] < c.high[i - 1] && c.low[i] > c.low[i - 1];

/** 100 where candle i breaks below the one before it (a trap for sellers), -100 where it breaks above, else 0. */
function falseBreak(c: Candles, i: number): number {
  if (c.high[i] < c.high[i - 1] && c.low[i] < c.low[i - 1]) return 100;
  return c.high[i] > c.high[i - 1] && c.low[i] > c.low[i - 1] ? -100 : 0;
}

/**
 * Writes what `detect` finds, and twice that value where one of the next three closes passes the inside bar's other end
 * (once). The state starts three bars before `first`, as in TA-Lib.
 */
function scanWithConfirmation(c: Candles, first: number, out: Float64Array, detect: (i: number) => number): void {
  let found = 0;
  let foundAt = 0;
  for (let i = first - 3; i < c.length; i++) {
    const result = detect(i);
    let value = result;
    if (result !== 0) {
      found = result;
      foundAt = i;
    } else if (
      i <= foundAt + 3 &&
      ((found > 0 && c.close[i] > c.high[foundAt - 1]) || (found < 0 && c.close[i] < c.low[foundAt - 1]))
    ) {
      value = 2 * found;
      foundAt = 0;
    }
    if (i >= first) out[i] = value;
  }
}

const hikkake = definePattern({
  id: 'hikkake',
  talib: 'CDLHIKKAKE',
  name: 'Hikkake',
  sides: ['bullish', 'bearish'],
  lookback: 5,
  description: 'An inside bar broken on one side only; ±200 on the bar that confirms the turn within three bars.',
  scan(c, first, out) {
    scanWithConfirmation(c, first, out, (i) => (isInside(c, i - 1) ? falseBreak(c, i) : 0));
  },
});

const modifiedHikkake = definePattern({
  id: 'modified_hikkake',
  aliases: ['hikkake_modified', 'hikkake_mod'],
  talib: 'CDLHIKKAKEMOD',
  name: 'Modified hikkake',
  sides: ['bullish', 'bearish'],
  lookback: 10,
  description: 'A hikkake after two inside bars of which the first closes at the end that breaks; ±200 when confirmed.',
  scan(c, first, out) {
    const { high, low, close } = c;
    const near = benchmark(c, NEAR, first - 5);
    scanWithConfirmation(c, first, out, (i) => {
      if (!isInside(c, i - 2) || !isInside(c, i - 1)) return 0;
      const result = falseBreak(c, i);
      if (result > 0) return close[i - 2] <= low[i - 2] + near[i - 2] ? result : 0;
      return close[i - 2] >= high[i - 2] - near[i - 2] ? result : 0;
    });
  },
});

export const HIKKAKE_PATTERNS = [hikkake, modifiedHikkake] as const;
