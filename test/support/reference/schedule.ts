// Schedules by walking the calendar: every day since the bar before is asked whether it is the one of its period.
const DAY_MS = 86_400_000;

interface Schedule {
  readonly every?: string;
  readonly on?: number;
  readonly at?: string;
  readonly everyBars?: number;
}

const dateOf = (day: number): Date => new Date(day * DAY_MS);
const isWeekend = (day: number): boolean => ['Sat', 'Sun'].includes(dateOf(day).toUTCString().slice(0, 3));

/** A name that the days of one period share. */
function periodName(every: string, day: number): string {
  const [year, month] = dateOf(day).toISOString().split('-');
  switch (every) {
    case 'day':
      return String(day);
    case 'week': {
      let monday = day;
      while (!dateOf(monday).toUTCString().startsWith('Mon')) monday--;
      return String(monday);
    }
    case 'month':
      return `${year}-${month}`;
    case 'quarter':
      return `${year} Q${Math.ceil(Number(month) / 3)}`;
    default:
      return year;
  }
}

/** Whether a day is the one that the schedule names, among the trading days of its period. */
export function isScheduledDay({ every = '', on = 1 }: Schedule, day: number, tradesAllDay: boolean): boolean {
  const name = periodName(every, day);
  let first = day;
  while (periodName(every, first - 1) === name) first--;
  const days: number[] = [];
  for (let one = first; periodName(every, one) === name; one++) if (tradesAllDay || !isWeekend(one)) days.push(one);
  return days.at(on > 0 ? on - 1 : on) === day && (on > 0 || -on <= days.length);
}

/** For each bar, whether the schedule was due after the bar before it opened and by the time it opens itself. */
export function scheduledBars(schedule: Schedule, times: ArrayLike<number>, tradesAllDay: boolean): boolean[] {
  const { at = '00:00', everyBars } = schedule;
  const [hours, minutes] = at.split(':').map(Number);
  const known = new Map<number, boolean>();
  const isDay = (day: number): boolean => {
    if (!known.has(day)) known.set(day, isScheduledDay(schedule, day, tradesAllDay));
    return known.get(day)!;
  };
  return Array.from(times, (time, row) => {
    if (everyBars !== undefined) return row % everyBars === 0;
    const today = Math.floor(time / DAY_MS);
    const before = row === 0 ? today * DAY_MS - 1 : times[row - 1];
    for (let day = Math.floor(before / DAY_MS); day <= today; day++) {
      const due = day * DAY_MS + hours * 3_600_000 + minutes * 60_000;
      if (due > before && due <= time && isDay(day)) return true;
    }
    return false;
  });
}
