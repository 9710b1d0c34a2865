// Templates: the built-in strategies, in the order of their keys.
import adxDiTrend from './adxDiTrend.ts';
import bollingerMeanReversion from './bollingerMeanReversion.ts';
import bollingerSqueezeBreakout from './bollingerSqueezeBreakout.ts';
import donchianTurtle from './donchianTurtle.ts';
import emaPullbackRsi from './emaPullbackRsi.ts';
import engulfingTrend from './engulfingTrend.ts';
import goldenCross from './goldenCross.ts';
import hammerAtSupport from './hammerAtSupport.ts';
import ichimokuCloud from './ichimokuCloud.ts';
import keltnerBreakout from './keltnerBreakout.ts';
import macdTrend from './macdTrend.ts';
import momentumRoc from './momentumRoc.ts';
import mtfTrendPullback from './mtfTrendPullback.ts';
import openingRangeBreakout from './openingRangeBreakout.ts';
import rsi2MeanReversion from './rsi2MeanReversion.ts';
import shortBreakdown from './shortBreakdown.ts';
import stochRsiReversal from './stochRsiReversal.ts';
import supertrendFollow from './supertrendFollow.ts';
import volatilityTargetedTrend from './volatilityTargetedTrend.ts';
import vwapReversion from './vwapReversion.ts';
import zscorePairSpread from './zscorePairSpread.ts';
import type { Template } from './template.ts';

export { TEMPLATE_CATEGORIES } from './template.ts';

export const TEMPLATES: readonly Template[] = [
  adxDiTrend,
  bollingerMeanReversion,
  bollingerSqueezeBreakout,
  donchianTurtle,
  emaPullbackRsi,
  engulfingTrend,
  goldenCross,
  hammerAtSupport,
  ichimokuCloud,
  keltnerBreakout,
  macdTrend,
  momentumRoc,
  mtfTrendPullback,
  openingRangeBreakout,
  rsi2MeanReversion,
  shortBreakdown,
  stochRsiReversal,
  supertrendFollow,
  volatilityTargetedTrend,
  vwapReversion,
  zscorePairSpread,
];

const byKey = new Map(TEMPLATES.map((template) => [template.key, template]));
export const findTemplate = (key: string): Template | undefined => byKey.get(key);
