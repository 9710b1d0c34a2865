// Foreign members: what to write in place of members that other platforms have, or that belong in another object.
import type { ObjectShape } from '../grammar/shapes.ts';
import { readingOf, type HintTable } from './hintTable.ts';

const IN_CONFIG = 'Remove it, and set it in the config of the backtest.';
const RANGE = 'Remove it, and set `range` in the config of the backtest: {"start": "2020-01-01", "end": "2024-12-31"}.';
const INSTRUMENTS =
  'Remove it, and list the instruments in the config of the backtest: "instruments": [{"symbol": "SPX"}, …].';
const INSTRUMENT_WORDS = 'universe symbols pairs tickers whitelist pair_whitelist';
const ALLOCATION =
  'Remove it, and write strategy.allocation: {"kind": "allocation", "when": {"kind": "schedule", "every": "month", ' +
  '"on": "last"}, "long": {"by": …, "top": 3}} holds the three largest of a portfolio.';
const ALLOCATION_WORDS =
  'rebalance rebalancing rebalance_frequency rebalanceFrequency rotation top_n topN weights weighting target_weights';
const RANK =
  'Write it in the entry as rank, a value expression: in a portfolio with more signals than free slots, the largest ' +
  'get in.';
const HANDLERS =
  'Remove it: a strategy is data, read at every close. Write conditions in entry and exits, or an allocation with ' +
  '"when": {"kind": "schedule", …}.';
const TARGETS =
  'Remove it. For one instrument, write sizing: {"mode": "percent_equity", "value": 10}. To hold targets of several, ' +
  'write strategy.allocation, with weights.';
const POSITIONS = 'Remove it, and set maxConcurrentPositions in the settings, beside strategyAst.';
const TRAILING =
  'Remove it, and write risk.trailingStop: {"distancePercent": 2, "activateAfterPercent": 3} for 2 % after 3 %.';
const TRAILING_TICKS =
  'Remove it, and write risk.trailingStop, in percent of the price or in ATRs, not in ticks: {"distancePercent": 2, ' +
  '"activateAfterPercent": 3} trails by 2 % (trail_offset) once the price is 3 % above the entry (trail_points).';
const ROI =
  'Remove it, and write risk.takeProfits: [{"triggerPercent": 5, "closePercent": 100}] for 5 %, or a risk.timeStop.';
const entryAdvice = (side: string): string =>
  `Write it in "entry", a list of rules: {"kind": "entry", "trigger": …, "action": {"side": "${side}", "sizing": …}}.`;
const exitAdvice = (side: string): string =>
  `Write it in "exits", a list of rules: {"kind": "exit", "when": …, "appliesTo": "${side}"}.`;
const SIZE =
  'Write it as sizing: {"mode": "fixed", "value": 10} for 10 units, {"mode": "percent_equity", "value": 10} for 10 % ' +
  'of equity.';
const ORDER = 'Write it in action.order: {"type": "limit", "price": …, "expireBars": 5}.';

const MEMBERS: HintTable = {
  [IN_CONFIG]: 'leverage commission fees slippage initialBalance initial_capital cash capital',
  [RANGE]: 'startDate endDate start_date end_date fromdate todate timerange dateRange',
  [INSTRUMENTS]: INSTRUMENT_WORDS,
  [ALLOCATION]: ALLOCATION_WORDS,
  [RANK]: 'rank ranking rank_by rankBy score',
  [HANDLERS]: 'handle_data handleData initialize on_data onData on_bar onBar schedule_function',
  [TARGETS]: 'order_target_percent orderTargetPercent order_target_value order_target set_holdings SetHoldings',
  [POSITIONS]: 'pyramiding max_open_trades maxEntries max_entries maxPositions',
  [TRAILING]:
    'trailing_stop_positive trailing_stop_positive_offset trailing_only_offset_is_reached trail_percent ' +
    'trailPercent trailing_percent trailingPercent trailpercent',
  [TRAILING_TICKS]: 'trail_offset trail_points trail_price trailOffset trailPoints trailamount',
  [ROI]: 'minimal_roi roi',
  [entryAdvice('long')]: 'enter_long enterLong entry_long long_entry longEntry buy long',
  [entryAdvice('short')]: 'enter_short enterShort entry_short short_entry shortEntry short',
  [exitAdvice('long')]: 'exit_long exitLong long_exit longExit sell',
  [exitAdvice('short')]: 'exit_short exitShort short_exit shortExit cover',
  [SIZE]: 'quantity units shares contracts weight qty_percent default_qty_value stake_amount target_percent',
  [ORDER]: 'exectype order_type orderType limit_price limitPrice',
  'Remove it: the name stands in the request, beside strategyAst.': 'title',
};
const IN_SETTINGS = 'Remove it, and set it in the settings of the strategy.';
const LIST = 'Write it as a list of objects: "instruments": [{"symbol": "SPX"}, {"symbol": "NASDAQ"}].';
const MEMBERS_OF_CONFIGS: HintTable = {
  [IN_SETTINGS]: 'maxConcurrentPositions warmupPeriod',
  [LIST]: INSTRUMENT_WORDS,
  [ALLOCATION]: ALLOCATION_WORDS,
  'Write it in portfolio: {"slots": 10} bounds the positions of the account.': 'slots',
};

const MEMBERS_OF_LONG_LEGS: HintTable = {
  'A long leg holds the largest of `by`: use top. To hold the smallest, rank by the value times -1.': 'bottom',
  'A long leg holds the largest of `by`: use topPercent. To hold the smallest, rank by the value times -1.':
    'bottomPercent',
};
const MEMBERS_OF_SHORT_LEGS: HintTable = {
  'A short leg sells the smallest of `by`: use bottom. To sell the largest, rank by the value times -1.': 'top',
  'A short leg sells the smallest of `by`: use bottomPercent. To sell the largest, rank by the value times -1.':
    'topPercent',
};
const MEMBERS_OF_WEIGHTS: HintTable = {
  'Remove it, or use the mode inverse or proportional, which read `by`.': 'by',
  'Remove it, or use the mode fixed, which reads `values`.': 'values',
};

const ADVICE = readingOf(MEMBERS);
/** Advice on the members of objects that have this member; of all others it is that of `MEMBERS`. */
const ADVICE_BY_MEMBER = [
  ['signalInstrument', readingOf(MEMBERS_OF_CONFIGS)],
  ['topPercent', readingOf(MEMBERS_OF_LONG_LEGS)],
  ['bottomPercent', readingOf(MEMBERS_OF_SHORT_LEGS)],
  ['grossPercent', readingOf(MEMBERS_OF_WEIGHTS)],
] as const;

/** What to do with a member that an object of this shape does not have. */
export const foreignMemberAdvice = (name: string, shape: ObjectShape): string | undefined =>
  (ADVICE_BY_MEMBER.find(([member]) => shape.fields.has(member))?.[1] ?? ADVICE).get(name);
