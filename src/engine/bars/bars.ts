// Bars: the OHLCV columns of one series, and what is known about its instrument.

/** Timeframes that can be stored, finest first. */
export const STORED_TIMEFRAMES = ['1m', '5m', '15m', '1h', '4h', '1d'] as const;
/** Timeframes that strategies and backtests may name. */
export const TIMEFRAMES = ['15m', '1h', '4h', '1d'] as const;
export type StoredTimeframe = (typeof STORED_TIMEFRAMES)[number];
export type Timeframe = (typeof TIMEFRAMES)[number];

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
export const TIMEFRAME_MS: Readonly<Record<StoredTimeframe, number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '1d': DAY_MS,
};

/**
 * One series, columns of equal `length`, oldest bar first. Times are one timeframe apart, or several: imports refuse
 * others. Prices are finite and not negative. The columns are views on one shared buffer; nothing may write to them.
 */
export interface Bars {
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
  readonly length: number;
  /** Bar open, ms UTC. A bar closes at time + TIMEFRAME_MS[timeframe]. */
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
export type CalendarBasis = 'given' | 'traded_every_day' | 'closed_days' | 'closed_nights' | 'counted_days' | 'assumed';

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
}

/** Everything one run may read: the base bars, finer ones for drilling, and other instruments and timeframes. */
export interface Market {
  readonly base: Bars;
  readonly instrument: Instrument;
  /** Bars of the base instrument at its finest imported timeframe below the base; undefined: nothing to drill into. */
  readonly fine: Bars | undefined;
  /** Bars of any series, resampled (and kept) when only finer ones are stored; undefined: not available. */
  bars(symbol: string, timeframe: StoredTimeframe): Bars | undefined;
}

/** Everything a portfolio run may read: the market of each instrument, in the order of the list. */
export interface Universe {
  readonly instruments: readonly Market[];
}
