// The registry: every indicator there is, in reading order; capabilities, validation, compiler and docs all read this list.
import { kama, mama } from './adaptive.ts';
import { apo, macd, macdExt, macdFix, ppo, pvo } from './convergence.ts';
import type { IndicatorDefinition } from './definition.ts';
import { adx, adxr, dx, minusDi, minusDm, plusDi, plusDm } from './directional.ts';
import { dema, ema, rma, t3, tema, zlema } from './exponential.ts';
import { EXTRA_INDICATORS } from './extra/index.ts';
import { highest, lowest, maxIndex, minIndex, minMax, minMaxIndex } from './extremes.ts';
import { adr, atr, natr, trueRangeIndicator } from './range.ts';
import { mom, roc, rocP, rocR, rocR100 } from './rates.ts';
import { avgDev, bbands, cci, stdDev, variance } from './spread.ts';
import { kdj, stoch, stochF, stochRsi, willR } from './stochastics.ts';
import { mfi, rsi } from './strength.ts';
import { obv } from './volume.ts';
import { hma, sma, trima, vwma, wma } from './weighted.ts';

export const INDICATORS: readonly IndicatorDefinition[] = [
  ...[sma, ema, wma, rma, dema, tema, trima, kama, mama, t3, hma, zlema, vwma],
  ...[bbands],
  ...[rsi, mfi, macd, macdExt, macdFix, apo, ppo, stoch, stochF, stochRsi, kdj, willR, cci, mom, roc, rocP, rocR, rocR100],
  ...[adx, adxr, dx, plusDi, minusDi, plusDm, minusDm],
  ...[atr, natr, trueRangeIndicator, adr],
  ...[obv, pvo],
  ...[stdDev, variance, avgDev],
  ...[highest, lowest, minMax, maxIndex, minIndex, minMaxIndex],
  ...EXTRA_INDICATORS,
];

const byName = new Map<string, IndicatorDefinition>();
const byTalib = new Map<string, IndicatorDefinition>();
for (const indicator of INDICATORS) {
  for (const name of [indicator.id, ...indicator.aliases]) {
    if (byName.has(name)) throw new Error(`two indicators are named ${name}: ${byName.get(name)!.id} and ${indicator.id}`);
    byName.set(name, indicator);
  }
  if (indicator.talib !== undefined) byTalib.set(indicator.talib.name, indicator);
}

/** By id or alias, in any case. */
export const findIndicator = (idOrAlias: string): IndicatorDefinition | undefined => byName.get(idOrAlias.toLowerCase());
/** By TA-Lib's function name, in any case. */
export const findTalib = (name: string): IndicatorDefinition | undefined => byTalib.get(name.toUpperCase());
