// A local server that speaks the wire formats of Binance and of Yahoo's charts, and fails in their ways when told to.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** time, open, high, low, close, volume; null where the vendor has no value. */
export type WireBar = readonly [number, ...(number | null)[]];

/** What happens to one request for bars in place of an answer. */
export type Fault = 'rate limit' | 'ban' | 'long ban' | 'server error' | 'cut' | 'half an answer' | 'empty answer';

interface LocalExchange extends AsyncDisposable {
  readonly url: string;
  /** The source of truth: bars by symbol, BTCUSDT or SPY. */
  readonly bars: Map<string, readonly WireBar[]>;
  /** Faults of the next requests for bars; null: an answer. */
  readonly faults: (Fault | null)[];
  /** The clock of the exchange. */
  now: number;
  /** Requests for bars that came. */
  readonly asked: URL[];
}

const STEPS: Readonly<Record<string, number>> = {
  '1m': 60_000,
  '5m': 300_000,
  '60m': 3_600_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
};

export async function startLocalExchange(): Promise<LocalExchange> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://local');
    if (/klines|chart/.test(url.pathname)) {
      exchange.asked.push(url);
      const fault = exchange.faults.shift() ?? null;
      if (fault !== null && fail(fault, response)) return;
    }
    const body = url.pathname.startsWith('/api/v3/') ? binance(url, exchange) : yahoo(url, request, response, exchange);
    send(response, body.status ?? 200, body.json);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exchange: LocalExchange = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bars: new Map(),
    faults: [],
    now: 0,
    asked: [],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return exchange;
}

/** @returns whether the request was answered */
function fail(fault: Fault, response: ServerResponse): boolean {
  switch (fault) {
    case 'rate limit':
      return send(response, 429, { code: -1003, msg: 'Too many requests.' }, { 'retry-after': '3' });
    case 'ban':
      return send(response, 418, { code: -1003, msg: 'Way too many requests; IP banned.' }, { 'retry-after': '120' });
    case 'long ban':
      return send(response, 418, { code: -1003, msg: 'Way too many requests; IP banned.' }, { 'retry-after': '7200' });
    case 'server error':
      response.writeHead(503, { 'content-type': 'text/html' }).end('<html>Service Unavailable</html>');
      return true;
    case 'cut':
      // Fewer bytes than announced, then the end of the connection.
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' });
      response.write('[[1577836800000,"7195.2400', () => response.destroy());
      return true;
    case 'half an answer':
      response.writeHead(200, { 'content-type': 'application/json' }).end('[[1577836800000,"7195.2400');
      return true;
    case 'empty answer':
      return send(response, 200, []);
  }
}

function send(response: ServerResponse, status: number, json: unknown, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
  return true;
}

interface Answer {
  readonly status?: number;
  readonly json: unknown;
}

function binance({ pathname, searchParams }: URL, { bars, now }: LocalExchange): Answer {
  if (pathname === '/api/v3/time') return { json: { serverTime: now } };
  if (pathname === '/api/v3/exchangeInfo')
    return { json: { timezone: 'UTC', symbols: [...bars.keys()].map(binanceSymbol) } };
  const found = bars.get(searchParams.get('symbol') ?? '');
  if (found === undefined) return { status: 400, json: { code: -1121, msg: 'Invalid symbol.' } };
  const [start, end] = [Number(searchParams.get('startTime') ?? 0), Number(searchParams.get('endTime') ?? Infinity)];
  const limit = Math.min(1000, Number(searchParams.get('limit') ?? 500));
  const interval = searchParams.get('interval')!;
  const rows = resampled(found, interval).filter(([time]) => time >= start && time <= end && time <= now);
  return {
    json: rows
      .slice(0, limit)
      .map(([time, ...values]) => [
        time,
        ...values.map((value) => (value ?? 0).toFixed(8)),
        time + STEPS[interval] - 1,
        '0.00000000',
        10,
        '0.00000000',
        '0.00000000',
        '0',
      ]),
  };
}

/** Bars of days out of finer ones, for a client that asks when a symbol was listed. */
function resampled(bars: readonly WireBar[], interval: string): readonly WireBar[] {
  if (interval !== '1d' || bars.length < 2 || bars[1][0] - bars[0][0] >= STEPS['1d']) return bars;
  const days = Map.groupBy(bars, ([time]) => Math.floor(time / STEPS['1d']) * STEPS['1d']);
  return [...days].map(([day, [first]]) => [day, ...first.slice(1)]);
}

const binanceSymbol = (symbol: string): object => ({
  symbol,
  status: 'TRADING',
  baseAsset: symbol.slice(0, -4),
  baseAssetPrecision: 8,
  quoteAsset: symbol.slice(-4),
  quotePrecision: 8,
  quoteAssetPrecision: 8,
  orderTypes: ['LIMIT', 'MARKET'],
  isSpotTradingAllowed: true,
  isMarginTradingAllowed: false,
  filters: [
    { filterType: 'PRICE_FILTER', minPrice: '0.01000000', maxPrice: '1000000.00000000', tickSize: '0.01000000' },
    { filterType: 'LOT_SIZE', minQty: '0.00001000', maxQty: '9000.00000000', stepSize: '0.00001000' },
    { filterType: 'NOTIONAL', minNotional: '5.00000000', applyMinToMarket: true, avgPriceMins: 5 },
  ],
  permissions: [],
  permissionSets: [['SPOT']],
});

/** Sets a cookie with each page, and refuses a crumb that it did not give. */
function yahoo(url: URL, request: IncomingMessage, response: ServerResponse, { bars, now }: LocalExchange): Answer {
  const { pathname, searchParams } = url;
  response.setHeader('set-cookie', 'A3=local; Max-Age=31557600; Path=/; Secure');
  if (pathname === '/v1/test/getcrumb') return { json: 'crumb' };
  const crumb = searchParams.get('crumb');
  if (crumb !== null && (crumb !== 'crumb' || !request.headers.cookie?.includes('A3=local')))
    return {
      status: 401,
      json: { finance: { result: null, error: { code: 'Unauthorized', description: 'Invalid Crumb' } } },
    };
  const symbol = decodeURIComponent(pathname.split('/').at(-1)!);
  const found = bars.get(symbol);
  if (found === undefined) return chartError(404, 'Not Found', 'No data found, symbol may be delisted');
  const [from, to] = ['period1', 'period2'].map((name) => Number(searchParams.get(name)) * 1000);
  const interval = searchParams.get('interval')!;
  const isDaily = interval === '1d';
  if (interval === '1m' && to - from > 8 * STEPS['1d'])
    return chartError(422, 'Unprocessable Entity', '1m data not available: only 8 days worth of 1m data per request.');
  const rows = found.filter(([time]) => time >= from && time < to && time <= now);
  const column = (at: number): (number | null)[] => rows.map((row) => row[at] ?? null);
  const [open, high, low, close, volume] = [1, 2, 3, 4, 5].map(column);
  const first = rows[0]?.[0] ?? from;
  const result = {
    meta: {
      currency: 'USD',
      symbol,
      exchangeName: 'PCX',
      instrumentType: 'ETF',
      firstTradeDate: found[0][0] / 1000,
      regularMarketTime: now / 1000,
      gmtoffset: -18_000,
      timezone: 'EST',
      exchangeTimezoneName: 'America/New_York',
      dataGranularity: interval,
      range: '',
      validRanges: ['1d', '5d'],
    },
    ...(rows.length > 0 && { timestamp: rows.map(([time]) => time / 1000) }),
    ...(rows.length > 0 &&
      isDaily && {
        events: { dividends: { [first / 1000]: { amount: 1.5, date: first / 1000 } } },
      }),
    indicators: {
      quote: [rows.length > 0 ? { open, high, low, close, volume } : {}],
      ...(isDaily && { adjclose: [{ adjclose: close.map((value) => value && value / 2) }] }),
    },
  };
  return { json: { chart: { result: [result], error: null } } };
}

const chartError = (status: number, code: string, description: string): Answer => ({
  status,
  json: { chart: { result: null, error: { code, description } } },
});
