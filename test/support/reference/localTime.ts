// The date and time of day of a bar's open in a time zone, read from Intl.
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 Monday … 6 Sunday. */
  readonly weekday: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const NUMERIC = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;

export function localTime(time: number, timezone: string): LocalTime {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, hourCycle: 'h23', ...NUMERIC });
    formats.set(timezone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute } = parts as unknown as Omit<LocalTime, 'weekday'>;
  return { year, month, day, hour, minute, weekday: (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7 };
}

export const dayNumber = ({ year, month, day }: LocalTime): number => Date.UTC(year, month - 1, day) / 86_400_000;

/** ISO 8601: the week of the Thursday. */
export function isoWeek(local: LocalTime): number {
  const thursday = new Date((dayNumber(local) - local.weekday + 3) * 86_400_000);
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return 1 + Math.floor((thursday.getTime() - newYear) / (7 * 86_400_000));
}

/** A field of the wall clock. */
export function timeOf(field: string, time: number, timezone: string): number {
  const local = localTime(time, timezone);
  const { year, month, day, hour, minute, weekday } = local;
  return {
    minute,
    hour,
    month,
    year,
    day_of_week: weekday + 1,
    day_of_month: day,
    minute_of_day: hour * 60 + minute,
    week_of_year: isoWeek(local),
  }[field]!;
}
