// The condition `schedule`: one bar of every week, month …, or every n-th bar.
import { z } from 'zod';
import { NOTHING_UNKNOWN } from '../../kernels/bits.ts';
import { bars1, named, ParamRef } from '../expressionMembers.ts';
import type { Completed, ConditionDefinition, NodeCheck } from './expressionDefinition.ts';
import { needOfClock } from './lookbacks.ts';
import { everyBarsOf, SCHEDULE_PERIODS, scheduledDays, type DaySchedule } from './schedules.ts';

/** The most days of a year. */
const MAX_DAYS = 366;
/** The most days that a period can have. */
const MOST_DAYS = { day: 1, week: 7, month: 31, quarter: 92, year: MAX_DAYS } as const;

const schema = z.strictObject({
  ...named,
  kind: z.literal('schedule'),
  every: z.enum(SCHEDULE_PERIODS).optional(),
  /** The k-th trading day of the period, holidays counted; negative: counted from its end. */
  on: z.union([z.int().min(-MAX_DAYS).max(MAX_DAYS), z.enum(['first', 'last']), ParamRef]).optional(),
  /** UTC. */
  at: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Write a time as HH:MM, from 00:00 to 23:59.')
    .optional(),
  everyBars: bars1.optional(),
});
/** The canonical form has the number of the day: 1 for the first, -1 for the last. */
type Node = Completed<typeof schema, { on?: number }>;

interface ScheduleOperation {
  readonly op: 'schedule';
  readonly days: DaySchedule | null;
  readonly everyBars: number;
}

const ZERO = 'Count trading days from 1, the first of the period, or from -1, the last.';

export const scheduleCondition: ConditionDefinition<typeof schema, Node, ScheduleOperation> = {
  type: 'condition',
  schema,
  description:
    'One bar of every period: its first, last or k-th weekday (day, where all are traded), from `at` on; on a ' +
    'holiday, the next bar. Or every n-th bar (`everyBars`).',
  nsPerBar: 1,
  check: (node, check) => checkForm(node, check) && checkDay(node, check),
  rewrite: (node, isPlaced, rewriter) => {
    if (node.every === undefined) return rewriter.plain(node, isPlaced);
    const made = rewriter.plain(node, isPlaced, { on: 'first' });
    if (made.on === 0) rewriter.report(node, ['on'], 'OUT_OF_RANGE', `The param of "on" is 0. ${ZERO}`);
    if (made.on === 'first') return { ...made, on: 1 };
    return made.on === 'last' ? { ...made, on: -1 } : made;
  },
  // A param may be 0, which is refused.
  isForming: (_node, member) => member === 'on',
  role: 'leaf',
  sides: null,
  infers: null,
  advice: { always: 'It is true on one bar of each period.' },
  laterBy: 'put it into a rolling_window with mode "any"',
  text: ({ every, on = 1, at, everyBars }) =>
    everyBars === undefined
      ? `${placeText(every, on)}${at === undefined ? '' : ` from ${at}`} (on a holiday, the next bar)`
      : `1 bar in ${everyBars}`,
  lookback: needOfClock,
  step: ({ every, on = 1, at, everyBars = 1 }, { builder }, ambient) => {
    const days = every === undefined ? null : { every, on, ...(at !== undefined && { at }) };
    const operation: ScheduleOperation = { op: 'schedule', days, everyBars };
    return builder.condition(operation, [], ambient);
  },
  operation: {
    op: 'schedule',
    readsCalendar: true,
    column: ({ days, everyBars }, { times, timeframe, calendar }) => ({
      isTrue: days === null ? everyBarsOf(everyBars, times, calendar) : scheduledDays(days, times, timeframe, calendar),
      isUnknown: NOTHING_UNKNOWN,
    }),
    parts: () => 1,
  },
  overState: null,
};

interface Written {
  readonly every?: unknown;
  readonly on?: unknown;
  readonly at?: unknown;
  readonly everyBars?: unknown;
}

/** Either days of a period or a number of bars. */
function checkForm(node: Written, check: NodeCheck): boolean {
  const { every, everyBars } = node;
  if (every === undefined && everyBars === undefined) {
    return check.report('MISSING_FIELD', ['every'], {
      message: 'A schedule requires `every` (day, week, month, quarter or year) or `everyBars`, a number of bars.',
      suggestion: 'Use {"kind": "schedule", "every": "month", "on": "last"}, or {"kind": "schedule", "everyBars": 21}.',
    });
  }
  if (everyBars === undefined) return true;
  const ofDays = (['every', 'on', 'at'] as const).find((member) => node[member] !== undefined);
  if (ofDays === undefined) return true;
  return check.report('OUT_OF_RANGE', [ofDays], {
    message: `A schedule has days (\`every\`, \`on\`, \`at\`) or \`everyBars\`, and this one also has \`${ofDays}\`.`,
    suggestion: `Remove \`${ofDays}\` to count bars, or remove \`everyBars\`.`,
  });
}

/** The day that a period can have, and a time of day where the bars have one. */
function checkDay({ every, on, at }: Written, check: NodeCheck): boolean {
  if (on === 0) return check.report('OUT_OF_RANGE', ['on'], { message: 'There is no day 0.', suggestion: ZERO });
  const most = MOST_DAYS[every as keyof typeof MOST_DAYS];
  if (typeof on === 'number' && Math.abs(on) > most) {
    return check.report('OUT_OF_RANGE', ['on'], {
      message: `A ${String(every)} has at most ${most} ${most === 1 ? 'day' : 'days'}, so that day ${on} never comes.`,
      suggestion: `Use at most ${most}, or a longer period.`,
    });
  }
  if (at !== undefined && check.isIntraday === false) {
    return check.report('OUT_OF_RANGE', ['at'], {
      message: 'Daily bars have no times of day: after a time of its day, the next bar is that of the day after.',
      suggestion: 'Remove `at`.',
    });
  }
  if (on === 'last' && at === undefined && check.isIntraday === true) {
    return check.report('MISSING_FIELD', ['at'], {
      message: 'The last bar of a day is not known in advance: on bars within the day, "last" requires `at`.',
      suggestion: 'Give a time in UTC, such as "at": "20:00". For the first bar of the last day, use "on": -1.',
    });
  }
  return true;
}

const placeText = (every: unknown, on: number): string =>
  every === 'day' ? 'every trading day' : `${dayText(on)} of the ${String(every)}`;

const dayText = (on: number): string => {
  if (Math.abs(on) === 1) return `${on === 1 ? 'first' : 'last'} trading day`;
  return `trading day ${Math.abs(on)}${on < 0 ? ' from the end' : ''}`;
};
