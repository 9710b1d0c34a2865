// Foreign kinds: what other platforms call the kinds of the language, and which of its constructs do what others have.
import type { ObjectShape } from '../grammar/shapes.ts';
import { plain } from '../issues/nearest.ts';
import { ALWAYS_TRUE } from './examples.ts';
import { readingOf, type HintTable } from './hintTable.ts';
import { BACK_ADVICE, LOOKS_AHEAD } from './lookAhead.ts';
import { withoutModule } from './synonyms.ts';

type Options = ReadonlyMap<string, ObjectShape>;

/** Words that mean the same as a kind, without case and separators. */
const KINDS: HintTable = {
  all: 'and allof alltrue & &&',
  any: 'or anyof anytrue | ||',
  not: '! negate',
  between: 'range inrange withinrange isbetween',
  near: 'approx approximately closeto isclose almostequal ~=',
  rising: 'increasing isrising trendingup',
  falling: 'decreasing isfalling trendingdown',
  sequence: 'then followedby inorder chain',
  cross: 'crosses crossing crossed',
  compare: 'comparison comparator',
  time_window: 'timerange timefilter tradinghours timebetween',
  pattern: 'candlestick candlestickpattern candlepattern',
  if: 'iff ternary ifelse conditional',
  shift: 'prev history barsago delay',
};

const LOGIC =
  'Use kind "all" where every condition must hold, or "any" where one is enough, with the conditions as items.';
const IN_A_ROW = 'Use {"kind": "rolling_window", "window": 3, "mode": "all", "expr": …} for 3 bars in a row.';
const RECENTLY = 'Use {"kind": "rolling_window", "window": 5, "mode": "any", "expr": …} for one of the last 5 bars.';
const COUNTED =
  'Use {"kind": "rolling_window", "window": 10, "mode": "count_gt", "value": 2, "expr": …} for more than 2 of the ' +
  'last 10 bars.';
const OUTSIDE = 'Use {"kind": "not", "item": {"kind": "between", "value": …, "lower": …, "upper": …}}.';
const NONE = 'Use {"kind": "not", "item": {"kind": "any", "items": [ … ]}}.';
const WEEKDAYS = 'Use {"kind": "time_window", "weekdays": ["mon", "fri"]}.';
const DATES = 'Use {"kind": "time_window", "dates": {"from": "2020-01-01", "to": "2020-12-31"}}.';
const SCHEDULE =
  'Use {"kind": "schedule", "every": "month", "on": "last"}: the first, last or k-th weekday of every week, month, ' +
  'quarter or year, and on a holiday the next bar, or {"kind": "schedule", "everyBars": 21}.';
const SESSION_BAR =
  'Compare {"kind": "time", "field": "session_bar"}, which is 1 on the first bar of a session, or ' +
  '"bars_to_session_end", which is 0 on its last.';
const CALENDAR_FIELD =
  'Use {"kind": "time", "field": …}: session_bar (from 1), bars_to_session_end (0 on the last bar), ' +
  'trading_day_of_month (from 1) or trading_days_to_month_end (0 on the last day).';
const TOP_OF_MARKET =
  'In a portfolio, write entry.rank: of more signals than free slots, the largest get in. Or rotate: ' +
  'strategy.allocation holds the largest of `by`.';
const AMONG_INSTRUMENTS =
  'Use {"kind": "cross_section", "op": "rank", "source": …} for the place of an instrument among all of a portfolio.';
const BREAKOUT =
  'Compare the close with the highest high of the bars before: {"kind": "rolling", "op": "max", "period": 20, ' +
  '"offset": 1, "source": {"kind": "market", "field": "high"}}.';
const FORMULA = 'Text and code are not evaluated: write';
const TIMEFRAME =
  'Write the expression itself here, with `timeframe` on its market, indicator and pattern nodes, and `instrument` ' +
  'for another symbol.';
const MISSING = 'Leave it out: a condition on a missing value is unknown, and an unknown condition never trades.';
const AHEAD = `Nothing can read a later bar: ${LOOKS_AHEAD}. ${BACK_ADVICE}`;
const REF =
  'Use {"kind": "shift", "source": …, "offset": 1} for the bar before. Nothing can read a later bar, as Ref of a ' +
  'positive number does in AmiBroker.';
const CHANGE = 'Use indicator "mom" for the difference from an earlier value, or kind "percent_change" for percent.';
const PERCENT_CHANGE = 'Use kind "percent_change", which is in points: 2 is 2 %.';

const FORMULAS = 'expression formula eval script code pine python';

/** What does the same as a word of another platform, where no single kind does. */
const CONDITIONS: HintTable = {
  [LOGIC]: 'logical logic group conditiongroup boolean bool combine combination',
  [IN_A_ROW]: 'consecutive forbars inarow streak sustained heldfor',
  [RECENTLY]: 'within withinbars recent recently happened occurred anyinlast inlast',
  [COUNTED]: 'count countif counttrue atleast',
  [OUTSIDE]: 'outside notbetween outofrange',
  [NONE]: 'none noneof nor neither',
  'Use kind "any" of two: kind "all" of the first and `not` the second, and the reverse.': 'xor',
  [WEEKDAYS]: 'dayofweek weekday weekdays daysofweek',
  [DATES]: 'daterange dates datebetween',
  [SCHEDULE]:
    'rebalance schedulefunction calendar cron monthly weekly quarterly yearly monthend monthstart endofmonth ' +
    'startofmonth ismonthend ismonthstart newmonth newweek turnofmonth turnofthemonth firstdayofmonth ' +
    'lastdayofmonth firstdayofthemonth lastdayofthemonth firsttradingday lasttradingday firsttradingdayofmonth ' +
    'lasttradingdayofmonth firsttradingdayofthemonth lasttradingdayofthemonth everynbars everybars',
  [SESSION_BAR]:
    'isfirstbar isfirstbarregular islastbar islastbarregular sessionisfirstbar sessionislastbar firstbarofsession ' +
    'lastbarofsession newsession sessionstart sessionend firstbarofday lastbarofday beforeclose beforemarketclose ' +
    'afteropen aftermarketopen minutestoclose',
  [TOP_OF_MARKET]: 'rank topn top rotation',
  [BREAKOUT]: 'breakout channelbreakout newhigh',
  [ALWAYS_TRUE]: 'true always alwaystrue buyandhold everybar',
  [`${FORMULA} the condition as nodes, such as {"kind": "compare", "op": "gt", "left": …, "right": …}.`]: FORMULAS,
};
const VALUES: HintTable = {
  [CALENDAR_FIELD]:
    'sessionbar barinsession barofsession sessionbarindex barofday barindexofday barstosessionend barstoclose ' +
    'barsuntilclose minutestoclose tradingdayofmonth businessdayofmonth tradingday tradingdaystomonthend ' +
    'tradingdaysleft daystomonthend daysleftinmonth',
  [AMONG_INSTRUMENTS]: 'csrank crosssectionalrank universerank breadth',
  [CHANGE]: 'change diff delta difference',
  [PERCENT_CHANGE]: 'pctchange returns return pctreturn',
  [AHEAD]: 'lead next future lookahead forward tomorrow',
  [REF]: 'ref',
  [MISSING]: 'nz fillna coalesce isna na ffill',
  [TIMEFRAME]: 'security resample informative mtf htf multitimeframe timeframe',
  [`${FORMULA} the value as nodes, such as {"kind": "math", "op": "mul", "args": [ … ]}.`]: FORMULAS,
};
const KIND_MEANT = readingOf(KINDS);
const CONDITION_ADVICE = readingOf(CONDITIONS);
const VALUE_ADVICE = readingOf(VALUES);

const bareWord = (word: string): string => plain(withoutModule(word));

/** The kind that another platform's word for it means. */
export function kindMeant(word: string, options: Options): string | undefined {
  const kind = KIND_MEANT.get(bareWord(word));
  return kind !== undefined && options.has(kind) ? kind : undefined;
}

/** What to use in place of a kind that the language does not have. */
export const constructAdvice = (word: string, options: Options): string | undefined =>
  (options.has('compare') ? CONDITION_ADVICE : VALUE_ADVICE).get(bareWord(word));
