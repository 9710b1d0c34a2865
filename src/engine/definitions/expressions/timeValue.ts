// The value `time`: a field of the bar's open time.
import { z } from 'zod';
import { localTimes } from '../../bars/timeZones.ts';
import { named } from '../expressionMembers.ts';
import { TIME_FIELDS } from '../words.ts';
import { timeField } from './clock.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, range, type Range } from './intervals.ts';
import { needOfClock } from './lookbacks.ts';

type TimeField = (typeof TIME_FIELDS)[number];
const schema = z.strictObject({ ...named, kind: z.literal('time'), field: z.enum(TIME_FIELDS) });

/** day_of_week is 1 (Monday) to 7 (Sunday). */
const TIME_RANGES: Readonly<Record<TimeField, Range>> = {
  minute: range(0, 59),
  hour: range(0, 23),
  day_of_week: range(1, 7),
  day_of_month: range(1, 31),
  month: range(1, 12),
  year: EVERYTHING,
  minute_of_day: range(0, 1_439),
  week_of_year: range(1, 53),
};
const INTRADAY_FIELDS: ReadonlySet<unknown> = new Set<TimeField>(['hour', 'minute', 'minute_of_day']);

interface TimeOperation {
  readonly op: 'time';
  readonly field: TimeField;
  readonly timezone: string;
}

export const timeValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, TimeOperation> = {
  type: 'value',
  schema,
  description: 'A field of the bar’s open time, in the time zone of the strategy.',
  nsPerBar: 2,
  check: ({ field }, check) => {
    if (INTRADAY_FIELDS.has(field)) check.warnOfHours('field');
    return true;
  },
  rewrite: null,
  range: ({ field }) => TIME_RANGES[field],
  isDiscrete: () => true,
  text: ({ field }) => `time ${field}`,
  lookback: needOfClock,
  step: ({ field }, { builder, timezone }, ambient) => {
    const operation: TimeOperation = { op: 'time', field, timezone };
    return builder.value(operation, [], ambient);
  },
  readsHours: ({ field }) => INTRADAY_FIELDS.has(field),
  readsTimezone: true,
  operation: {
    op: 'time',
    column: ({ field, timezone }, { times }, out) => {
      const local = localTimes(times, timezone);
      for (let row = 0; row < out.length; row++) out[row] = timeField(local[row], field);
    },
  },
  overState: null,
};
