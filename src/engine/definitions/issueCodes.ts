// Issue codes: everything that can be wrong with a strategy or config, and the code of each place of the grammar.
import { z } from 'zod';

/** Errors: a payload with one of these is not valid. */
const ERROR_CODES = [
  'PAYLOAD_REQUIRED',
  'PAYLOADS_DISAGREE',
  'PROTOCOL_UNSUPPORTED',
  'VERSION_UNSUPPORTED',
  'UNKNOWN_FIELD',
  'MISSING_FIELD',
  'TYPE_MISMATCH',
  'OUT_OF_RANGE',
  'UNKNOWN_NODE_KIND',
  'UNKNOWN_INDICATOR',
  'UNKNOWN_INDICATOR_ARG',
  'INDICATOR_ARG_REQUIRED',
  'INDICATOR_ARG_OUT_OF_RANGE',
  'INDICATOR_OUTPUT_REQUIRED',
  'INDICATOR_OUTPUT_UNKNOWN',
  'UNKNOWN_OPERATOR',
  'UNKNOWN_PATTERN',
  'UNKNOWN_STATE_FIELD',
  'UNKNOWN_TIMEFRAME',
  'NODE_ID_DUPLICATE',
  'REF_NOT_FOUND',
  'REF_TYPE_MISMATCH',
  'GRAPH_CYCLE',
  'ENTRY_MISSING',
  'TRIGGER_MISSING',
  'SIZING_INVALID',
  'SIZING_NEEDS_STOP',
  'TIMEFRAME_BELOW_BASE',
  'RISK_INVALID',
  'TP_CLOSE_OVER_100',
  'ALLOCATION_INVALID',
  'PARAM_UNDEFINED',
  'PAYLOAD_TOO_DEEP',
  'NOT_AVAILABLE_YET',
  'TIER_LIMIT_CONDITIONS',
  'TIER_LIMIT_NODES',
  'TIER_LIMIT_EXITS',
] as const;

/** Never blocking. Only CONTRADICTION has to be acknowledged before a strategy is finalized. */
const STRATEGY_WARNING_CODES = [
  'WARMUP_TOO_SHORT',
  'SYMBOL_NOT_AVAILABLE',
  'NO_EXIT_RULE',
  'UNUSED_NODE',
  'CONSTANT_CONDITION',
  'CONTRADICTION',
  'REDUNDANT_CONDITION',
  'SIMULTANEOUS_CROSSES',
  'FLOAT_EQUALITY',
  'SELF_COMPARE_SAME_BAR',
  'STOP_TIGHTER_THAN_NOISE',
  'FRACTION_FOR_PERCENT',
  'INTRADAY_WINDOW',
  'WARMUP_EXCEEDS_DATA',
  'READS_ONE_POSITION',
  'INSTRUMENTS_MAY_DISAGREE',
  'ALIAS_USED',
] as const;

/** Blocking issues of a backtest's config. */
export const CONFIG_ERROR_CODES = [
  'FEE_TIERS_ORDER',
  'FEE_LIMITS_INVALID',
  'TICK_SIZE_UNKNOWN',
  'RANGE_INVALID',
  'INSTRUMENTS_INVALID',
  'QUOTE_CURRENCY_MIXED',
] as const;
/** Warnings that need a config, and come with the result of a backtest. */
export const CONFIG_WARNING_CODES = [
  'DEFAULTS_OVERRIDDEN',
  'SIZING_UNAFFORDABLE',
  'MAKER_FILL_ASSUMED',
  'COSTS_NOT_MODELED',
  'DIVIDENDS_UNUSED',
  'OPTIMISTIC_FILLS',
  'FINER_BARS_CONTRADICT',
] as const;
/** Warnings about days on which a run has no bars. */
export const TRADING_DAY_WARNING_CODES = ['HOLIDAYS_UNKNOWN', 'TRADING_DAYS_MISSING'] as const;
/** Warnings of runs over several instruments, and of strategies that need several. */
export const PORTFOLIO_WARNING_CODES = [
  'INSTRUMENT_WITHOUT_BARS',
  'DATA_ENDS_EARLY',
  'SIGNALS_WITHOUT_RANK',
  'CROSS_SECTION_OF_ONE',
  'SPLIT_WHILE_HELD',
  'SESSIONS_DIFFER',
  'PLACES_WITHOUT_INSTRUMENTS',
] as const;
const WARNING_CODES = [
  ...STRATEGY_WARNING_CODES,
  ...CONFIG_WARNING_CODES,
  ...PORTFOLIO_WARNING_CODES,
  ...TRADING_DAY_WARNING_CODES,
] as const;

/** Every code, in the order of docs and capabilities: errors first. */
export const ISSUE_CODES = [...ERROR_CODES, ...CONFIG_ERROR_CODES, ...WARNING_CODES] as const;
export const SEVERITIES = ['error', 'warning'] as const;
export type IssueCode = (typeof ISSUE_CODES)[number];
export type Severity = (typeof SEVERITIES)[number];

const WARNINGS: ReadonlySet<string> = new Set(WARNING_CODES);
/** Errors block; warnings do not. */
export const severityOf = (code: IssueCode): Severity => (WARNINGS.has(code) ? 'warning' : 'error');

/** The issue code for values that a schema does not allow (range, choice), where it is not OUT_OF_RANGE. */
export const issueCodes = z.registry<{ readonly code: IssueCode }>();
