// Periods per year: how many trading days annualize a statistic, and why that many.
import type { CalendarBasis, Instrument, Timeframe } from './bars.ts';

/** Every day of the year (semantics §5.1). */
const ALL_DAYS = 365;
/** Weekdays less the holidays of a stock exchange. */
const TRADING_DAYS = 252;

/** The days per year by which daily statistics of the instrument are annualized (semantics §5.1). */
export function periodsPerYear({
  tradesAllDay,
  periodsPerYear: counted,
}: Pick<Instrument, 'tradesAllDay' | 'periodsPerYear'>): number {
  return counted ?? (tradesAllDay ? ALL_DAYS : TRADING_DAYS);
}

/** Weekly and monthly bars give one return each. */
const BARS_PER_YEAR: Partial<Record<Timeframe, number>> = { '1w': 52, '1M': 12 };

const known = new WeakMap<Instrument, Map<Timeframe, Instrument>>();

/** The instrument as a run on this timeframe annualizes it, one object for all runs. */
export function annualizedOn(instrument: Instrument, timeframe: Timeframe): Instrument {
  const periods = BARS_PER_YEAR[timeframe];
  if (periods === undefined) return instrument;
  let ofTimeframes = known.get(instrument);
  if (ofTimeframes === undefined) known.set(instrument, (ofTimeframes = new Map()));
  let found = ofTimeframes.get(timeframe);
  if (found === undefined) {
    found = { ...instrument, periodsPerYear: periods, calendarBasis: 'one_per_bar' };
    ofTimeframes.set(timeframe, found);
  }
  return found;
}

const REASONS: Readonly<Record<CalendarBasis, string>> = {
  given: 'stated for the instrument',
  traded_every_day: 'inferred from the bars, which trade on every day of the week',
  closed_days: 'inferred from the bars, which leave out the same days of every week',
  closed_nights: 'inferred from the bars, which leave out several hours of every day',
  counted_days: 'counted in the bars: the UTC days that have some, per year of data',
  one_per_bar: 'one per bar, since each bar is a whole period',
  assumed: 'assumed, because the bars are too few to show whether the market closes',
};

/**
 * The end of a sentence that begins with the number of periods. Snapshots older than `calendarBasis` say nothing of it:
 * theirs was stated.
 */
export function periodsPerYearReason({ calendarBasis = 'given' }: Pick<Instrument, 'calendarBasis'>): string {
  return REASONS[calendarBasis];
}
