// The closed word lists of the language: fields, operators, modes. Schemas and capabilities index into these.
import { MAX_SCANNED_LENGTH } from '../indicators/arguments.ts';
import type { CompareOp } from '../kernels/compareNumbers.ts';

export { MATH_OPS } from '../kernels/arithmetic.ts';
export { COMPARE_OPS, type CompareOp } from '../kernels/compareNumbers.ts';

export const MARKET_FIELDS = [
  'open',
  'high',
  'low',
  'close',
  'hl2',
  'hlc3',
  'ohlc4',
  'typical',
  'median',
  'volume',
] as const;
/** Two names for the same price, which is one column. */
const FIELD_ALIASES = { typical: 'hlc3', median: 'hl2' } as const;
type FieldAlias = keyof typeof FIELD_ALIASES;
/** A market field by its canonical name. */
export const canonicalField = <F extends string>(field: F): Exclude<F, FieldAlias> | 'hlc3' | 'hl2' =>
  Object.hasOwn(FIELD_ALIASES, field) ? FIELD_ALIASES[field as FieldAlias] : (field as Exclude<F, FieldAlias>);
export const ROLLING_OPS = [
  'max',
  'min',
  'sum',
  'avg',
  'std',
  'var',
  'median',
  'zscore',
  'percentile_rank',
  'quantile',
  'slope',
  'argmax',
  'argmin',
] as const;
/**
 * How many values a rolling operation reads, the current one included: percentile_rank ranks it among `period` others,
 * as the indicator of that name does.
 */
export const rollingReach = (op: (typeof ROLLING_OPS)[number], period: number): number =>
  op === 'percentile_rank' ? period + 1 : period;
/** A slope sums its whole window for every row, since a running sum gives other last digits. */
export const isTooLongSlope = (op: unknown, period: number): boolean => op === 'slope' && period > MAX_SCANNED_LENGTH;
/** a op b is b MIRRORED_OPS[op] a. */
export const MIRRORED_OPS = {
  gt: 'lt',
  gte: 'lte',
  lt: 'gt',
  lte: 'gte',
  eq: 'eq',
  neq: 'neq',
} as const satisfies Readonly<Record<CompareOp, CompareOp>>;
export const CROSS_OPS = ['cross_up', 'cross_down', 'cross_any'] as const;
export const STATE_FIELDS = [
  'position_exists',
  'position_side',
  'position_size',
  'position_entry_price',
  'position_unrealized_pnl',
  'position_unrealized_pnl_pct',
  'position_realized_pnl',
  'position_bars_since_entry',
  'position_bars_since_exit',
  'position_highest_since_entry',
  'position_lowest_since_entry',
  'position_mfe_pct',
  'position_mae_pct',
  'position_stop_price',
  'position_average_price',
  'open_positions_count',
  'instrument_positions_count',
  'account_balance',
  'account_equity',
  'account_gross_exposure',
  'account_used_margin',
  'account_available_collateral',
  'account_margin_utilization',
  'account_drawdown',
  'account_max_drawdown',
  'account_day_pnl_pct',
  'trades_count_total',
  'trades_count_today',
  'wins_streak',
  'losses_streak',
  'last_trade_pnl',
  'last_trade_pnl_pct',
  'last_entry_price',
  'last_exit_price',
] as const;
/** Fields of a bar by the calendar of its market. */
export const CALENDAR_FIELDS = [
  'session_bar',
  'bars_to_session_end',
  'trading_day_of_month',
  'trading_days_to_month_end',
] as const;
export const TIME_FIELDS = [
  'minute',
  'hour',
  'day_of_week',
  'day_of_month',
  'month',
  'year',
  'minute_of_day',
  'week_of_year',
  ...CALENDAR_FIELDS,
] as const;
/** A time of day. */
export const CLOCK_PATTERN = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/;
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export const SESSIONS = ['tokyo', 'london', 'new_york', 'us_equities'] as const;
export const ROLLING_WINDOW_MODES = ['any', 'none', 'all', 'streak', 'count_gt', 'count_lt', 'count_eq'] as const;
export const CONFLICT_POLICIES = ['ignore', 'close', 'reverse'] as const;
export const STATE_CONFLICT_POLICIES = ['reset', 'set', 'hold'] as const;
export const SIDES = ['long', 'short'] as const;
export const PATTERN_SIDES = ['bullish', 'bearish', 'any'] as const;
export const APPLIES_TO = ['long', 'short', 'any'] as const;
export const ORDER_TYPES = ['market', 'limit', 'stop'] as const;
export const STOP_UPDATES = ['entry', 'bar'] as const;
export const CLOSE_BASES = ['initial', 'remaining'] as const;
export const PIVOT_KINDS = ['high', 'low'] as const;
export const PARAM_TYPES = ['int', 'float', 'bool', 'choice'] as const;
