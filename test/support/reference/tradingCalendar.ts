// The place of a bar in its session and in its month, found by walking back over the bars and through the calendar.
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

const dateText = (time: number): string => new Date(time).toISOString().slice(0, 10);
const isWeekend = (date: string): boolean => /^(Sat|Sun)/.test(new Date(date).toUTCString());

/** When the session of each bar opened. */
function sessionOpens(times: readonly number[], barMs: number, tradesAllDay: boolean): number[] {
  const opens: number[] = [];
  times.forEach((time, row) => {
    if (tradesAllDay) opens.push(Date.parse(dateText(time)));
    else if (row === 0 || time - times[row - 1] - barMs >= 3 * HOUR_MS) opens.push(time);
    else {
      let open = opens[row - 1];
      while (open + DAY_MS <= time) open += DAY_MS;
      opens.push(open);
    }
  });
  return opens;
}

/** The length that most of the last ten finished sessions had, the longest of several, without the first session. */
function regularLength(times: readonly number[], opens: readonly number[], row: number, barMs: number): number {
  const finished = [...new Set(opens.slice(0, row))].filter((open) => open !== opens[row]).slice(1);
  const lengths = finished.slice(-10).map((open) => times[opens.lastIndexOf(open)] + barMs - open);
  const timesFound = (length: number): number => lengths.filter((one) => one === length).length;
  return lengths.toSorted((a, b) => timesFound(b) - timesFound(a) || b - a)[0] ?? NaN;
}

/** The trading days of the month of a date, as texts. */
function tradingDays(date: string, tradesAllDay: boolean): string[] {
  const days = Array.from({ length: 31 }, (_, day) => `${date.slice(0, 8)}${String(day + 1).padStart(2, '0')}`);
  return days.filter((day) => {
    const time = Date.parse(`${day}T00:00Z`);
    return !Number.isNaN(time) && dateText(time) === day && (tradesAllDay || !isWeekend(day));
  });
}

/** Whether the calendar of the market decides a field of `time`. */
export const isCalendarField = (field: string): boolean => /session|trading_day/.test(field);

/** A field of every bar. */
export function calendarFieldOf(
  field: string,
  times: readonly number[],
  barMs: number,
  { tradesAllDay }: { readonly tradesAllDay: boolean },
): number[] {
  if (field.startsWith('trading_day')) {
    const isClosed = (day: number): boolean => !tradesAllDay && isWeekend(dateText(day));
    return times.map((time) => {
      let day = time;
      while (isClosed(day)) day += DAY_MS;
      const days = tradingDays(dateText(day), tradesAllDay);
      const index = days.indexOf(dateText(day));
      return field === 'trading_day_of_month' ? index + 1 : days.length - 1 - index;
    });
  }
  if (barMs >= DAY_MS) return times.map(() => (field === 'session_bar' ? 1 : 0));
  const opens = sessionOpens(times, barMs, tradesAllDay);
  return times.map((time, row) => {
    if (field === 'session_bar') return opens.slice(0, row + 1).filter((open) => open === opens[row]).length;
    const length = tradesAllDay ? DAY_MS : regularLength(times, opens, row, barMs);
    if (Number.isNaN(length)) return NaN;
    let bars = 0;
    while (time + (bars + 1) * barMs < opens[row] + length) bars++;
    return bars;
  });
}
