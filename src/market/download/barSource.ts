// Bar sources: an exchange or a data vendor that is asked for bars page by page, whatever package speaks to it.
import type { Timeframe } from '../../engine/bars/bars.ts';
import type { InstrumentFields } from '../instrument.ts';

export interface BarSource {
  /** As messages show it: binance, Yahoo. */
  readonly name: string;
  /** The stored timeframes that the source has, finest first. */
  readonly timeframes: readonly Timeframe[];
  /** The clock of the source, or of this machine, ms UTC: a bar that has not ended by it is not stored. */
  now(): Promise<number>;
  /** @throws SourceError when the source does not have the symbol */
  market(symbol: string, timeframe: Timeframe): Promise<SourceMarket>;
}

/** One symbol of a source, at one timeframe. */
export interface SourceMarket {
  /** As the source names it: BTC/USDT. */
  readonly sourceSymbol: string;
  /** The symbol that the bars are stored under: BTCUSDT. */
  readonly symbol: string;
  readonly timeframe: Timeframe;
  /** Names of the cells of a row, the first of which is the time in ms UTC, as an import reads them. */
  readonly columns: readonly string[];
  /** The zone of the trading days, for sources that stamp daily bars with their session. */
  readonly timezone?: string;
  /** The source does not give older bars of this timeframe; null: it gives all that it has. */
  readonly earliest: number | null;
  /** What the source says about the instrument. */
  readonly instrument: InstrumentFields;
  /** Rows of bars that open in [from, to), oldest first. @throws SourceError */
  page(from: number, to: number): Promise<SourcePage>;
}

/** One cell per column; NaN where the source has no value. */
export type SourceRow = readonly number[];

export interface SourcePage {
  readonly rows: readonly SourceRow[];
  /** Where the next page begins; null when there are no more bars before `to`. */
  readonly next: number | null;
}

/** A request that a source did not answer with bars. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;
  /** How long the source asks to wait; null if it does not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { isTemporary = false, retryAfterMs = null }: Partial<SourceErrorFields> = {}) {
    super(message);
    this.isTemporary = isTemporary;
    this.retryAfterMs = retryAfterMs;
  }
}

interface SourceErrorFields {
  readonly isTemporary: boolean;
  readonly retryAfterMs: number | null;
}

/** The wait that a Retry-After header asks for, in seconds or as a date; null if it has neither. */
export function retryAfterMs(header: string | null | undefined, now: number): number | null {
  if (header === null || header === undefined || header.trim() === '') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
