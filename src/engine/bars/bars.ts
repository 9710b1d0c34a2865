// Bars: the OHLCV columns of one series, and what is known about its instrument.

/** The timeframes of series, strategies and backtests, finest first. */
export const TIMEFRAMES = [
  '1m',
  '3m',
  '5m',
  '15m',
  '30m',
  '1h',
  '2h',
  '4h',
  '6h',
  '8h',
  '12h',
  '1d',
  '1w',
  '1M',
] as const;
export type Timeframe = (typeof TIMEFRAMES)[number];

export const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 86_400_000;
/** The length of a bar. A month has none: where the timeframe may be 1M, use the functions of timeframes.ts. */
export const TIMEFRAME_MS: Readonly<Record<Exclude<Timeframe, '1M'>, number>> = {
  '1m': MINUTE_MS,
  '3m': 3 * MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
  '2h': 2 * HOUR_MS,
  '4h': 4 * HOUR_MS,
  '6h': 6 * HOUR_MS,
  '8h': 8 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
  '1w': 7 * DAY_MS,
};

/**
 * One series, columns of equal `length`, oldest bar first. Times are one timeframe apart, or several: imports refuse
 * others. Weeks open on Mondays and months on their first day, at 00:00 UTC. Prices are finite and not negative. The
 * columns are views on one shared buffer; nothing may write to them.
 */
export interface Bars {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly length: number;
  /** Bar open, ms UTC. `closeOf(timeframe, time)` is when the bar closes. */
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
  /** Extra imported numeric columns, NaN where missing. */
  readonly series: ReadonlyMap<string, Float64Array>;
  /** sha256 of the snapshot these bars were read from or resampled from. */
  readonly sha256: string;
  /** True when made from finer bars; a resampled series is never a child (semantics §3.2). */
  readonly isResampled: boolean;
  /** For resampled bars: how many have fewer children than an unbroken market gives. */
  readonly partialBars: number;
  /**
   * For bars resampled from children off the UTC grid (sessions from 09:30): how long after its end a bucket's last
   * child may close, ms; absent: 0.
   */
  readonly overhangMs?: number;
  /** For a part of a series: the whole, and the row of it that the part begins with. */
  readonly cutFrom?: { readonly bars: Bars; readonly firstRow: number };
}

/**
 * Where the periods per year come from: stated, inferred from the bars, or assumed where there are too few bars to show
 * them.
 */
export type CalendarBasis =
  | 'given'
  | 'traded_every_day'
  | 'closed_days'
  | 'closed_nights'
  | 'counted_days'
  | 'one_per_bar'
  | 'assumed';

/** What is known about a traded instrument. */
export interface Instrument {
  readonly symbol: string;
  readonly base: string | null;
  readonly quote: string | null;
  /** null: unknown, and slippage in ticks is refused. */
  readonly tickSize: number | null;
  /** 0: quantities are not rounded. */
  readonly qtyStep: number;
  readonly minNotional: number;
  /** true: 365 periods per year, false: 252, unless `periodsPerYear` is another number. */
  readonly tradesAllDay: boolean;
  /** The UTC days with bars per year of data, where those are neither about 252 nor about 365. */
  readonly periodsPerYear?: number;
  /** Absent in snapshots that were written before it existed. */
  readonly calendarBasis?: CalendarBasis;
  readonly synthetic: boolean;
  /** The exchange whose trading days and hours it has, such as XNYS; absent: those that the bars show. */
  readonly calendar?: string;
}

/** Everything one run may read: the base bars, finer ones for drilling, and other instruments and timeframes. */
export interface Market {
  readonly base: Bars;
  readonly instrument: Instrument;
  /** Bars of the base instrument at its finest imported timeframe below the base; undefined: nothing to drill into. */
  readonly fine: Bars | undefined;
  /** Bars of any series, resampled (and kept) when only finer ones are stored; undefined: not available. */
  bars(symbol: string, timeframe: Timeframe): Bars | undefined;
}

/** Everything a portfolio run may read: the market of each instrument, in the order of the list. */
export interface Universe {
  readonly instruments: readonly Market[];
}
