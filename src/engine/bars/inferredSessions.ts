// Inferred sessions: where the trading sessions of bars begin and end, told by the bars before (semantics §1.15).
import { DAY_MS, MINUTE_MS } from './bars.ts';

/**
 * A closure at least as long ends a session, a shorter one is a break inside it: lunch takes two hours in Kuala Lumpur,
 * and the futures of Frankfurt rest for a little more than three at night.
 */
const CLOSURE_MS = 180 * MINUTE_MS;
/** Regular hours are those of most of so many sessions: two weeks, after which a clock change is forgotten. */
const SESSIONS_COMPARED = 10;

/** A session: the bars from `firstRow` up to the next session. */
interface Session {
  readonly firstRow: number;
  /** When it opens, ms UTC. */
  readonly open: number;
}

/**
 * The sessions of bars, oldest first. Where all days are traded, each UTC day is one. Elsewhere one begins with the
 * first bar after a closure, and again every 24 hours without one. No later bar takes part.
 * @param barMs the length of a bar, less than a day
 */
function sessionsOf(times: Float64Array, barMs: number, tradesAllDay: boolean): Session[] {
  const sessions: Session[] = [];
  let open = -Infinity;
  for (let row = 0; row < times.length; row++) {
    const time = times[row];
    const isReopened = row === 0 || time - (times[row - 1] + barMs) >= CLOSURE_MS;
    if (time - open < DAY_MS && (tradesAllDay || !isReopened)) continue;
    if (tradesAllDay) open = Math.floor(time / DAY_MS) * DAY_MS;
    else if (isReopened) open = time;
    else open += Math.floor((time - open) / DAY_MS) * DAY_MS;
    sessions.push({ firstRow: row, open });
  }
  return sessions;
}

/** Counts the bars of each session from 1. @param barMs the length of a bar, less than a day */
export function countSessionBars(times: Float64Array, barMs: number, tradesAllDay: boolean, out: Float64Array): void {
  const sessions = sessionsOf(times, barMs, tradesAllDay);
  for (const [index, { firstRow }] of sessions.entries()) {
    const end = sessions[index + 1]?.firstRow ?? times.length;
    for (let row = firstRow; row < end; row++) out[row] = row - firstRow + 1;
  }
}

/**
 * Counts the bars that a session of regular length still has after each bar. The length is that of most of the last
 * sessions that were over; the first session of the data, which may be cut, is none of them. NaN before there is one.
 * @param barMs the length of a bar, less than a day
 */
export function countBarsToSessionEnd(
  times: Float64Array,
  barMs: number,
  tradesAllDay: boolean,
  out: Float64Array,
): void {
  const sessions = sessionsOf(times, barMs, tradesAllDay);
  const lengths: number[] = [];
  for (const [index, { firstRow, open }] of sessions.entries()) {
    const end = sessions[index + 1]?.firstRow ?? times.length;
    const length = tradesAllDay ? DAY_MS : mostFrequent(lengths);
    for (let row = firstRow; row < end; row++) out[row] = barsUntil(open + length, times[row], barMs);
    if (index > 0) lengths.push(times[end - 1] + barMs - open);
    if (lengths.length > SESSIONS_COMPARED) lengths.shift();
  }
}

/** How many bars open after this one and before an instant. */
const barsUntil = (instant: number, time: number, barMs: number): number =>
  Math.max(0, Math.ceil((instant - (time + barMs)) / barMs));

/** The longest of those that occur most often; NaN for none. */
function mostFrequent(lengths: readonly number[]): number {
  const counts = new Map<number, number>();
  let most = NaN;
  for (const length of lengths) {
    const count = (counts.get(length) ?? 0) + 1;
    counts.set(length, count);
  }
  for (const [length, count] of counts) {
    const best = counts.get(most) ?? 0;
    if (count > best || (count === best && length > most)) most = length;
  }
  return most;
}
