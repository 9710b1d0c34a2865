// Indicators that TA-Lib 0.8 does not have, or has under another convention; the registry lists them after TA-Lib's.
import type { IndicatorDefinition } from '../definition.ts';
import { alligator, alma } from './averages.ts';
import { chandelierExit, donchianSplit, keltnerOriginal, keltnerRange } from './channels.ts';
import { ichimoku } from './ichimoku.ts';
import { dpoLagged, fisher, kst, tsiSignal, wavetrend } from './oscillators.ts';
import { pivotsCamarilla, pivotsClassic, pivotsFibonacci } from './pivots.ts';
import { qqe } from './qqe.ts';
import { squeezeMomentum, ttmSqueeze } from './squeeze.ts';
import { hurst, zscore } from './statistics.ts';
import { chop, histVol, parkinson } from './volatility.ts';
import { eom, kvo } from './volume.ts';
import { vwapAnchored, vwapBands, vwapRolling, vwapSession } from './vwap.ts';
import { zigzag } from './zigzag.ts';

export const EXTRA_INDICATORS: readonly IndicatorDefinition[] = [
  alma,
  alligator,
  ichimoku,
  zigzag,
  keltnerRange,
  keltnerOriginal,
  donchianSplit,
  chandelierExit,
  fisher,
  kst,
  wavetrend,
  qqe,
  tsiSignal,
  dpoLagged,
  squeezeMomentum,
  ttmSqueeze,
  vwapSession,
  vwapAnchored,
  vwapBands,
  vwapRolling,
  eom,
  kvo,
  histVol,
  parkinson,
  chop,
  zscore,
  hurst,
  pivotsClassic,
  pivotsFibonacci,
  pivotsCamarilla,
];
