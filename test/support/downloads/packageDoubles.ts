// Stand-ins for ccxt and yahoo-finance2: the members that downloads use, as the manuals of the packages describe them,
// over real requests. The packages are optional and large; test:long uses them instead where they are installed.
import type { CcxtModule } from '../../../src/market/download/ccxtSource.ts';
import type { LoadPackage } from '../../../src/market/download/optionalPackage.ts';
import type { YahooModule } from '../../../src/market/download/yahooSource.ts';

class ExchangeError extends Error {}
class NetworkError extends Error {}

const STATUS_FROM_WHICH_ANSWERS_ARE_ERRORS = 400;
const TEMPORARY = new Set([418, 429, 500, 502, 503, 504]);

class Binance {
  readonly has = { fetchOHLCV: true, fetchTime: true };
  readonly timeframes = { '1m': '1m', '5m': '5m', '1h': '1h', '1d': '1d', '1M': '1M' };
  readonly urls = { api: { public: 'https://api.binance.com/api/v3', fapiPublic: 'https://fapi.binance.com/fapi/v1' } };
  readonly options = { fetchMarkets: { types: ['spot', 'linear', 'inverse'] } };
  readonly features = { spot: { fetchOHLCV: { limit: 1000 } } };
  readonly precisionMode = 4;
  last_json_response: unknown;
  last_response_headers: Record<string, string> | undefined;
  symbols: string[] = [];
  readonly #markets = new Map<
    string,
    { readonly symbol: string; readonly id: string; readonly base: string; readonly quote: string }
  >();

  async loadMarkets(): Promise<void> {
    if (this.options.fetchMarkets.types.join() !== 'spot') throw new ExchangeError('only spot is served here');
    const { symbols } = (await this.#get('exchangeInfo')) as {
      symbols: { symbol: string; baseAsset: string; quoteAsset: string; filters: Record<string, string>[] }[];
    };
    for (const { symbol: id, baseAsset: base, quoteAsset: quote, filters } of symbols) {
      const precision = { price: Number(filters[0].tickSize), amount: Number(filters[1].stepSize) };
      const limits = { cost: { min: Number(filters[2].minNotional) } };
      const market = { symbol: `${base}/${quote}`, id, base, quote, precision, limits };
      this.#markets.set(market.symbol, market).set(id, market);
    }
    this.symbols = [...this.#markets.values()].map(({ symbol }) => symbol);
  }

  market(symbol: string): unknown {
    const market = this.#markets.get(symbol);
    if (market === undefined) throw new ExchangeError(`binance does not have market symbol ${symbol}`);
    return market;
  }

  async fetchTime(): Promise<number> {
    return ((await this.#get('time')) as { serverTime: number }).serverTime;
  }

  async fetchOHLCV(symbol: string, interval: string, since: number, limit: number): Promise<unknown> {
    const { id } = this.#markets.get(symbol)!;
    const query = new URLSearchParams({ symbol: id, interval, limit: String(limit), startTime: String(since) });
    const rows = await this.#get(`klines?${query.toString()}`);
    return Array.isArray(rows) ? rows.map((row: string[]) => [0, 1, 2, 3, 4, 5].map((at) => Number(row[at]))) : [];
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(`${this.urls.api.public}/${path}`).catch((error: Error) => {
      throw new NetworkError(`binance GET ${path} fetch failed: ${error.message}`);
    });
    const text = await response.text();
    this.last_response_headers = { 'Retry-After': response.headers.get('retry-after') ?? '' };
    if (response.status >= STATUS_FROM_WHICH_ANSWERS_ARE_ERRORS)
      throw TEMPORARY.has(response.status)
        ? new NetworkError(`binance ${response.status} ${response.statusText} ${text}`)
        : new ExchangeError(`binance ${text}`);
    this.last_json_response = undefined;
    try {
      return (this.last_json_response = JSON.parse(text));
    } catch {
      return text;
    }
  }
}

const ccxt = { exchanges: ['binance', 'kraken'], ExchangeError, TICK_SIZE: 4, binance: Binance };

class YahooFinance {
  readonly #fetch: typeof fetch;
  constructor(options: { readonly fetch: typeof fetch }) {
    this.#fetch = options.fetch;
  }

  async chart(symbol: string, query: Record<string, string | number>): Promise<unknown> {
    const text = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
    const asked = new URLSearchParams(text).toString();
    const address = `https://query2.finance.yahoo.com/v8/finance/chart/${symbol}?${asked}`;
    const { chart } = JSON.parse(await (await this.#fetch(address)).text());
    if (chart.error !== null) throw new Error(chart.error.description);
    const [{ meta, timestamp = [], indicators, events }] = chart.result;
    const [quote] = indicators.quote;
    const adjclose = indicators.adjclose?.[0].adjclose;
    const quotes = timestamp.map((time: number, at: number) => ({
      date: new Date(time * 1000),
      ...Object.fromEntries(['open', 'high', 'low', 'close', 'volume'].map((name) => [name, quote[name][at]])),
      ...(adjclose && { adjclose: adjclose[at] }),
    }));
    const listed = events && {
      dividends: Object.values(events.dividends ?? {}),
      splits: Object.values(events.splits ?? {}),
    };
    return { meta, quotes, ...(listed && { events: listed }) };
  }
}

interface DownloadPackages {
  readonly ccxt: CcxtModule;
  readonly yahoo: YahooModule;
}

export const DOUBLES: DownloadPackages = {
  // The doubles have the documented members, and no more.
  ccxt: { default: ccxt },
  yahoo: { default: YahooFinance } as unknown as YahooModule,
};

/** The packages themselves; null if one is not installed. */
export async function installedPackages(load: LoadPackage = (name) => import(name)): Promise<DownloadPackages | null> {
  try {
    return { ccxt: (await load('ccxt')) as CcxtModule, yahoo: (await load('yahoo-finance2')) as YahooModule };
  } catch {
    return null;
  }
}
