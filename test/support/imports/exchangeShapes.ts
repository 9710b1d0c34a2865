// The import table: answers of exchanges and services in JSON, as their documentation shows them.
import { DAYS, day, MINUTES, ohlcv, stamp } from './sourceBars.ts';
import type { SourceBar } from './sourceBars.ts';
import type { ImportSection, ImportShape } from './importTable.ts';

const HOUR = 3_600_000;
const texts = (bar: SourceBar): string[] => ohlcv(bar).map(String);
const middle = ({ high, low }: SourceBar): number => (high + low) / 2;
const money = ({ volume, close }: SourceBar): number => volume * close;
const objects = (bars: readonly SourceBar[], row: (bar: SourceBar) => object): object[] => bars.map(row);
const answer = (shape: string, json: unknown, more: Partial<ImportShape> = {}): ImportShape => ({
  shape,
  file: JSON.stringify(json),
  bars: MINUTES,
  ...more,
});
const oanda = (bar: SourceBar, shift = 0): object => ({
  o: String(bar.open + shift),
  h: String(bar.high + shift),
  l: String(bar.low + shift),
  c: String(bar.close + shift),
});
const nanoseconds = (time: number): string => new Date(time).toISOString().replace('000Z', '000000000Z');
const latestFirst = MINUTES.toReversed();
/** A bar that had just begun when the answer was given. */
const NEXT: SourceBar = { ...MINUTES[0], time: MINUTES.at(-1)!.time + 60_000 };
const COLUMNS_OF = (name: 'open' | 'high' | 'low' | 'close' | 'volume' | 'time'): number[] =>
  MINUTES.map((bar) => bar[name]);
const GATE = MINUTES.map((bar) =>
  [bar.time / 1000, money(bar), bar.close, bar.high, bar.low, bar.open, bar.volume].map(String),
);

export const EXCHANGES: ImportSection = {
  title: 'Answers of exchanges and services',
  shapes: [
    answer(
      'OANDA, whose last candle is open',
      {
        instrument: 'EUR_USD',
        granularity: 'M1',
        candles: [
          ...objects(MINUTES, (bar) => ({
            complete: true,
            volume: bar.volume,
            time: nanoseconds(bar.time),
            mid: oanda(bar),
          })),
          { complete: false, volume: 1, time: nanoseconds(MINUTES.at(-1)!.time + 60_000), mid: oanda(MINUTES[0]) },
        ],
      },
      { says: 'not complete' },
    ),
    answer(
      'OANDA, bid and ask in Unix time',
      {
        candles: objects(MINUTES, (bar) => ({
          complete: true,
          volume: bar.volume,
          time: `${bar.time / 1000}.000000000`,
          bid: oanda(bar),
          ask: oanda(bar, 1),
        })),
      },
      { says: 'Prices are those of "bid"' },
    ),
    answer(
      'Kraken, whose last bar is open',
      {
        error: [],
        result: {
          XXBTZUSD: [...MINUTES, NEXT].map((bar) => [
            bar.time / 1000,
            ...texts(bar).slice(0, 4),
            String(middle(bar)),
            String(bar.volume),
            5,
          ]),
          last: MINUTES.at(-1)!.time / 1000,
        },
      },
      { says: 'not complete' },
    ),
    answer(
      'Coinbase',
      latestFirst.map((bar) => [bar.time / 1000, bar.low, bar.high, bar.open, bar.close, bar.volume]),
    ),
    answer(
      'Binance',
      MINUTES.map((bar) => [bar.time, ...texts(bar), bar.time + 59_999, '1', 2, '3', '4', '0']),
    ),
    answer('Bybit', {
      retCode: 0,
      retMsg: 'OK',
      result: {
        category: 'spot',
        symbol: 'BTCUSDT',
        list: latestFirst.map((bar) => [String(bar.time), ...texts(bar), String(money(bar))]),
      },
      time: 1_672_025_956_592,
    }),
    answer(
      'OKX, whose last bar is open',
      {
        code: '0',
        msg: '',
        data: [NEXT, ...latestFirst].map((bar) => [
          String(bar.time),
          ...texts(bar),
          String(money(bar)),
          String(money(bar)),
          bar === NEXT ? '0' : '1',
        ]),
      },
      { says: 'not complete' },
    ),
    {
      ...answer(
        'Bitfinex, the close before the high',
        latestFirst.map((bar) => [bar.time, bar.open, bar.close, bar.high, bar.low, bar.volume]),
      ),
      refused: 'HIGH_BELOW_LOW',
      wayOut: { options: '--columns open=2,close=3,high=4,low=5' },
    },
    {
      ...answer('Gate.io, the close first', GATE),
      refused: 'HIGH_BELOW_LOW',
      wayOut: { options: '--columns volume=7,close=3,high=4,low=5,open=6' },
    },
    answer('Bitstamp', {
      data: {
        ohlc: objects(MINUTES, (bar) => ({
          close: String(bar.close),
          high: String(bar.high),
          low: String(bar.low),
          open: String(bar.open),
          timestamp: String(bar.time / 1000),
          volume: String(bar.volume),
        })),
        pair: 'BTC/USD',
      },
    }),
    {
      ...answer('HTX, whose `vol` is money', {
        ch: 'market.btcusdt.kline.1min',
        status: 'ok',
        data: objects(latestFirst, (bar) => ({
          id: bar.time / 1000,
          open: bar.open,
          close: bar.close,
          low: bar.low,
          high: bar.high,
          amount: bar.volume,
          vol: money(bar),
          count: 3,
        })),
      }),
      refused: 'COLUMN_MISSING',
      wayOut: { options: '--columns time=id' },
    },
    {
      ...answer('Deribit, whose times are `ticks`', {
        jsonrpc: '2.0',
        result: {
          volume: COLUMNS_OF('volume'),
          ticks: COLUMNS_OF('time'),
          status: 'ok',
          open: COLUMNS_OF('open'),
          low: COLUMNS_OF('low'),
          high: COLUMNS_OF('high'),
          cost: COLUMNS_OF('volume'),
          close: COLUMNS_OF('close'),
        },
      }),
      refused: 'COLUMN_MISSING',
      wayOut: { options: '--columns time=ticks' },
    },
    answer(
      'Hyperliquid, `t` and `T`',
      objects(MINUTES, (bar) => ({
        t: bar.time,
        T: bar.time + 59_999,
        s: 'BTC',
        i: '1m',
        o: String(bar.open),
        c: String(bar.close),
        h: String(bar.high),
        l: String(bar.low),
        v: String(bar.volume),
        n: 3,
      })),
    ),
    answer('dYdX', {
      candles: objects(latestFirst, (bar) => ({
        startedAt: new Date(bar.time).toISOString(),
        ticker: 'BTC-USD',
        resolution: '1MIN',
        low: String(bar.low),
        high: String(bar.high),
        open: String(bar.open),
        close: String(bar.close),
        baseTokenVolume: String(bar.volume),
        usdVolume: String(money(bar)),
        trades: 3,
      })),
    }),
    answer(
      'Upbit',
      objects(latestFirst, (bar) => ({
        market: 'KRW-BTC',
        candle_date_time_utc: stamp(bar.time).replace(' ', 'T'),
        candle_date_time_kst: stamp(bar.time + 9 * HOUR).replace(' ', 'T'),
        opening_price: bar.open,
        high_price: bar.high,
        low_price: bar.low,
        trade_price: bar.close,
        timestamp: bar.time + 59_123,
        candle_acc_trade_price: money(bar),
        candle_acc_trade_volume: bar.volume,
        unit: 1,
      })),
    ),
    answer('CryptoCompare', {
      Response: 'Success',
      Type: 100,
      Data: {
        Aggregated: false,
        TimeFrom: 1,
        Data: objects(MINUTES, (bar) => ({
          time: bar.time / 1000,
          high: bar.high,
          low: bar.low,
          open: bar.open,
          volumefrom: bar.volume,
          volumeto: money(bar),
          close: bar.close,
          conversionType: 'direct',
        })),
      },
    }),
    {
      ...answer(
        'CoinGecko, without volume',
        MINUTES.map(({ time, open, high, low, close }) => [time, open, high, low, close]),
      ),
      bars: MINUTES.map((bar) => ({ ...bar, volume: 0 })),
    },
    answer('Tiingo, crypto', [
      {
        ticker: 'btcusd',
        baseCurrency: 'btc',
        priceData: objects(MINUTES, (bar) => ({
          date: `${stamp(bar.time).replace(' ', 'T')}+00:00`,
          open: bar.open,
          high: bar.high,
          low: bar.low,
          close: bar.close,
          volume: bar.volume,
          volumeNotional: money(bar),
        })),
      },
    ]),
    {
      ...answer('Financial Modeling Prep', {
        symbol: 'AAPL',
        historical: objects(DAYS.toReversed(), (bar) => ({
          date: day(bar.time),
          open: bar.open,
          high: bar.high,
          low: bar.low,
          close: bar.close,
          adjClose: bar.close,
          volume: bar.volume,
          unadjustedVolume: bar.volume,
          vwap: middle(bar),
          label: 'March 14, 23',
        })),
      }),
      bars: DAYS,
    },
    {
      ...answer('marketstack', {
        pagination: { limit: 100, count: 2 },
        data: objects(DAYS.toReversed(), (bar) => ({
          open: bar.open,
          high: bar.high,
          low: bar.low,
          close: bar.close,
          volume: bar.volume,
          adj_high: null,
          adj_close: bar.close,
          symbol: 'AAPL',
          exchange: 'XNAS',
          date: `${day(bar.time)}T00:00:00+0000`,
        })),
      }),
      bars: DAYS,
    },
    answer('Schwab and TD Ameritrade', {
      candles: objects(MINUTES, ({ time: datetime, ...bar }) => ({ ...bar, datetime })),
      symbol: 'AAPL',
      empty: false,
    }),
    answer('Interactive Brokers, its web API', {
      symbol: 'AAPL',
      priceFactor: 100,
      data: objects(MINUTES, (bar) => ({
        t: bar.time,
        o: bar.open,
        c: bar.close,
        h: bar.high,
        l: bar.low,
        v: bar.volume,
      })),
      points: 90,
    }),
    answer('Kite, in the time of India', {
      status: 'success',
      data: {
        candles: MINUTES.map((bar) => [`${stamp(bar.time + 5.5 * HOUR).replace(' ', 'T')}+0530`, ...ohlcv(bar)]),
      },
    }),
    answer('Moscow Exchange', {
      candles: {
        metadata: { open: { type: 'double' } },
        columns: ['open', 'close', 'high', 'low', 'value', 'volume', 'begin', 'end'],
        data: MINUTES.map((bar) => [
          bar.open,
          bar.close,
          bar.high,
          bar.low,
          money(bar),
          bar.volume,
          stamp(bar.time),
          stamp(bar.time + 59_000),
        ]),
      },
    }),
    {
      shape: 'Databento, JSON Lines',
      bars: MINUTES,
      file: MINUTES.map((bar) =>
        JSON.stringify({
          hd: { ts_event: String(bar.time * 1e6), rtype: 33, publisher_id: 1, instrument_id: 15_144 },
          ...Object.fromEntries(
            (['open', 'high', 'low', 'close'] as const).map((name) => [name, String(Math.round(bar[name] * 1e9))]),
          ),
          volume: String(bar.volume),
        }),
      ).join('\n'),
    },
  ],
};
