// Synonyms of indicators, their arguments and their outputs: what other libraries call them.
import { readingOf, readingsOf, type HintTable } from './hintTable.ts';

/** Arguments of indicators. A word counts only where the indicator has the argument. */
const ARGUMENTS: HintTable = {
  length: 'rsi_length rsi_period period timeperiod window lookback n len periods atr_period atrperiod',
  fast_length: 'fast fastperiod fast_period fastlen',
  slow_length: 'slow slowperiod slow_period slowlen',
  signal_length: 'signal signalperiod signal_period siglen',
  atr_length: 'atr_period',
  multiplier: 'std stds stddev std_dev nbdev mult factor',
  mult: 'std stds stddev std_dev nbdev',
  k_length: 'k k_period',
  d_length: 'd d_period',
  k_smooth: 'smooth_k smooth',
  conversion_length: 'tenkan tenkan_period conversion_periods conversionperiods',
  base_length: 'kijun kijun_period base_periods baseperiods',
  span_b_length: 'senkou senkou_period senkou_b_period',
};

/** Other words for outputs, such as pandas-ta's column names without their numbers: `BBL` of `BBL_20_2.0`. */
const OUTPUTS: Readonly<Record<string, HintTable>> = {
  bbands: { upper: 'bbu', middle: 'bbm basis', lower: 'bbl' },
  donchian: { upper: 'dcu', middle: 'dcm basis', lower: 'dcl' },
  keltner: { upper: 'kcue kcu', middle: 'kcbe kcb basis', lower: 'kcle kcl' },
  macd: { histogram: 'macdh hist', signal: 'macds' },
  supertrend: { supertrend: 'supert value line', trend: 'supertd' },
  stoch: { k: 'stochk %k', d: 'stochd %d' },
  ichimoku: { conversion: 'tenkan tenkan_sen its', base: 'kijun kijun_sen iks' },
  stoch_rsi: { k: 'stochrsik', d: 'stochrsid' },
  aroon: { up: 'aroonu', down: 'aroond' },
  vortex: { plus: 'vtxp', minus: 'vtxm' },
};

/** Indicators by descriptions that are neither their names nor their aliases. */
const INDICATORS: HintTable = {
  sma: 'simple_ma simple_average moving_average ma_simple',
  ema: 'exponential_ma exponential_average ma_exponential',
  wma: 'weighted_ma weighted_average',
  rsi: 'relative_strength rel_strength',
  atr: 'average_range true_range_average',
  bbands: 'bollinger bollinger_band',
  donchian: 'donchian_channel',
  keltner: 'keltner_channel',
  stoch: 'stochastics',
  linearreg: 'linreg lsma linear_regression',
  linearreg_slope: 'linregslope',
  linearreg_intercept: 'linregintercept',
  trima: 'tma',
  zlema: 'zlma',
  wclprice: 'wcp wcprice hlcc4',
};
const ARGUMENT_MEANINGS = readingsOf(ARGUMENTS);
const INDICATOR_MEANINGS = readingsOf(INDICATORS);
const OUTPUT_MEANINGS = new Map(Object.entries(OUTPUTS).map(([id, words]) => [id, readingOf(words)]));

/** The argument among `names` that `word` is a synonym of. */
export function synonymousArgument(word: string, names: readonly string[]): string | undefined {
  return ARGUMENT_MEANINGS.get(word.toLowerCase())?.find((name) => names.includes(name));
}

/** Longer words are no outputs, and the search for the end of one takes quadratic time. */
const MAX_OUTPUT = 64;

/** The output that `word` stands for: `BBL_20_2.0` is the lower band of bbands. */
export function synonymousOutput(indicator: string, word: string): string | undefined {
  if (word.length > MAX_OUTPUT) return undefined;
  const stem = word.toLowerCase().replace(/[_.\d]+$/, '');
  return OUTPUT_MEANINGS.get(indicator)?.get(stem);
}

/** The indicator that a description such as `simple_ma` stands for. */
export const synonymousIndicator = (word: string): string | undefined =>
  INDICATOR_MEANINGS.get(word.toLowerCase().replaceAll(/[\s-]/g, '_'))?.[0];
