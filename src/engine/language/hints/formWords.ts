// Form words: what other programs call the members, kinds and signs of single forms.
import { readingOf, wordSet } from './hintTable.ts';

/** Members of a time window. */
export const WINDOW_MEMBERS = readingOf({
  from: 'from start after begin starttime fromtime',
  to: 'to end before until endtime totime',
  between: 'between range window hours value',
  weekdays: 'days day weekdays weekday daysofweek dayofweek',
  timezone: 'timezone tz zone',
  op: 'op operator',
});
/** Operators of a time window that say no more than its bounds do. */
export const INSIDE = wordSet('between in within inside');

/** Members of an object that refers to a node. */
export const REFERENCE_MEMBERS = readingOf({ ref: 'node id nodeId node_id reference', const: 'value number' });

/** Kinds of a reference to a param. */
export const PARAM_KINDS: ReadonlySet<unknown> = wordSet('param parameter input variable');

/** Kinds that join conditions. */
export const JOINED_KINDS = readingOf({ all: 'and all', any: 'or any', not: 'not' });

/** Members of the range of a config, in the order in which they are looked for. */
export const RANGE_ENDS = readingOf({ start: 'start from startDate start_date', end: 'end to endDate end_date' });

/** Members of the costs of a config. */
export const COSTS = readingOf({ feeModel: 'feeModel fees fee commission', slippage: 'slippage' });

/** Members of a dimension of a sweep in optuna, hyperopt, scikit-optimize, NumPy and others. */
export const DIMENSION_MEMBERS = readingOf({
  min: 'from start begin low lower lowerbound minimum',
  max: 'to stop end high upper upperbound maximum',
  step: 'by stepsize increment inc interval',
  values: 'list choices options grid in',
  log: 'logscale logarithmic loguniform',
});
/** In Python these are left out of a range, so that the same number as `max` is one value more. */
export const EXCLUSIVE_ENDS = wordSet('stop end');
export const POINT_COUNTS = wordSet('n num count points steps samples size');

/** Operators of a constraint of a sweep. */
export const CONSTRAINT_SIGNS = readingOf({ lt: '<', lte: '<=', gt: '>', gte: '>=', eq: '= ==', neq: '!=' });
