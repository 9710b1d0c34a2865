// Timeframes: when bars open and close, and which timeframe is made of which, months of the UTC calendar included.
import { DAY_MS, TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from './bars.ts';

const MONTH = '1M';
/** 1970-01-05, the first Monday. */
const FIRST_MONDAY = 4 * DAY_MS;

/**
 * The open of the bar that holds `time`, on the grid of the timeframe: counted from 1970 UTC, weeks from Monday 00:00,
 * months from their first day.
 */
export function openOf(timeframe: Timeframe, time: number): number {
  if (timeframe === MONTH) return monthStart(time, 0);
  const ms = TIMEFRAME_MS[timeframe];
  const from = timeframe === '1w' ? FIRST_MONDAY : 0;
  return Math.floor((time - from) / ms) * ms + from;
}

/** When a bar that opens at `open` closes: a month closes with the start of the next one. */
export const closeOf = (timeframe: Timeframe, open: number): number =>
  timeframe === MONTH ? monthStart(open, 1) : open + TIMEFRAME_MS[timeframe];

/** `closeOf` for a loop over the bars of one timeframe. */
export function closesOf(timeframe: Timeframe): (open: number) => number {
  if (timeframe === MONTH) return (open) => monthStart(open, 1);
  const ms = TIMEFRAME_MS[timeframe];
  return (open) => open + ms;
}

/** How many bars of the timeframe lie between the opens `from` and `to`; a whole number for bars of one series. */
export function barsBetween(timeframe: Timeframe, from: number, to: number): number {
  if (timeframe !== MONTH) return (to - from) / TIMEFRAME_MS[timeframe];
  const [first, last] = [new Date(from), new Date(to)];
  return 12 * (last.getUTCFullYear() - first.getUTCFullYear()) + last.getUTCMonth() - first.getUTCMonth();
}

/** The most bars that can open and close between two times. */
export function mostBarsIn(timeframe: Timeframe, from: number, to: number): number {
  if (timeframe !== MONTH) return Math.max(0, Math.floor((to - from) / TIMEFRAME_MS[timeframe]));
  return Math.max(0, barsBetween(MONTH, closeOf(MONTH, from - 1), to));
}

const [SHORTEST_MONTH_MS, LONGEST_MONTH_MS] = [28 * DAY_MS, 31 * DAY_MS];

/** The least time that a bar takes. */
export const shortestMs = (timeframe: Timeframe): number =>
  timeframe === MONTH ? SHORTEST_MONTH_MS : TIMEFRAME_MS[timeframe];

/** The most time that a bar takes. */
export const longestMs = (timeframe: Timeframe): number =>
  timeframe === MONTH ? LONGEST_MONTH_MS : TIMEFRAME_MS[timeframe];

export const isFiner = (timeframe: Timeframe, other: Timeframe): boolean =>
  TIMEFRAMES.indexOf(timeframe) < TIMEFRAMES.indexOf(other);

/** Bars that several sessions of one day may have; false for days, weeks and months. */
export const isIntraday = (timeframe: Timeframe): boolean => isFiner(timeframe, '1d');

/**
 * Whether a whole number of `finer` bars makes each bar of `coarser`: 3m makes 15m and not 5m, 4h makes 8h and not 6h,
 * and weeks make no month.
 */
export function divides(finer: Timeframe, coarser: Timeframe): boolean {
  if (!isFiner(finer, coarser)) return false;
  return longestMs(coarser) % longestMs(finer) === 0 && !(finer === '1w' && coarser === MONTH);
}

/** The timeframes of which whole bars make `timeframe`, finest first. */
export const divisorsOf = (timeframe: Timeframe): Timeframe[] =>
  TIMEFRAMES.filter((candidate) => divides(candidate, timeframe));

/** The start of the month `later` months after the one that holds `time`. */
function monthStart(time: number, later: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
}
