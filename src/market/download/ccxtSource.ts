// Crypto exchanges as bar sources, through the package ccxt.
import { TIMEFRAMES, TIMEFRAME_MS } from '../../engine/bars/bars.ts';
import type { Timeframe } from '../../engine/bars/bars.ts';
import { closeOf, isIntraday, shortestMs } from '../../engine/bars/timeframes.ts';
import { refuse } from '../import/importError.ts';
import type { InstrumentFields } from '../instrument.ts';
import { similarSymbol } from '../similarSymbol.ts';
import { retryAfterMs, SourceError } from './barSource.ts';
import type { BarSource, SourcePage } from './barSource.ts';

/** The part of ccxt that downloads use, by its manual. */
export interface CcxtModule {
  readonly default: Ccxt;
}

interface Ccxt {
  readonly exchanges: readonly string[];
  /** Errors that another try does not mend. */
  readonly ExchangeError: abstract new () => Error;
  readonly TICK_SIZE: number;
  readonly [id: string]: unknown;
}

type CcxtClass = new (options: object) => CcxtExchange;

interface CcxtExchange {
  readonly has: Readonly<Record<string, unknown>>;
  readonly timeframes?: Readonly<Record<string, unknown>>;
  readonly urls: { api: unknown };
  readonly options: Record<string, unknown>;
  readonly features?: { readonly spot?: { readonly fetchOHLCV?: { readonly limit?: number } } };
  readonly precisionMode: number;
  last_response_headers?: Readonly<Record<string, string>> | undefined;
  /** undefined: the last answer was not JSON. */
  readonly last_json_response?: unknown;
  readonly symbols: readonly string[];
  loadMarkets(): Promise<unknown>;
  market(symbol: string): CcxtMarket;
  fetchTime(): Promise<number | undefined>;
  fetchOHLCV(symbol: string, timeframe: string, since: number, limit?: number): Promise<readonly CcxtRow[]>;
}

type CcxtRow = readonly (number | undefined)[];

interface CcxtMarket {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly precision?: { readonly price?: number; readonly amount?: number };
  readonly limits?: { readonly cost?: { readonly min?: number } };
}

interface CcxtOptions {
  readonly exchange: string;
  /** What will be asked for: an exchange lists its derivatives only if one of them is wanted. */
  readonly symbols: readonly string[];
  /** Asked in place of the address of the exchange, with the same paths. */
  readonly url?: string;
}

const COLUMNS = ['time', 'open', 'high', 'low', 'close', 'volume'];
const TIMEOUT_MS = 30_000;
/** Bars of one page, when ccxt does not know the limit of the exchange. */
const PAGE_BARS = 500;
const MESSAGE_CHARACTERS = 300;

/** @throws MarketDataError OPTION_INVALID when ccxt does not have the exchange */
export function ccxtSource({ default: ccxt }: CcxtModule, { exchange: id, symbols, url }: CcxtOptions): BarSource {
  const exchange = makeExchange(ccxt, id);
  if (url !== undefined) exchange.urls.api = atAddress(exchange.urls.api, url);
  if (symbols.every((symbol) => !symbol.includes(':'))) listSpotOnly(exchange.options);
  const ask = async <Answer>(request: () => Promise<Answer>): Promise<Answer> => {
    // Of the answer before, if this request gets none.
    exchange.last_response_headers = undefined;
    try {
      return await request();
    } catch (error) {
      throw asSourceError(id, error, error instanceof ccxt.ExchangeError, exchange.last_response_headers);
    }
  };
  const timeframes = TIMEFRAMES.filter((timeframe) => Object.hasOwn(exchange.timeframes ?? {}, timeframe));
  return {
    name: id,
    timeframes,
    now: async () =>
      exchange.has.fetchTime === true ? ((await ask(() => exchange.fetchTime())) ?? Date.now()) : Date.now(),
    market: async (symbol, timeframe) => {
      await ask(() => exchange.loadMarkets());
      const market = findMarket(exchange, symbol, id);
      return {
        sourceSymbol: market.symbol,
        symbol: storedSymbol(market.symbol),
        timeframe,
        columns: COLUMNS,
        earliest: null,
        instrument: instrumentOf(market, exchange.precisionMode === ccxt.TICK_SIZE),
        page: (from, to) => ask(() => pageOf(exchange, market.symbol, timeframe, from, to)),
      };
    },
  };
}

function makeExchange(ccxt: Ccxt, id: string): CcxtExchange {
  if (!ccxt.exchanges.includes(id)) {
    const similar = similarSymbol(id, ccxt.exchanges);
    const hint = similar === undefined ? `It has ${ccxt.exchanges.join(', ')}.` : `Did you mean ${similar.symbol}?`;
    refuse('OPTION_INVALID', `ccxt has no exchange "${id}". ${hint}`);
  }
  const exchange = new (ccxt[id] as CcxtClass)({
    enableRateLimit: true,
    enableLastJsonResponse: true,
    timeout: TIMEOUT_MS,
  });
  if (exchange.has.fetchOHLCV !== true)
    refuse('OPTION_INVALID', `${id} gives no bars through ccxt. Name another exchange that has the symbol.`);
  return exchange;
}

/** The addresses of an exchange, which may be nested, at another host. */
function atAddress(api: unknown, url: string): unknown {
  if (typeof api === 'string') return api.replace(/^https?:\/\/[^/]+/, url.replace(/\/+$/, ''));
  if (typeof api !== 'object' || api === null) return api;
  return Object.fromEntries(Object.entries(api).map(([name, each]) => [name, atAddress(each, url)]));
}

/** Spares the requests for derivatives, which some networks may not ask for. */
function listSpotOnly(options: Record<string, unknown>): void {
  const { fetchMarkets } = options;
  if (typeof fetchMarkets !== 'object' || fetchMarkets === null || !('types' in fetchMarkets)) return;
  const { types } = fetchMarkets;
  if (Array.isArray(types) && types.includes('spot')) options.fetchMarkets = { ...fetchMarkets, types: ['spot'] };
}

/** By ccxt's name or by the exchange's own: BTC/USDT or BTCUSDT. @throws SourceError */
function findMarket(exchange: CcxtExchange, symbol: string, id: string): CcxtMarket {
  try {
    return exchange.market(symbol);
  } catch {
    const similar = similarSymbol(symbol, exchange.symbols);
    const hint = similar === undefined ? 'Write it as ccxt does, such as BTC/USDT.' : `Did you mean ${similar.symbol}?`;
    throw new SourceError(`${id} has no symbol ${symbol}. ${hint}`);
  }
}

/** BTC/USDT is BTCUSDT, the perpetual swap BTC/USDT:USDT BTCUSDT-PERP, and BTC/USDT:USDT-240329 BTCUSDT-240329. */
export function storedSymbol(symbol: string): string {
  const [pair, settled] = symbol.split(':');
  const plain = pair.replaceAll('/', '');
  if (settled === undefined) return plain;
  const [, ...contract] = settled.split('-');
  return [plain, ...(contract.length === 0 ? ['PERP'] : contract)].join('-');
}

function instrumentOf({ base, quote, precision, limits }: CcxtMarket, isTickSize: boolean): InstrumentFields {
  const { price, amount } = isTickSize ? (precision ?? {}) : {};
  const minimum = limits?.cost?.min;
  return {
    base,
    quote,
    ...(price !== undefined && price > 0 && { tickSize: price }),
    ...(amount !== undefined && amount > 0 && { qtyStep: amount }),
    ...(minimum !== undefined && minimum > 0 && { minNotional: minimum }),
  };
}

async function pageOf(
  exchange: CcxtExchange,
  symbol: string,
  timeframe: Timeframe,
  from: number,
  to: number,
): Promise<SourcePage> {
  const limit = exchange.features?.spot?.fetchOHLCV?.limit ?? PAGE_BARS;
  const ask = (): Promise<readonly (readonly number[])[]> => barsOf(exchange, symbol, timeframe, from, limit);
  const first = await ask();
  // An empty answer ends the series or is a hole of it, so it must not be a mishap.
  const all = first.length > 0 ? first : await ask();
  const last = all.at(-1)?.[0];
  if (last === undefined)
    return { rows: [], next: await afterHole(exchange, symbol, timeframe, from + limit * shortestMs(timeframe), to) };
  const rows = all.filter(([time]) => closeOf(timeframe, time) <= to);
  const next = closeOf(timeframe, last);
  // Unless the bar after it has not ended.
  return { rows, next: closeOf(timeframe, next) <= to ? next : null };
}

/** Bars that open at `from` or later, oldest first. @throws SourceError when the answer is something else */
async function barsOf(
  exchange: CcxtExchange,
  symbol: string,
  timeframe: string,
  from: number,
  limit: number,
): Promise<readonly (readonly number[])[]> {
  const given = await exchange.fetchOHLCV(symbol, timeframe, from, limit);
  const rows = given.map((row) => COLUMNS.map((_, at) => row[at] ?? NaN));
  // ccxt makes no bars of a page in HTML; an exchange without bars answers with an empty list.
  if (exchange.last_json_response === undefined || rows.some(([time]) => !Number.isSafeInteger(time)))
    throw new SourceError(`An answer of the exchange is not a list of ${symbol} bars.`, { isTemporary: true });
  return rows.filter(([time]) => time >= from).toSorted((a, b) => a[0] - b[0]);
}

/**
 * Where to go on after a page without bars: exchanges that answer windows of time give such pages before a symbol was
 * listed and while they were down. Days are asked for, which are fewer.
 */
async function afterHole(
  exchange: CcxtExchange,
  symbol: string,
  timeframe: Timeframe,
  next: number,
  to: number,
): Promise<number | null> {
  if (next >= to) return null;
  if (!isIntraday(timeframe) || !Object.hasOwn(exchange.timeframes ?? {}, '1d')) return next;
  const limit = exchange.features?.spot?.fetchOHLCV?.limit ?? PAGE_BARS;
  for (let at = next - (next % TIMEFRAME_MS['1d']); at < to; at += limit * TIMEFRAME_MS['1d']) {
    const [day] = await barsOf(exchange, symbol, '1d', at, limit);
    if (day !== undefined) return Math.max(next, day[0]);
  }
  return null;
}

function asSourceError(
  id: string,
  error: unknown,
  isFinal: boolean,
  headers: Readonly<Record<string, string>> | undefined,
): SourceError {
  if (error instanceof SourceError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const short = text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)} …` : text;
  const isRestricted = /restricted location|not available in your (?:country|region)/i.test(text);
  if (isRestricted)
    return new SourceError(
      `${id} does not answer from where you are: ${short} Name another exchange, or a mirror with --url, such as ` +
        'https://data-api.binance.vision for binance.',
    );
  return new SourceError(`${id} answered with an error: ${short}`, {
    isTemporary: !isFinal,
    retryAfterMs: isFinal ? null : retryAfterMs(headers?.['Retry-After'], Date.now()),
  });
}
