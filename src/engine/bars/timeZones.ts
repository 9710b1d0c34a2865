// Time zones: what the wall clock shows at a bar's open, by IANA rules, with one lookup per stretch of constant offset.
import { DAY_MS, MINUTE_MS } from './bars.ts';

const HOUR_MS = 60 * MINUTE_MS;
const formats = new Map<string, Intl.DateTimeFormat>();

function format(timezone: string): Intl.DateTimeFormat {
  let found = formats.get(timezone);
  if (!found) {
    found = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
    formats.set(timezone, found);
  }
  return found;
}

/** Local time minus UTC at that instant, ms. */
function offsetAt(timezone: string, time: number): number {
  const parts: Record<string, string> = {};
  for (const { type, value } of format(timezone).formatToParts(time)) parts[type] = value;
  const { year, month, day, hour, minute, second } = parts;
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  return local - Math.floor(time / 1000) * 1000;
}

/**
 * The wall-clock time of each instant, as ms that read like UTC. Offsets are looked up once per week of data and
 * searched in between, since formatting a date costs a microsecond and zones change twice per year.
 */
export function localTimes(time: Float64Array, timezone: string): Float64Array {
  if (timezone === 'UTC') return time;
  const out = new Float64Array(time.length);
  let row = 0;
  while (row < time.length) {
    const offset = offsetAt(timezone, time[row]);
    let until = time[row] + 7 * DAY_MS;
    if (offsetAt(timezone, until) !== offset) until = nextChange(timezone, time[row], until, offset);
    while (row < time.length && time[row] < until) {
      out[row] = time[row] + offset;
      row++;
    }
  }
  return out;
}

/** The first quarter of an hour in (from, to] at which the offset has changed. */
function nextChange(timezone: string, from: number, to: number, offset: number): number {
  const quarter = HOUR_MS / 4;
  let low = Math.floor(from / quarter);
  let high = Math.ceil(to / quarter);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(timezone, middle * quarter) === offset) low = middle;
    else high = middle;
  }
  return high * quarter;
}
