// The value `time`: a field of the bar's open time.
import { z } from 'zod';
import { localTimes } from '../../bars/timeZones.ts';
import { named } from '../expressionMembers.ts';
import { TIME_FIELDS } from '../words.ts';
import { CALENDAR_FIELD_DEFINITIONS, type CalendarField } from './calendarFields.ts';
import { timeField, type ClockField } from './clock.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, range, type Range } from './intervals.ts';
import { needOfClock } from './lookbacks.ts';

const schema = z.strictObject({ ...named, kind: z.literal('time'), field: z.enum(TIME_FIELDS) });

/** day_of_week is 1 (Monday) to 7 (Sunday). */
const CLOCK_RANGES: Readonly<Record<ClockField, Range>> = {
  minute: range(0, 59),
  hour: range(0, 23),
  day_of_week: range(1, 7),
  day_of_month: range(1, 31),
  month: range(1, 12),
  year: EVERYTHING,
  minute_of_day: range(0, 1_439),
  week_of_year: range(1, 53),
};
const INTRADAY_FIELDS: ReadonlySet<unknown> = new Set<ClockField | CalendarField>([
  'hour',
  'minute',
  'minute_of_day',
  'session_bar',
  'bars_to_session_end',
]);

const isCalendarField = (field: ClockField | CalendarField): field is CalendarField =>
  field in CALENDAR_FIELD_DEFINITIONS;

interface ClockOperation {
  readonly op: 'time';
  readonly field: ClockField;
  readonly timezone: string;
}
/** The calendar of a market has days and hours of its own, whatever the time zone of the strategy. */
interface CalendarOperation {
  readonly op: 'time';
  readonly field: CalendarField;
}
type TimeOperation = ClockOperation | CalendarOperation;

export const timeValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, TimeOperation> = {
  type: 'value',
  schema,
  description:
    'Of the bar’s open in the time zone of the strategy (day_of_month is a calendar day); its place in the session, ' +
    'or of its trading day in the month (holidays count unless the market has a calendar): from 1; to the end: 0 on ' +
    'the last.',
  nsPerBar: 2,
  check: ({ field }, check) => {
    if (INTRADAY_FIELDS.has(field)) check.warnOfHours('field');
    return true;
  },
  rewrite: null,
  range: ({ field }) => (isCalendarField(field) ? CALENDAR_FIELD_DEFINITIONS[field].range : CLOCK_RANGES[field]),
  isDiscrete: () => true,
  text: ({ field }) => `time ${field}`,
  lookback: needOfClock,
  step: ({ field }, { builder, timezone }, ambient) => {
    const operation: TimeOperation = isCalendarField(field) ? { op: 'time', field } : { op: 'time', field, timezone };
    return builder.value(operation, [], ambient);
  },
  readsHours: ({ field }) => INTRADAY_FIELDS.has(field),
  readsTimezone: true,
  operation: {
    op: 'time',
    readsCalendar: ({ field }) => isCalendarField(field),
    column: (operation, bars, out) => {
      if (!('timezone' in operation)) {
        CALENDAR_FIELD_DEFINITIONS[operation.field].column(bars, out);
        return;
      }
      const local = localTimes(bars.times, operation.timezone);
      for (let row = 0; row < out.length; row++) out[row] = timeField(local[row], operation.field);
    },
  },
  overState: null,
};
