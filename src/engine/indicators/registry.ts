// The registry: every indicator, in reading order. Capabilities, validation, the compiler and the docs all read this
// list.
import { kama, mama } from './adaptive.ts';
import { cumSum, OPERATORS, sum, TRANSFORMS } from './mathFunctions.ts';
import { beta, correl } from './association.ts';
import { accBands, donchian, keltner, supertrend } from './channels.ts';
import { apo, macd, macdExt, macdFix, ppo, pvo } from './convergence.ts';
import { htDcPeriod, htDcPhase, htPhasor, htSine, htTrendline, htTrendMode } from './cycle.ts';
import type { IndicatorDefinition } from './definition.ts';
import { adx, adxr, dx, minusDi, minusDm, plusDi, plusDm } from './directional.ts';
import { dema, ema, rma, t3, tema, zlema } from './exponential.ts';
import { highest, lowest, maxIndex, minIndex, minMax, minMaxIndex } from './extremes.ts';
import { accelerator, awesome, balanceOfPower, coppock, dpo, qstick, ultimate } from './oscillators.ts';
import { smi, trix, tsi, tsiSignal } from './smoothedMomentum.ts';
import { sar, sarExt } from './parabolic.ts';
import { avgPrice, heikinAshi, medPrice, midPoint, midPrice, typPrice, wclPrice } from './prices.ts';
import { adr, atr, natr, trueRangeIndicator } from './range.ts';
import { percentile, percentileRank } from './ranks.ts';
import { mom, roc, rocP, rocR, rocR100 } from './rates.ts';
import { fosc, linearReg, linearRegAngle, linearRegIntercept, linearRegSlope, tsf } from './regression.ts';
import { avgDev, bbands, cci, stdDev, variance } from './spread.ts';
import { kdj, stoch, stochF, stochRsi, willR } from './stochastics.ts';
import { cmo, cmoU, imi, mfi, rsi } from './strength.ts';
import { aroon, aroonOsc, efficiencyRatio, elderRay, fractal, vhf, vortex } from './trend.ts';
import { ma, mavp } from './variable.ts';
import { chaikinVolatility, massIndex, relativeVolatility } from './volatility.ts';
import {
  ad, adosc, cmf, forceIndex, marketFacilitation, nvi, obv, pvi, pvt, relativeVolume, vwap, wad,
} from './volume.ts'; // prettier-ignore
import { hma, sma, trima, vwma, wma } from './weighted.ts';
import { alligator, alma } from './almaAlligator.ts';
import { chandelierExit, donchianSplit, keltnerOriginal, keltnerRange } from './atrChannels.ts';
import { ichimoku } from './ichimoku.ts';
import { dpoLagged, fisher, kst, wavetrend } from './oscillatorsBeyondTalib.ts';
import { pivotsCamarilla, pivotsClassic, pivotsFibonacci } from './pivotPoints.ts';
import { qqe } from './qqe.ts';
import { squeezeMomentum, ttmSqueeze } from './squeeze.ts';
import { hurst, zscore } from './windowStatistics.ts';
import { chop, histVol, parkinson } from './logVolatility.ts';
import { eom, kvo } from './volumeOscillators.ts';
import { vwapAnchored, vwapBands, vwapRolling, vwapSession } from './vwap.ts';
import { zigzag } from './zigzag.ts';

const OVERLAP = [
  sma, ema, wma, rma, dema, tema, trima, kama, mama, t3, hma, zlema, vwma, vwap, ma, mavp, htTrendline,
  bbands, keltner, donchian, accBands, supertrend, sar, sarExt, midPoint, midPrice,
]; // prettier-ignore
const MOMENTUM = [
  rsi, cmo, cmoU, imi, mfi, macd, macdExt, macdFix, apo, ppo, stoch, stochF, stochRsi, kdj, willR, smi, tsi,
  ultimate, cci, mom, roc, rocP, rocR, rocR100, trix, coppock, dpo, fosc, awesome, accelerator,
  balanceOfPower, qstick, wad,
]; // prettier-ignore
const TREND = [
  adx, adxr, dx, plusDi, minusDi, plusDm, minusDm, aroon, aroonOsc, vortex, efficiencyRatio, vhf, elderRay,
  fractal,
]; // prettier-ignore
const VOLATILITY = [
  atr, natr, trueRangeIndicator, adr, chaikinVolatility, massIndex, relativeVolatility,
]; // prettier-ignore
const VOLUME = [
  obv, ad, adosc, cmf, forceIndex, marketFacilitation, nvi, pvi, pvt, pvo, relativeVolume,
]; // prettier-ignore
const CYCLE = [
  htDcPeriod, htDcPhase, htPhasor, htSine, htTrendMode,
]; // prettier-ignore
const PRICE = [
  avgPrice, medPrice, typPrice, wclPrice, heikinAshi,
]; // prettier-ignore
const STATISTIC = [
  stdDev, variance, avgDev, beta, correl, linearReg, linearRegSlope, linearRegAngle, linearRegIntercept, tsf,
  percentile, percentileRank,
]; // prettier-ignore
const MATH = [
  highest, lowest, minMax, maxIndex, minIndex, minMaxIndex, sum, cumSum, ...OPERATORS, ...TRANSFORMS,
]; // prettier-ignore

/** What TA-Lib 0.8 does not have, or has under another convention; listed after TA-Lib's own. */
export const BEYOND_TALIB = [
  alma, alligator, ichimoku, zigzag, keltnerRange, keltnerOriginal, donchianSplit, chandelierExit,
  fisher, kst, wavetrend, qqe, tsiSignal, dpoLagged, squeezeMomentum, ttmSqueeze, vwapSession,
  vwapAnchored, vwapBands, vwapRolling, eom, kvo, histVol, parkinson, chop, zscore, hurst, pivotsClassic,
  pivotsFibonacci, pivotsCamarilla,
]; // prettier-ignore

export const INDICATORS: readonly IndicatorDefinition[] = [
  ...OVERLAP, ...MOMENTUM, ...TREND, ...VOLATILITY, ...VOLUME, ...CYCLE, ...PRICE, ...STATISTIC, ...MATH,
  ...BEYOND_TALIB,
]; // prettier-ignore

const byName = new Map<string, IndicatorDefinition>();
const byTalib = new Map<string, IndicatorDefinition>();
for (const indicator of INDICATORS) {
  for (const name of [indicator.id, ...indicator.aliases]) {
    if (byName.has(name))
      throw new Error(`two indicators are named ${name}: ${byName.get(name)!.id} and ${indicator.id}`);
    byName.set(name, indicator);
  }
  if (indicator.talib !== undefined) byTalib.set(indicator.talib.name, indicator);
}

/** Finds an indicator by id or alias, in upper or lower case. */
export const findIndicator = (idOrAlias: string): IndicatorDefinition | undefined =>
  byName.get(idOrAlias.toLowerCase());
/** Finds an indicator by TA-Lib's function name, in upper or lower case. */
export const findTalib = (name: string): IndicatorDefinition | undefined => byTalib.get(name.toUpperCase());
