// The import table: files of trading platforms and data vendors as they write them.
import { DAYS, day, HOURS, INDEX_DAYS, inNewYork, line, MINUTES, ohlcv, stamp, table } from './sourceBars.ts';
import type { SourceBar } from './sourceBars.ts';
import type { ImportSection, ImportShape } from './importTable.ts';

const HOUR = 3_600_000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const parts = (time: number): string[] => stamp(time).split(/[- :]/);
/** 20230314 */
const compact = (time: number): string => day(time).replaceAll('-', '');
/** 133000 */
const clock = (time: number): string => stamp(time).slice(11).replaceAll(':', '');
const slashed = (time: number): string => {
  const [year, month, date] = parts(time);
  return `${month}/${date}/${year}`;
};
const named = (time: number): string => {
  const [year, month, date] = parts(time);
  return `${date}-${MONTHS[Number(month) - 1]}-${year}`;
};
const middle = ({ high, low }: SourceBar): number => (high + low) / 2;
const money = ({ volume, close }: SourceBar): number => volume * close;
const read = (
  shape: string,
  file: string,
  bars: readonly SourceBar[],
  more: Partial<ImportShape> = {},
): ImportShape => ({
  shape,
  file,
  bars,
  ...more,
});
/** Refused, and read with these options. */
const then = (
  shape: string,
  file: string,
  bars: readonly SourceBar[],
  refused: string,
  options: string,
): ImportShape => ({
  shape,
  file,
  bars,
  refused,
  wayOut: { options },
});
const minutes = (header: string | null, row: (bar: SourceBar) => (string | number)[], delimiter = ','): string =>
  table(header, MINUTES, (bar) => line(row(bar), delimiter));
const days = (header: string | null, row: (bar: SourceBar) => (string | number)[], delimiter = ','): string =>
  table(header, DAYS, (bar) => line(row(bar), delimiter));
const withoutVolume = (bars: readonly SourceBar[]): SourceBar[] => bars.map((bar) => ({ ...bar, volume: 0 }));

const TRADESTATION = minutes('"Date","Time","Open","High","Low","Close","Up","Down"', (bar) => [
  slashed(bar.time + 60_000), stamp(bar.time + 60_000).slice(11, 16), bar.open, bar.high, bar.low, bar.close,
  Math.floor(bar.volume / 3), bar.volume - Math.floor(bar.volume / 3),
]); // prettier-ignore
const SIERRA = minutes(
  'Date, Time, Open, High, Low, Last, Volume, NumberOfTrades, BidVolume, AskVolume',
  (bar) => {
    const [year, month, date] = parts(bar.time).map(Number);
    return [`${year}/${month}/${date}`, `${stamp(bar.time).slice(11)}.000000`, ...ohlcv(bar), 3, 1, 2];
  },
  ', ',
);
const NSE = table(
  '"Date ","series ","OPEN ","HIGH ","LOW ","PREV. CLOSE ","ltp ","close ","vwap ","52W H","52W L ","VOLUME ","VALUE "',
  INDEX_DAYS,
  (bar) => {
    const { open, high, low, close, volume } = bar;
    const numbers = [open, high, low, open, close, close, middle(bar), high, low, volume, money(bar)];
    const cells = numbers.map((value) => value.toLocaleString('en-US', { maximumFractionDigits: 4 }));
    return line([named(bar.time), 'EQ', ...cells].map((cell) => `"${cell}"`));
  },
);
const KAGGLE = ['AAL', 'AAPL'].map((name) => days(null, (bar) => [day(bar.time), ...ohlcv(bar), name])).join('');
const YAHOO_ROWS = DAYS.toReversed().map((bar) => {
  const [year, month, date] = parts(bar.time);
  const cells = [bar.open, bar.high, bar.low, bar.close, bar.close, bar.volume.toLocaleString('en-US')];
  return line([`${MONTHS[Number(month) - 1]} ${Number(date)}, ${year}`, ...cells], '\t');
});
const YAHOO_HEADER = 'Date\tOpen\tHigh\tLow\tClose \tAdj Close \tVolume';
const YAHOO_PAGE = [YAHOO_HEADER, ...YAHOO_ROWS.slice(0, 3), 'Mar 17, 2023\t1.506 Dividend', ...YAHOO_ROWS.slice(3)];

export const PLATFORMS: ImportSection = {
  title: 'Platforms and vendors',
  shapes: [
    read('TradeStation: the close of each bar, volume in Up and Down', TRADESTATION, MINUTES, {
      options: '--time-is close',
    }),
    read(
      'TradeStation, days',
      days('"Date","Time","Open","High","Low","Close","Vol","OI"', (bar) => [
        slashed(bar.time),
        '16:00',
        ...ohlcv(bar),
        0,
      ]),
      DAYS,
    ),
    read(
      'MultiCharts, the close of each bar',
      minutes('"Date","Time","Open","High","Low","Close","TotalVolume"', (bar) => [
        slashed(bar.time + 60_000),
        stamp(bar.time + 60_000).slice(11),
        ...ohlcv(bar),
      ]),
      MINUTES,
      { options: '--time-is close' },
    ),
    read(
      'NinjaTrader, the close of each minute',
      minutes(null, (bar) => [`${compact(bar.time)} ${clock(bar.time + 60_000)}`, ...ohlcv(bar)], ';'),
      MINUTES,
      { options: '--time-is close' },
    ),
    read(
      'NinjaTrader, days',
      days(null, (bar) => [compact(bar.time), ...ohlcv(bar)], ';'),
      DAYS,
    ),
    read('Sierra Chart', SIERRA, MINUTES),
    read(
      'MetaTrader 5',
      minutes(
        '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>',
        (bar) => [day(bar.time).replaceAll('-', '.'), stamp(bar.time).slice(11), ...ohlcv(bar), 0, 3],
        '\t',
      ),
      MINUTES,
      { says: 'a count of price changes' },
    ),
    read(
      'MetaTrader 4',
      minutes(null, (bar) => [day(bar.time).replaceAll('-', '.'), stamp(bar.time).slice(11, 16), ...ohlcv(bar)]),
      MINUTES,
    ),
    read(
      'MetaStock and AmiBroker, days',
      days('<TICKER>,<DTYYYYMMDD>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>', (bar) => [
        'AAPL',
        compact(bar.time),
        ...ohlcv(bar),
      ]),
      DAYS,
    ),
    read(
      'MetaStock and AmiBroker, minutes',
      minutes('<TICKER>,<DTYYYYMMDD>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>', (bar) => [
        'EURUSD',
        compact(bar.time),
        clock(bar.time),
        ...ohlcv(bar),
      ]),
      MINUTES,
    ),
    read(
      'Stooq, minutes',
      minutes('<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>', (bar) => [
        'SPY.US',
        1,
        compact(bar.time),
        clock(bar.time),
        ...ohlcv(bar),
        0,
      ]),
      MINUTES,
    ),
    then(
      'Finam',
      minutes(
        '<TICKER>;<PER>;<DATE>;<TIME>;<OPEN>;<HIGH>;<LOW>;<CLOSE>;<VOL>',
        (bar) => [
          'SBER',
          1,
          `${parts(bar.time)[2]}/${parts(bar.time)[1]}/23`,
          stamp(bar.time).slice(11, 16),
          ...ohlcv(bar),
        ],
        ';',
      ),
      MINUTES,
      'TIME_UNREADABLE',
      '--date-format D/M/YY',
    ),
    read(
      'Dukascopy, in local time',
      minutes('Local time,Open,High,Low,Close,Volume', (bar) => {
        const [year, month, date] = parts(Date.parse(`${inNewYork(bar.time).text.replace(' ', 'T')}Z`));
        return [`${date}.${month}.${year} ${inNewYork(bar.time).text.slice(11)}.000 GMT-0400`, ...ohlcv(bar)];
      }),
      MINUTES,
    ),
    then(
      'JForex, `Time (EET)`',
      table('Time (EET),Open,High,Low,Close,Volume ', HOURS.slice(0, 40), (bar) =>
        line([stamp(bar.time + 2 * HOUR).replaceAll('-', '.'), ...ohlcv(bar)]),
      ),
      HOURS.slice(0, 40),
      'COLUMN_MISSING',
      '--columns time=1 --timezone Europe/Athens',
    ),
    read(
      'HistData, without summer time',
      minutes(null, (bar) => [`${compact(bar.time)} ${clock(bar.time - 5 * HOUR)}`, ...ohlcv(bar)], ';'),
      MINUTES,
      { options: '--timezone EST' },
    ),
    read(
      'Kibot, minutes',
      minutes(null, (bar) => [slashed(bar.time), stamp(bar.time).slice(11, 16), ...ohlcv(bar)]),
      MINUTES,
    ),
    read(
      'Kibot, days',
      days(null, (bar) => [slashed(bar.time), ...ohlcv(bar)]),
      DAYS,
    ),
    read(
      'FirstRate Data',
      minutes(null, (bar) => [inNewYork(bar.time).text, ...ohlcv(bar)]),
      MINUTES,
      { options: '--timezone America/New_York' },
    ),
    read(
      'AlgoSeek',
      minutes(
        'Date,Ticker,TimeBarStart,FirstTradePrice,HighTradePrice,LowTradePrice,LastTradePrice,' +
          'VolumeWeightPrice,Volume,TotalTrades',
        (bar) => [
          compact(bar.time),
          'SPY',
          stamp(bar.time).slice(11, 16),
          bar.open,
          bar.high,
          bar.low,
          bar.close,
          middle(bar),
          bar.volume,
          4,
        ],
      ),
      MINUTES,
    ),
    read(
      'Interactive Brokers, by ib_insync',
      minutes('date,open,high,low,close,volume,average,barCount', (bar) => [
        inNewYork(bar.time).text + inNewYork(bar.time).offset,
        ...ohlcv(bar),
        middle(bar),
        7,
      ]),
      MINUTES,
    ),
    read(
      'Interactive Brokers, with two spaces',
      minutes('date,open,high,low,close,volume', (bar) => [
        `${compact(bar.time)}  ${stamp(bar.time).slice(11)}`,
        ...ohlcv(bar),
      ]),
      MINUTES,
    ),
    read(
      'Barchart, with a footer',
      table('Time,Open,High,Low,Last,Change,%Chg,Volume', DAYS.toReversed(), (bar) =>
        line([day(bar.time), bar.open, bar.high, bar.low, bar.close, 1.5, '0.4%', bar.volume]),
      ) + '"Downloaded from Barchart.com as of 03-14-2023 05:12pm CDT"\n',
      DAYS,
    ),
    read(
      'Cboe, without volume',
      days('DATE,OPEN,HIGH,LOW,CLOSE', (bar) => [slashed(bar.time), bar.open, bar.high, bar.low, bar.close]),
      withoutVolume(DAYS),
    ),
    read(
      'GOOGLEFINANCE of Google Sheets',
      days('Date,Open,High,Low,Close,Volume', (bar) => [
        `${Number(parts(bar.time)[1])}/${Number(parts(bar.time)[2])}/2023 16:00:00`,
        ...ohlcv(bar),
      ]),
      DAYS,
    ),
    {
      shape: 'rows copied from the page of Yahoo, with a dividend',
      file: YAHOO_PAGE.join('\n'),
      bars: DAYS,
      refused: 'ROW_LENGTH',
      wayOut: { edit: 'leave the dividend out', file: [YAHOO_HEADER, ...YAHOO_ROWS].join('\n') },
    },
    read(
      'SimFin',
      days(
        'Ticker;SimFinId;Date;Open;High;Low;Close;Adj. Close;Volume;Dividend;Shares Outstanding',
        (bar) => [
          'AAPL',
          111052,
          day(bar.time),
          bar.open,
          bar.high,
          bar.low,
          bar.close,
          bar.close,
          bar.volume,
          '',
          1e9,
        ],
        ';',
      ),
      DAYS,
    ),
    read(
      'EODHD, minutes',
      minutes('Timestamp,Gmtoffset,Datetime,Open,High,Low,Close,Volume', (bar) => [
        bar.time / 1000,
        0,
        `"${stamp(bar.time)}"`,
        ...ohlcv(bar),
      ]),
      MINUTES,
    ),
    read('National Stock Exchange of India', NSE, INDEX_DAYS),
    read(
      'its bhavcopy',
      days(
        'SYMBOL,SERIES,OPEN,HIGH,LOW,CLOSE,LAST,PREVCLOSE,TOTTRDQTY,TOTTRDVAL,TIMESTAMP,TOTALTRADES,ISIN,',
        (bar) => [
          'INFY',
          'EQ',
          bar.open,
          bar.high,
          bar.low,
          bar.close,
          bar.close,
          bar.open,
          bar.volume,
          money(bar),
          named(bar.time).toUpperCase(),
          3,
          'INE009A01021',
          '',
        ],
      ),
      DAYS,
    ),
    {
      shape: 'Kaggle, stocks in a column `Name`',
      file: `date,open,high,low,close,volume,Name\n${KAGGLE}`,
      bars: { AAL: DAYS, AAPL: DAYS },
      refused: 'SEVERAL_INSTRUMENTS',
      wayOut: { options: '--columns symbol=Name' },
    },
    read(
      'Kaggle, Bitcoin',
      minutes('Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price', (bar) => [
        bar.time / 1000,
        ...ohlcv(bar),
        money(bar),
        middle(bar),
      ]),
      MINUTES,
      { says: 'not from "Volume_(Currency)"' },
    ),
    read(
      'CoinMarketCap, with six times',
      days(
        'timeOpen;timeClose;timeHigh;timeLow;name;open;high;low;close;volume;marketCap;timestamp',
        (bar) => [
          `"${day(bar.time)}T00:00:00.000Z"`,
          `"${day(bar.time)}T23:59:59.999Z"`,
          `"${day(bar.time)}T03:04:00.000Z"`,
          `"${day(bar.time)}T09:04:00.000Z"`,
          2781,
          ...ohlcv(bar),
          1e9,
          `"${day(bar.time)}T23:59:59.999Z"`,
        ],
        ';',
      ),
      DAYS,
    ),
    read(
      'days stamped 23:59:59',
      days('timestamp,open,high,low,close,volume', (bar) => [`${day(bar.time)}T23:59:59Z`, ...ohlcv(bar)]),
      DAYS,
      { says: 'last minute of its day' },
    ),
    read(
      'AKShare',
      days('日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,振幅', (bar) => [
        day(bar.time),
        '000001',
        bar.open,
        bar.close,
        bar.high,
        bar.low,
        bar.volume,
        money(bar),
        1,
      ]),
      DAYS,
    ),
    read(
      'Tushare',
      table('ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount', DAYS.toReversed(), (bar) =>
        line([
          '000001.SZ',
          compact(bar.time),
          bar.open,
          bar.high,
          bar.low,
          bar.close,
          bar.open,
          1,
          0.5,
          bar.volume,
          money(bar),
        ]),
      ),
      DAYS,
    ),
    read(
      'year, month and day in three columns',
      days('Year,Month,Day,Open,High,Low,Close,Volume', (bar) => [
        ...parts(bar.time).slice(0, 3).map(Number),
        ...ohlcv(bar),
      ]),
      DAYS,
    ),
    read(
      'five columns of a time, after a counter',
      table(',year,month,day,hour,minute,open,high,low,close,volume', MINUTES, (bar, at) =>
        line([at, ...parts(bar.time).slice(0, 5).map(Number), ...ohlcv(bar)]),
      ),
      MINUTES,
    ),
    read(
      'year, month, day and a clock',
      minutes('Year,Month,Day,Time,Open,High,Low,Close,Volume', (bar) => [
        ...parts(bar.time).slice(0, 3).map(Number),
        stamp(bar.time).slice(11, 16),
        ...ohlcv(bar),
      ]),
      MINUTES,
    ),
  ],
};
