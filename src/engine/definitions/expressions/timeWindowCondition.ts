// The condition `time_window`: the bar opens on given days, between given times of day.
import { z } from 'zod';
import { named } from '../expressionMembers.ts';
import { CLOCK_PATTERN, WEEKDAYS } from '../words.ts';
import type { ClockWindow } from './clock.ts';
import type { Completed, ConditionDefinition } from './expressionDefinition.ts';
import { needOfClock } from './lookbacks.ts';
import type { SharedConditionOperation } from './planSteps.ts';

const clock = z.string().regex(CLOCK_PATTERN, 'Write a time as HH:MM, from 00:00 to 24:00.');
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'Write a date as YYYY-MM-DD.');
const schema = z.strictObject({
  ...named,
  kind: z.literal('time_window'),
  timezone: z.string().optional(),
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).optional(),
  /** Open times in [from, to), past midnight when from > to. */
  between: z.strictObject({ from: clock, to: clock }).optional(),
  /** Calendar days, both included. */
  dates: z.strictObject({ from: date.optional(), to: date.optional() }).optional(),
});

/** How to loosen a condition on the clock. */
export const CLOCK_ADVICE = 'It looks at when a bar opens, in its time zone; daily bars open at midnight UTC.';

export const timeWindowCondition: ConditionDefinition<typeof schema, Completed<typeof schema, { timezone: string }>> = {
  type: 'condition',
  schema,
  description:
    'The bar opens on the given weekdays (mon, tue …) and calendar dates ({from, to}: 2024-01-31), between the given ' +
    'times of day ({from, to}: 09:30).',
  nsPerBar: 2,
  check: ({ timezone, between, dates }, check) => {
    if (between !== undefined) check.warnOfHours('between');
    let isValid = typeof timezone !== 'string' || check.isTimezone(timezone, 'timezone');
    for (const end of ['from', 'to'] as const) {
      const day = (dates as { readonly from?: unknown; readonly to?: unknown } | undefined)?.[end];
      if (typeof day !== 'string' || check.isCalendarDay(day)) continue;
      isValid = false;
      check.report('OUT_OF_RANGE', ['dates', end], { message: `${check.shown(day)} is not a day of the calendar.` });
    }
    return isValid;
  },
  rewrite: (node, isPlaced, rewriter) => rewriter.plain(node, isPlaced, { timezone: rewriter.timezone }),
  role: 'leaf',
  sides: null,
  infers: {
    assume: () => true,
    isAlways: ({ weekdays, between, dates }) => weekdays === undefined && between === undefined && dates === undefined,
    bounds: () => undefined,
  },
  advice: { always: CLOCK_ADVICE },
  text: ({ weekdays, between, dates, timezone }) => {
    const hours = between ? `${between.from}–${between.to}` : '';
    const days = dates ? `${dates.from ?? ''}…${dates.to ?? ''}` : '';
    return ['time in', weekdays?.join(' ') ?? '', hours, days, timezone].filter((word) => word !== '').join(' ');
  },
  lookback: needOfClock,
  step: ({ weekdays, between, dates, timezone }, { builder }, ambient) => {
    // The members that matter: windows that differ only in id or label are one step.
    const window: ClockWindow = {
      kind: 'time_window',
      ...(weekdays && { weekdays }),
      ...(between && { between }),
      ...(dates && { dates }),
    };
    const operation: SharedConditionOperation = { op: 'time_window', window, timezone };
    return builder.condition(operation, [], ambient);
  },
  readsHours: ({ between }) => between !== undefined,
  operation: null,
  overState: null,
};
