// Yahoo Finance as a bar source, through the package yahoo-finance2.
import { DAY_MS } from '../../engine/bars/bars.ts';
import type { Timeframe } from '../../engine/bars/bars.ts';
import { closeOf } from '../../engine/bars/timeframes.ts';
import { clockReadings } from '../import/zones.ts';
import { retryAfterMs, SourceError } from './barSource.ts';
import type { BarSource, SourcePage } from './barSource.ts';

/** The part of yahoo-finance2 that downloads use, by its manual. */
export interface YahooModule {
  readonly default: new (options: object) => YahooClient;
}

interface YahooClient {
  chart(symbol: string, query: object, moduleOptions: object): Promise<YahooChart>;
}

interface YahooChart {
  readonly meta: { readonly exchangeTimezoneName?: string; readonly firstTradeDate?: Date | number | null };
  readonly quotes: readonly YahooQuote[];
  readonly events?: { readonly dividends?: readonly YahooEvent[]; readonly splits?: readonly YahooEvent[] };
}

type Missing = null | undefined;

interface YahooQuote {
  readonly date: Date;
  readonly open: number | Missing;
  readonly high: number | Missing;
  readonly low: number | Missing;
  readonly close: number | Missing;
  readonly volume: number | Missing;
  readonly adjclose?: number | Missing;
}

interface YahooEvent {
  readonly date: Date | number;
  readonly amount?: number;
  readonly numerator?: number;
  readonly denominator?: number;
}

/** How Yahoo names a timeframe, how far back it goes, and how much of it one request may ask for. */
interface Interval {
  readonly name: string;
  readonly keptMs: number;
  readonly pageMs: number;
}

const INTRADAY_COLUMNS = ['time', 'Open', 'High', 'Low', 'Close', 'Volume'];
const DAILY_COLUMNS = [...INTRADAY_COLUMNS, 'Adj Close', 'Dividends', 'Stock Splits'];
/** Yahoo counts its limits to the second. */
const MARGIN_MS = 3_600_000;
const days = (count: number): number => count * DAY_MS;

/** Weeks and months are left to resampling: those of Yahoo begin on days of the exchange, and the last is open. */
const INTERVALS: Readonly<Partial<Record<Timeframe, Interval>>> = {
  '1m': { name: '1m', keptMs: days(30), pageMs: days(7) },
  '5m': { name: '5m', keptMs: days(60), pageMs: days(59) },
  '15m': { name: '15m', keptMs: days(60), pageMs: days(59) },
  '30m': { name: '30m', keptMs: days(60), pageMs: days(59) },
  '1h': { name: '60m', keptMs: days(730), pageMs: days(729) },
  '1d': { name: '1d', keptMs: Infinity, pageMs: Infinity },
};
/** Older than any quote of Yahoo. */
const FIRST_DAY = Date.UTC(1927, 0, 1);

/** @param url asked in place of Yahoo's addresses, with the same paths */
export function yahooSource({ default: YahooFinance }: YahooModule, url?: string): BarSource {
  const client = new YahooFinance({
    fetch: fetchFrom(url),
    suppressNotices: ['yahooSurvey'],
    versionCheck: false,
    queue: { concurrency: 1 },
    validation: { logErrors: false, logOptionsErrors: false },
  });
  const chart = async (symbol: string, interval: Interval, from: number, to: number): Promise<YahooChart> => {
    const query = {
      period1: seconds(from),
      period2: seconds(to),
      interval: interval.name,
      includePrePost: false,
      events: 'div|split',
    };
    try {
      // Yahoo adds members to its answers, of which the package does not know.
      return await client.chart(symbol, query, { validateResult: false });
    } catch (error) {
      if (error instanceof SourceError) throw error;
      throw new SourceError(`Yahoo does not give bars of ${symbol}: ${(error as Error).message}`);
    }
  };
  return {
    name: 'yahoo',
    timeframes: Object.keys(INTERVALS) as Timeframe[],
    now: async () => Date.now(),
    market: async (symbol, timeframe) => {
      const interval = INTERVALS[timeframe]!;
      const now = Date.now();
      const { meta } = await chart(symbol, INTERVALS['1d']!, now - days(7), now);
      const timezone = meta.exchangeTimezoneName ?? 'UTC';
      const first =
        meta.firstTradeDate === null || meta.firstTradeDate === undefined ? FIRST_DAY : msOf(meta.firstTradeDate);
      const kept = now - interval.keptMs + MARGIN_MS;
      return {
        sourceSymbol: symbol,
        symbol: symbol.toUpperCase(),
        timeframe,
        columns: timeframe === '1d' ? DAILY_COLUMNS : INTRADAY_COLUMNS,
        timezone,
        earliest:
          timeframe === '1d' ? Math.floor(first / DAY_MS) * DAY_MS : Math.max(first, Math.ceil(kept / DAY_MS) * DAY_MS),
        instrument: {},
        page: async (from, to) => {
          const end = Math.min(to, from + interval.pageMs);
          // A session may begin the evening before its day, and a day asked for twice does no harm.
          const begin = timeframe === '1d' ? from - DAY_MS : from;
          const found = await chart(symbol, interval, begin, end);
          return { rows: rowsOf(found, timeframe, timezone, to), next: end < to ? end : null };
        },
      };
    },
  };
}

function rowsOf(chart: YahooChart, timeframe: Timeframe, timezone: string, to: number): SourcePage['rows'] {
  const quotes = chart.quotes.toSorted((a, b) => a.date.getTime() - b.date.getTime());
  const price = (value: number | Missing): number => value ?? NaN;
  const bars = quotes.map((quote) => [
    quote.date.getTime(),
    ...[quote.open, quote.high, quote.low, quote.close, quote.volume].map(price),
  ]);
  if (timeframe !== '1d') return bars.filter(([time]) => closeOf(timeframe, time) <= to);
  const dayOf = (times: readonly number[]): number[] =>
    [...clockReadings(Float64Array.from(times), timezone)].map((clock) => Math.floor(clock / DAY_MS) * DAY_MS);
  const barDays = dayOf(bars.map(([time]) => time));
  const byDay = (
    events: readonly YahooEvent[] | undefined,
    amount: (event: YahooEvent) => number,
  ): Map<number, number> => {
    const eventDays = dayOf((events ?? []).map(({ date }) => msOf(date)));
    return new Map((events ?? []).map((event, at) => [eventDays[at], amount(event)]));
  };
  const dividends = byDay(chart.events?.dividends, ({ amount = 0 }) => amount);
  const splits = byDay(chart.events?.splits, ({ numerator = 1, denominator = 1 }) => numerator / denominator);
  return bars.flatMap((bar, at) => {
    const day = barDays[at];
    if (day + DAY_MS > to) return [];
    return [[...bar, price(quotes[at].adjclose), dividends.get(day) ?? 0, splits.get(day) ?? 0]];
  });
}

const seconds = (ms: number): number => Math.floor(ms / 1000);
const msOf = (date: Date | number): number => (typeof date === 'number' ? date * 1000 : date.getTime());

/** The `fetch` that the package is given: it says which failures are temporary, and asks another address if wanted. */
function fetchFrom(url: string | undefined): typeof fetch {
  return async (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    const address = url === undefined ? asked : new URL(url.replace(/\/+$/, '') + asked.pathname + asked.search);
    let response: Response;
    let body: string;
    try {
      response = await fetch(address, init);
      body = await response.text();
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
      throw new SourceError(`Yahoo did not answer: ${reason}.`, { isTemporary: true });
    }
    const { status, statusText } = response;
    if (status === 429 || status >= 500)
      throw new SourceError(`Yahoo answered ${status} ${statusText}.`, {
        isTemporary: true,
        retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
      });
    if (response.ok && asked.pathname.includes('/finance/chart/') && !isJson(body))
      throw new SourceError('An answer of Yahoo is not JSON.', { isTemporary: true });
    return Object.defineProperty(response, 'text', { value: async () => body });
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
