// Synonyms: other languages' words for ours, so that a repair can be offered where no spelling is similar.
import { LEVEL_MODES } from '../../definitions/levels/levelModes.ts';
import { EXIT_SIZES } from '../../definitions/sizing/exitSizes.ts';
import { SIZING_MODES } from '../../definitions/sizing/sizingModes.ts';
import { readingOf, readingsOf, wordSet, type HintTable } from './hintTable.ts';

const OPERATORS: HintTable = {
  gt: '> greater_than greater above is_above',
  gte: '>= ge',
  lt: '< less_than less below',
  lte: '<= le',
  eq: '= == === equals equal',
  neq: '!= !== <> ne not_equal',
  cross_up: 'crossover cross_over crosses_above cross_above crossed_above crosses_over',
  cross_down: 'crossunder cross_under crosses_below cross_below crossed_below crosses_under',
  add: '+ plus',
  sub: '- minus subtract',
  mul: '* multiply',
  div: '/ divide',
  mod: '%',
  pow: '^ **',
  avg: 'mean average sma',
  max: 'highest',
  min: 'lowest',
  std: 'stdev stddev',
  var: 'variance',
};
const TIMEFRAMES: HintTable = {
  '1m': '1min 1minute minute M1',
  '3m': '3 3min 3minute M3',
  '5m': '5 5min 5minute M5',
  '15m': '15 15min 15minute M15',
  '30m': '30 30min 30minute M30',
  '1h': '60 60m 60min 1hour 1hr hour hourly H1',
  '2h': '120 120m 120min 2hour 2hr H2',
  '4h': '240 240m 240min 4hour 4hr H4',
  '6h': '360 360m 360min 6hour 6hr H6',
  '8h': '480 480m 480min 8hour 8hr H8',
  '12h': '720 720m 720min 12hour 12hr H12',
  '1d': 'D d 1D D1 daily day 1day 24h 1440 1440m',
  '1w': 'W w 1W W1 weekly week 1week 7d',
  '1M': '1mo 1mon MN MN1 monthly month 1month 30d',
};
/** Fields, sides, sizes and days. A word counts only where the place takes what it stands for. */
const CHOICES: HintTable = {
  close: 'price last adj_close',
  volume: 'vol',
  account_equity: 'equity',
  account_balance: 'balance cash',
  account_drawdown: 'drawdown',
  open_positions_count: 'positions open_positions',
  position_exists: 'in_position has_position',
  position_entry_price: 'entry_price',
  position_average_price: 'avg_price average_price position_avg_price avg_entry_price',
  position_bars_since_entry: 'bars_since_entry bars_in_position bars_in_trade bars_held',
  position_unrealized_pnl: 'unrealized_pnl open_pnl',
  position_unrealized_pnl_pct: 'unrealized_pnl_pct open_pnl_pct profit_pct pnl_pct pl_pct',
  // Only where a cross stands: elsewhere, `above` is the operator gt.
  cross_up: 'up above over upward upwards bullish',
  cross_down: 'down below under downward downwards bearish',
  cross_any: 'any both either',
  long: 'buy bull bullish strategy.long',
  short: 'bear bearish strategy.short',
  bullish: 'long bull buy',
  bearish: 'short bear sell',
  ...modeHints(({ otherNames }) => otherNames),
  mon: 'monday',
  tue: 'tuesday',
  wed: 'wednesday',
  thu: 'thursday',
  fri: 'friday',
  sat: 'saturday',
  sun: 'sunday',
  // Kinds.
  market: 'price ohlc ohlcv candle',
  const: 'constant number literal value',
  // Not `ref`: in AmiBroker and MetaStock, it counts ahead.
  shift: 'lag previous',
  state: 'position account',
  // In place of a condition, both must hold; of the sides of an exit, any may.
  all: 'every both',
  any: 'both either',
  // Types of orders and of params.
  limit: 'lmt',
  stop: 'stop_market stp',
  int: 'integer',
  float: 'double decimal',
  bool: 'boolean',
  choice: 'enum categorical',
};
/** Members of strategies and conditions. */
const MEMBERS: HintTable = {
  weekdays: 'days days_of_week weekday',
  mode: 'type kind',
  trigger: 'when condition conditions signal rules',
  appliesTo: 'side direction position',
  reason: 'comment tag exit_reason exit_tag',
  cooldownBars: 'cooldown cooldown_bars cooldownPeriod cooldown_period',
  output: 'line band component plot',
  params: 'inputs parameters hyperparameters',
  min: 'minval min_value minimum',
  max: 'maxval max_value maximum',
  items: 'conditions rules operands args expressions children',
  maxBars: 'bars max_bars',
  kind: 'type',
  op: 'operator operation comparison comparator direction type',
  // The two sides of a comparison, in pairs.
  left: 'a x lhs series1 source1 fast',
  right: 'b y rhs series2 source2 slow threshold',
  side: 'direction',
  sizing: 'size position_size positionSize quantity',
  window: 'size length period',
  value: 'amount quantity units size percent pct riskPct risk_pct source',
  args: 'params parameters arguments options',
  indicator: 'name',
  name: 'pattern session',
  item: 'condition',
  when: 'condition trigger',
  cond: 'condition if when',
  expr: 'condition',
  from: 'start begin start_time startTime',
  to: 'end until end_time endTime',
  risk: 'risk_management riskManagement stops',
  stopLoss: 'sl',
  takeProfits: 'tp',
  symbol: 'ticker name pair asset',
  instrument: 'signalInstrument',
  triggerPercent: 'percent pct profitPercent',
  closePercent: 'close percent pct portion sizePercent qty_percent',
  distancePercent: 'percent pct trailPercent callbackRate',
  triggerR: 'r rr rMultiple r_multiple riskReward risk_reward',
  activateAfterPercent: 'afterPercent activationPercent',
  multiplier: 'mult multiple factor atr_multiplier value',
  period: 'length timeperiod window lookback periods',
  bars: 'period length window lookback periods',
  offset: 'lag periods shift bars bars_ago barsAgo',
  source: 'value input',
  lower: 'min low',
  upper: 'max high',
  price: 'stopPrice stop_price limitPrice limit_price',
  expireBars: 'expiry expiration expire',
  entry: 'entries entry_rules entryRules',
  exits: 'exit_rules exitRules',
  default: 'value defval',
  values: 'options choices',
  // Of portfolios.
  rank: 'ranking rank_by rankBy score priority',
  top: 'top_n topN',
  bottom: 'bottom_n bottomN',
  // Of settings.
  maxConcurrentPositions: 'max_open_trades maxOpenTrades max_open_positions maxPositions',
  warmupPeriod: 'startup_candle_count startupCandleCount warmup warmupBars',
  // Of configs.
  initialBalance: 'balance capital cash initial_capital initialCapital initial_cash startingBalance',
  signalInstrument: 'instrument symbol asset ticker',
  timeframe: 'interval resolution granularity tf',
  range: 'period dates dateRange timerange',
  start: 'from begin startDate',
  end: 'to until endDate',
  feeModel: 'fees fee commission commissions',
  makerRate: 'maker makerFee',
  takerRate: 'taker takerFee',
  perUnit: 'per_share perShare per_contract perContract',
  perOrder: 'fixed_fees fixedFee flat',
  minPerOrder: 'minimum min_commission minFee',
  maxPerOrder: 'maximum',
};

/** Kinds of the operators that authors write as kinds. */
const KINDS_OF_OPERATORS: HintTable = {
  cross: 'cross_up cross_down cross_any',
  compare: 'gt gte lt lte eq neq',
  math: 'add sub mul div',
};
/** Modes and types, and the words for their `value` and `price` that say a unit or a type themselves. */
const TAGS: HintTable = {
  ...modeHints(({ otherValueNames }) => otherValueNames),
  stop: 'stopPrice stop_price',
  limit: 'limitPrice limit_price',
};
/** Words for a share to close that may be a fraction: `portion: 1` is all of it, or 1 %. */
const SHARES = wordSet('close portion');

const OPERATOR_MEANINGS = readingsOf(OPERATORS);
const TIMEFRAME_MEANINGS = readingsOf(TIMEFRAMES);
const CHOICE_MEANINGS = readingsOf(CHOICES);
const MEMBER_MEANINGS = readingsOf(MEMBERS);
const KIND_OF_OPERATOR = readingOf(KINDS_OF_OPERATORS);
const TAGS_OF_WORDS = readingsOf(TAGS);

/** A word without the module in which another platform has it: `ta.sma`, `qtpylib.crossed_above`. */
export const withoutModule = (word: string): string => word.slice(word.lastIndexOf('.') + 1);

/** The ways to look a word up: `crosses above` and `crossesAbove` are `crosses_above`. */
function spellingsOf(word: string): string[] {
  const snake = word.replaceAll(/([a-z])([A-Z])/g, '$1_$2').replaceAll(/[\s-]+/g, '_');
  return [word.toLowerCase(), snake.toLowerCase()];
}

/** The word among `values` that `word` is a synonym of. */
export function synonymIn(word: string, values: readonly unknown[]): string | undefined {
  const meanings = spellingsOf(word).flatMap((one) => [
    ...(OPERATOR_MEANINGS.get(one) ?? []),
    ...(CHOICE_MEANINGS.get(one) ?? []),
  ]);
  // A letter says minutes or months by its case; a word does not.
  const timeframe = TIMEFRAME_MEANINGS.get(word) ?? (word.length > 3 ? TIMEFRAME_MEANINGS.get(word.toLowerCase()) : []);
  return [...(timeframe ?? []), ...meanings].find((meaning) => values.includes(meaning));
}

/**
 * The member among `names` that `word` is a synonym of.
 * @param owner the object that has it, whose mode or type must agree: `quantity` is the value of `fixed` alone
 */
export function synonymousMember(
  word: string,
  names: readonly string[],
  owner?: Readonly<Record<string, unknown>>,
): string | undefined {
  const name = MEMBER_MEANINGS.get(word)?.find((one) => names.includes(one));
  if (owner === undefined || name === undefined) return name;
  if (name === 'closePercent' && SHARES.has(word) && !(Number(owner[word]) > 1)) return undefined;
  const tags = name === 'value' || name === 'price' ? TAGS_OF_WORDS.get(word) : undefined;
  const tag = String(owner.mode ?? owner.type ?? owner.kind);
  const isAgreed = (one: string): boolean => one === tag || CHOICE_MEANINGS.get(tag)?.includes(one) === true;
  return tags === undefined || tags.some(isAgreed) ? name : undefined;
}

/** The kind and operator that an operator written as a kind stands for: `crossover` is `cross` with `cross_up`. */
export function operatorKind(word: string): { readonly kind: string; readonly op: string } | undefined {
  const bare = withoutModule(word);
  const lower = bare.toLowerCase();
  if (lower === 'highest' || lower === 'lowest') return { kind: 'rolling', op: lower === 'highest' ? 'max' : 'min' };
  for (const op of spellingsOf(bare).flatMap((one) => [one, ...(OPERATOR_MEANINGS.get(one) ?? [])])) {
    const kind = KIND_OF_OPERATOR.get(op);
    if (kind !== undefined) return { kind, op };
  }
  return undefined;
}

/** Mode of a level, exit or size → the words for it, or for its value, that other platforms have. */
function modeHints(
  wordsOf: (mode: { readonly otherNames: string; readonly otherValueNames: string }) => string,
): HintTable {
  const hints: Record<string, string> = {};
  for (const each of [...LEVEL_MODES, ...EXIT_SIZES, ...SIZING_MODES]) {
    const words = wordsOf(each);
    if (words !== '') hints[each.mode] = words;
  }
  return hints;
}
