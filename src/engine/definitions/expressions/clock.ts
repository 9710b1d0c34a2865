// Clock values and conditions, computed from the open time of bars (semantics §1.9).
import { DAY_MS, MINUTE_MS } from '../../bars/bars.ts';
import type { CALENDAR_FIELDS, TIME_FIELDS, WEEKDAYS } from '../words.ts';

/** A field that the clock alone decides. */
export type ClockField = Exclude<(typeof TIME_FIELDS)[number], (typeof CALENDAR_FIELDS)[number]>;

/** Monday is 0; 1970-01-01 was a Thursday. */
const weekday = (local: number): number => (((Math.floor(local / DAY_MS) + 3) % 7) + 7) % 7;
const minuteOfDay = (local: number): number => Math.floor((((local % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS);

/** A field of a wall-clock time. day_of_week is 1 (Monday) to 7 (Sunday), and week_of_year is the ISO week. */
export function timeField(local: number, field: ClockField): number {
  switch (field) {
    case 'minute':
      return minuteOfDay(local) % 60;
    case 'hour':
      return Math.floor(minuteOfDay(local) / 60);
    case 'minute_of_day':
      return minuteOfDay(local);
    case 'day_of_week':
      return weekday(local) + 1;
    case 'day_of_month':
      return new Date(local).getUTCDate();
    case 'month':
      return new Date(local).getUTCMonth() + 1;
    case 'year':
      return new Date(local).getUTCFullYear();
    case 'week_of_year': {
      const thursday = Math.floor(local / DAY_MS) - weekday(local) + 3;
      const yearStart = Date.UTC(new Date(thursday * DAY_MS).getUTCFullYear(), 0, 1) / DAY_MS;
      return Math.floor((thursday - yearStart) / 7) + 1;
    }
  }
}

const WEEKDAY_NUMBERS: Readonly<Record<(typeof WEEKDAYS)[number], number>> = {
  mon: 0,
  tue: 1,
  wed: 2,
  thu: 3,
  fri: 4,
  sat: 5,
  sun: 6,
};

interface TimeWindow {
  readonly weekdays?: readonly (typeof WEEKDAYS)[number][];
  readonly between?: { readonly from: string; readonly to: string };
  readonly dates?: { readonly from?: string; readonly to?: string };
}

/** The same as the operation of a step. */
export type ClockWindow = TimeWindow & { readonly kind: 'time_window' };

const minutes = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));

/**
 * Marks the rows whose wall-clock open time is in the window [from, to). When from > to, the window goes past midnight,
 * and the hours after midnight belong to the day on which it began. Both dates are included.
 */
export function timeWindow(local: Float64Array, window: TimeWindow, out: Uint32Array): void {
  const days = window.weekdays ? new Set(window.weekdays.map((day) => WEEKDAY_NUMBERS[day])) : null;
  const from = window.between ? minutes(window.between.from) : 0;
  const to = window.between ? minutes(window.between.to) : 24 * 60;
  const firstDate = window.dates?.from ? Date.parse(window.dates.from) : -Infinity;
  const lastDate = window.dates?.to ? Date.parse(window.dates.to) : Infinity;
  const isOverMidnight = from > to;
  for (let row = 0; row < local.length; row++) {
    const minute = minuteOfDay(local[row]);
    const isAfterMidnight = isOverMidnight && minute < to;
    if (isOverMidnight ? !isAfterMidnight && minute < from : minute < from || minute >= to) continue;
    const beginning = isAfterMidnight ? local[row] - DAY_MS : local[row];
    const day = Math.floor(beginning / DAY_MS) * DAY_MS;
    if ((days && !days.has(weekday(beginning))) || day < firstDate || day > lastDate) continue;
    out[row >>> 5] |= 1 << (row & 31);
  }
}
