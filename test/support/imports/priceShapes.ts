// Numbers, rows and columns of the import table: separators of countries, missing and repeated rows, adjusted prices.
import type { ImportSection, ImportShape } from './importTable.ts';
import type { SourceBar } from './sourceBars.ts';
import { DAYS, day, HOURS, INDEX_DAYS, line, MINUTES, ohlcv, stamp, table } from './sourceBars.ts';

const HEADER = 'Date,Open,High,Low,Close,Volume';
const csv = table(HEADER, DAYS, (bar) => line([day(bar.time), ...ohlcv(bar)]));
const lines = csv.trimEnd().split('\n');
/** The file with another high on its fourth day. */
const withHigh = (high: number): string => {
  const { time, open, low, close, volume } = DAYS[3];
  return `${lines.with(4, line([day(time), open, high, low, close, volume])).join('\n')}\n`;
};
const joined = (...parts: readonly string[]): string => `${parts.join('\n')}\n`;
const flat = (bars: readonly SourceBar[]): SourceBar[] =>
  bars.map(({ time, close, volume }) => ({ time, open: close, high: close, low: close, close, volume }));
const withoutVolume = (bars: readonly SourceBar[]): SourceBar[] => bars.map((bar) => ({ ...bar, volume: 0 }));
const formatted = (
  bars: readonly SourceBar[],
  format: (value: number, at: number) => string,
  delimiter = ';',
): string =>
  table(HEADER.replaceAll(',', delimiter), bars, (bar) => line([day(bar.time), ...ohlcv(bar).map(format)], delimiter));
const german = (value: number): string => value.toLocaleString('de-DE', { maximumFractionDigits: 4 });
const english = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 4 });
const swiss = (value: number): string => english(value).replaceAll(',', "'");
const french = (value: number): string => english(value).replaceAll(',', ' ').replace('.', ',');
/** Prices in halves of 32nds, as bonds are quoted: 110'165 is 110 + 16.5 / 32. */
const BONDS = DAYS.map((bar) => ({ ...bar, open: 110.25, high: 110.515_625, low: 110.25, close: 110.25 }));
const inThirtySeconds = (value: number): string =>
  `${Math.floor(value)}'${String(Math.round((value % 1) * 320)).padStart(3, '0')}`;
/** Prices below 10 in thousandths, all of which may be thousands as well. */
const SMALL = DAYS.map((bar) => ({ ...bar, open: 1.234, high: 1.25, low: 1.125, close: 1.24, volume: 5 }));
const whole = (value: number): string => value.toFixed(3);

const shape = (name: string, file: string, more: Partial<ImportShape> = {}): ImportShape => ({
  shape: name,
  file,
  bars: DAYS,
  ...more,
});

export const NUMBERS: ImportSection = {
  title: 'Numbers',
  shapes: [
    shape('`1.234,56`', formatted(INDEX_DAYS, german), { bars: INDEX_DAYS, says: 'decimal comma' }),
    shape(
      '`"1,234.56"`',
      formatted(INDEX_DAYS, (value) => `"${english(value)}"`, ','),
      { bars: INDEX_DAYS, says: 'separate thousands' },
    ),
    shape("`1'234.56`", formatted(INDEX_DAYS, swiss), { bars: INDEX_DAYS }),
    shape(
      "`110'165`, a bond in 32nds",
      formatted(BONDS, (value) => (value > 500 ? String(value) : inThirtySeconds(value))),
      {
        refused: 'VALUE_NOT_A_NUMBER',
        wayOut: { edit: 'write decimals', file: formatted(BONDS, String) },
        bars: BONDS,
      },
    ),
    shape('`1 234,56`', formatted(INDEX_DAYS, french), { bars: INDEX_DAYS }),
    shape(
      '`$395.35`, in the columns of Nasdaq',
      table('Date,Close/Last,Volume,Open,High,Low', DAYS, (bar) =>
        line([day(bar.time), `$${bar.close}`, bar.volume, `$${bar.open}`, `$${bar.high}`, `$${bar.low}`]),
      ),
    ),
    shape(
      '`395,35 €`',
      formatted(DAYS, (value, at) => (at === 4 ? String(value) : `${value.toFixed(2).replace('.', ',')} €`)),
    ),
    shape(
      'volumes such as 12.3K, and `Change %`',
      table('Date,Price,Open,High,Low,Vol.,Change %', DAYS, (bar) =>
        line([day(bar.time), bar.close, bar.open, bar.high, bar.low, `${bar.volume / 1000}K`, '-0.5%']),
      ),
      { says: 'thousands, millions or billions' },
    ),
    shape(
      '`1,234`, about one or a thousand',
      formatted(SMALL, (value) => whole(value).replace('.', ',')),
      {
        refused: 'VALUE_NOT_A_NUMBER',
        wayOut: { edit: 'write decimal points', file: formatted(SMALL, whole) },
        bars: SMALL,
      },
    ),
    shape('a negative price', csv.replace(`,${DAYS[3].low},`, `,-${DAYS[3].low},`), {
      refused: 'VALUE_NEGATIVE',
      wayOut: { edit: 'correct the price', file: csv },
    }),
    shape('one high below its low', withHigh(DAYS[3].low - 1), {
      refused: 'HIGH_BELOW_LOW',
      wayOut: { edit: 'correct the price', file: csv },
    }),
    shape('high and low under the name of the other', csv.replace('High,Low', 'Low,High'), {
      refused: 'HIGH_BELOW_LOW',
      wayOut: { options: '--columns high=Low,low=High' },
    }),
    shape(
      'a volume of 0',
      table(HEADER, withoutVolume(DAYS), (bar) => line([day(bar.time), ...ohlcv(bar)])),
      { bars: withoutVolume(DAYS), says: 'holds no volume' },
    ),
    shape(
      'no volume',
      table('Date,Open,High,Low,Close', DAYS, (bar) => line([day(bar.time), ...ohlcv(bar).slice(0, 4)])),
      { bars: withoutVolume(DAYS), says: 'no volume column' },
    ),
  ],
};

const days = lines.slice(1);
/** The last day of the first file, before it had ended. */
const partial = days[19].replace(`,${DAYS[19].close},${DAYS[19].volume}`, `,${DAYS[19].open},7`);

export const ROWS: ImportSection = {
  title: 'Rows',
  shapes: [
    shape('not in order', joined(HEADER, ...days.slice(9), ...days.slice(0, 9)), {
      refused: 'TIME_UNSORTED',
      wayOut: { options: '--sort' },
    }),
    shape('a file appended to itself', joined(HEADER, ...days, ...days), {
      refused: 'TIME_DUPLICATE',
      wayOut: { options: '--dedupe first' },
    }),
    shape('two rows alike', joined(HEADER, ...days.slice(0, 9), ...days.slice(8)), {
      refused: 'TIME_DUPLICATE',
      wayOut: { options: '--dedupe first' },
    }),
    shape(
      'two downloads that overlap, the first with a day that had not ended',
      joined(HEADER, ...days.slice(0, 19), partial, ...days.slice(15)),
      { refused: 'TIME_DUPLICATE', wayOut: { options: '--dedupe last' } },
    ),
    shape(
      'a newer download above an older one that overlaps it',
      joined(HEADER, ...days.slice(15), ...days.slice(0, 20)),
      { refused: 'TIME_UNSORTED', wayOut: { options: '--dedupe first --sort' } },
    ),
    shape('one row of NaN', joined(HEADER, ...days.slice(0, 9), '2023-03-04,NaN,NaN,NaN,NaN,NaN', ...days.slice(9)), {
      refused: 'VALUE_MISSING',
      wayOut: { options: '--drop-na' },
    }),
    shape('one price missing', joined(HEADER, ...days.slice(0, 9), '2023-03-04,1,2,,1,5', ...days.slice(9)), {
      refused: 'VALUE_MISSING',
      wayOut: { options: '--drop-na' },
    }),
    shape('a row without a time', joined(HEADER, ...days.slice(0, 9), ',1,2,1,1,5', ...days.slice(9)), {
      refused: 'TIME_UNREADABLE',
      wayOut: { options: '--drop-na' },
    }),
    shape('a row of zeros', joined(HEADER, ...days.slice(0, 9), '2023-03-04,0,0,0,0,0', ...days.slice(9)), {
      refused: 'VALUE_ZERO',
      wayOut: { options: '--drop-na' },
    }),
    shape('an open of 0', joined(HEADER, ...days.slice(0, 9), '2023-03-04,0,401,399,400,5', ...days.slice(9)), {
      refused: 'VALUE_ZERO',
      wayOut: { options: '--drop-na' },
    }),
    shape(
      'a row on a weekend',
      joined(HEADER, ...days.slice(0, 10), '2023-03-05,400,401,399,400,5', ...days.slice(10)),
      {
        bars: [
          ...DAYS.slice(0, 10),
          { time: Date.UTC(2023, 2, 5), open: 400, high: 401, low: 399, close: 400, volume: 5 },
          ...DAYS.slice(10),
        ],
      },
    ),
    shape(
      'hours of which some are absent',
      table(
        HEADER,
        HOURS.filter((_, at) => at % 7 !== 3),
        (bar) => line([stamp(bar.time), ...ohlcv(bar)]),
      ),
      { bars: HOURS.filter((_, at) => at % 7 !== 3) },
    ),
  ],
};

/** Adjusted by a quarter up to here, so that products and quotients of the prices are exact. */
const SPLIT_AT = 20;
const factorAt = (at: number): number => (at < SPLIT_AT ? 0.25 : 1);
const ADJUSTED = DAYS.map((bar, at) => ({
  time: bar.time,
  open: bar.open * factorAt(at),
  high: bar.high * factorAt(at),
  low: bar.low * factorAt(at),
  close: bar.close * factorAt(at),
  volume: bar.volume / factorAt(at),
}));
const yahoo = table('Date,Open,High,Low,Close,Adj Close,Volume', DAYS, (bar, at) =>
  line([day(bar.time), bar.open, bar.high, bar.low, bar.close, ADJUSTED[at].close, bar.volume]),
);
const tiingo = table(
  'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor',
  DAYS,
  (bar, at) => {
    const { open, high, low, close, volume } = ADJUSTED[at];
    return line([
      day(bar.time),
      bar.close,
      bar.high,
      bar.low,
      bar.open,
      bar.volume,
      close,
      high,
      low,
      open,
      volume,
      0,
      at === SPLIT_AT ? 4 : 1,
    ]);
  },
);
const quandl = table(
  `${HEADER},Ex-Dividend,Split Ratio,Adj. Open,Adj. High,Adj. Low,Adj. Close,Adj. Volume`,
  DAYS,
  (bar, at) => line([day(bar.time), ...ohlcv(bar), 0, at === SPLIT_AT ? 4 : 1, ...ohlcv(ADJUSTED[at])]),
);
const closes = table('Date,Close,Volume', DAYS, (bar) => line([day(bar.time), bar.close, bar.volume]));
const fixed = (value: number): string => `${Math.round(value * 100)}0000000`;

export const COLUMNS: ImportSection = {
  title: 'Columns',
  shapes: [
    shape('Yahoo, as traded', yahoo, { says: '--adjusted scales the bars to it' }),
    shape('Yahoo, adjusted', yahoo, { options: '--adjusted', bars: ADJUSTED, says: 'scaled to "Adj Close"' }),
    shape('Tiingo, as traded', tiingo, { says: '"splitFactor" is kept as series and not applied' }),
    shape('Tiingo, adjusted', tiingo, { options: '--adjusted', bars: ADJUSTED, says: 'not applied again' }),
    shape('Quandl, adjusted', quandl, { options: '--adjusted', bars: ADJUSTED }),
    shape('Quandl, as traded', quandl),
    shape(
      'dividends beside the prices',
      table(`${HEADER},Dividends,Stock Splits`, DAYS, (bar, at) =>
        line([day(bar.time), ...ohlcv(bar), at === 5 ? 1.5 : 0, 0]),
      ),
      { says: '"Dividends" is kept as series and not applied' },
    ),
    shape('closes alone', closes, { bars: flat(DAYS), says: 'Open, high and low are set to it' }),
    shape(
      'FRED, a date and a value',
      table('observation_date,SP500', DAYS, (bar) => line([day(bar.time), bar.close])),
      { bars: flat(withoutVolume(DAYS)), says: 'one price per bar' },
    ),
    shape(
      'closes beside numbers that may be prices',
      table('Date,first,top,bottom,Close,Volume', DAYS, (bar) => line([day(bar.time), ...ohlcv(bar)])),
      { refused: 'COLUMN_MISSING', wayOut: { options: '--columns open=first,high=top,low=bottom' } },
    ),
    shape(
      'names that say nothing',
      table('a,b,c,d,e,f', DAYS, (bar) => line([day(bar.time), ...ohlcv(bar)])),
      { refused: 'COLUMN_MISSING', wayOut: { options: '--columns time=a,open=b,high=c,low=d,close=e,volume=f' } },
    ),
    shape(
      'one column of prices per symbol',
      table('Date,AAA,BBB,CCC', DAYS, (bar) => line([day(bar.time), bar.close, bar.open, bar.high])),
      {
        refused: 'COLUMN_MISSING',
        wayOut: { options: '--columns open=AAA,high=AAA,low=AAA,close=AAA' },
        bars: flat(withoutVolume(DAYS)),
      },
    ),
    shape(
      'two closes',
      table('Date,Open,High,Low,close,Close,Volume', DAYS, (bar) =>
        line([day(bar.time), ...ohlcv(bar).slice(0, 4), 1, bar.volume]),
      ),
      { refused: 'COLUMN_DUPLICATE', wayOut: { options: '--columns close=5' } },
    ),
    shape(
      'the last price and the settlement of a future',
      table('Date,Open,High,Low,Last,Settle,Volume', DAYS, ({ time, open, high, low, close, volume }) =>
        line([day(time), open, high, low, open, close, volume]),
      ),
      { options: '--columns close=Settle' },
    ),
    shape(
      'the same without a choice',
      table('Date,Open,High,Low,Last,Settle,Volume', DAYS, ({ time, open, high, low, close, volume }) =>
        line([day(time), open, high, low, close, open, volume]),
      ),
      { says: '--columns "close=Settle" would take that' },
    ),
    shape(
      'the close before the high, without a header (KuCoin)',
      table(null, MINUTES, ({ time, open, high, low, close, volume }) =>
        line([time / 1000, open, close, high, low, volume]),
      ),
      { refused: 'HIGH_BELOW_LOW', wayOut: { options: '--columns open=2,close=3,high=4,low=5' }, bars: MINUTES },
    ),
    shape(
      'Databento, with whole numbers of billionths',
      table('ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol', MINUTES, (bar) =>
        line([`${bar.time}000000`, 33, 1, 17, ...ohlcv(bar).slice(0, 4).map(fixed), bar.volume, 'ESH3']),
      ),
      { bars: MINUTES },
    ),
    shape(
      'Databento, with decimals and ISO 8601 in nanoseconds',
      table('ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol', MINUTES, (bar) =>
        line([`${new Date(bar.time).toISOString().slice(0, 19)}.000000000Z`, 33, 1, 17, ...ohlcv(bar), 'ESH3']),
      ),
      { bars: MINUTES },
    ),
  ],
};

const OTHER = INDEX_DAYS.slice(3);
const TWO = { AAPL: DAYS, MSFT: OTHER };
const both = DAYS.map((bar) => ({ bar, other: OTHER.find(({ time }) => time === bar.time) }));
const wide =
  (cells: (bar: SourceBar | undefined) => readonly (string | number)[]) =>
  (head: string): string =>
    joined(head, ...both.map(({ bar, other }) => line([day(bar.time), ...cells(bar), ...cells(other)])));
const fields = (bar: SourceBar | undefined): readonly (string | number)[] => (bar ? ohlcv(bar) : ['', '', '', '', '']);
const names = ['Open', 'High', 'Low', 'Close', 'Volume'];

export const SYMBOLS: ImportSection = {
  title: 'Several symbols',
  shapes: [
    shape(
      'rows of two symbols',
      joined(
        `${HEADER},Symbol`,
        ...DAYS.map((bar) => line([day(bar.time), ...ohlcv(bar), 'AAPL'])),
        ...OTHER.map((bar) => line([day(bar.time), ...ohlcv(bar), 'MSFT'])),
      ),
      { bars: TWO },
    ),
    shape(
      'rows of two symbols, by day',
      joined(
        `ticker,${HEADER}`,
        ...both.flatMap(({ bar, other }) => [
          line(['AAPL', day(bar.time), ...ohlcv(bar)]),
          ...(other ? [line(['MSFT', day(other.time), ...ohlcv(other)])] : []),
        ]),
      ),
      { bars: TWO },
    ),
    shape(
      'rows of two contracts, in a column of another name',
      joined(
        `${HEADER},contract`,
        ...both.flatMap(({ bar, other }) => [
          line([day(bar.time), ...ohlcv(bar), 'AAPL']),
          ...(other ? [line([day(other.time), ...ohlcv(other), 'MSFT'])] : []),
        ]),
      ),
      { refused: 'SEVERAL_INSTRUMENTS', wayOut: { options: '--columns symbol=contract' }, bars: TWO },
    ),
    shape(
      'yfinance of one ticker, with three lines of header',
      joined('Price,Open,High,Low,Close,Volume', 'Ticker,AAPL,AAPL,AAPL,AAPL,AAPL', 'Date,,,,,', ...days),
    ),
    shape(
      'yfinance of two tickers, one of which begins later',
      wide(fields)(
        ['Price', ...names, ...names]
          .join(',')
          .concat('\nTicker', ',AAPL'.repeat(5), ',MSFT'.repeat(5), '\nDate', ','.repeat(10)),
      ),
      { refused: 'VALUE_MISSING', wayOut: { options: '--drop-na' }, bars: TWO },
    ),
    shape(
      'yfinance of two tickers, grouped by ticker',
      wide(fields)(
        ['Ticker', ...names.map(() => 'AAPL'), ...names.map(() => 'MSFT')]
          .join(',')
          .concat('\nPrice,', [...names, ...names].join(','), '\nDate', ','.repeat(10)),
      ),
      { options: '--drop-na', bars: TWO },
    ),
    shape(
      'quantmod: `AAPL.Open`',
      table(names.map((name) => `AAPL.${name}`).join(','), DAYS, (bar) => line([day(bar.time), ...ohlcv(bar)])),
    ),
    shape(
      "two headers joined by pandas: `('Close', 'AAPL')`",
      wide(fields)(
        ['Date', ...names.map((name) => `"('${name}', 'AAPL')"`), ...names.map((name) => `"('${name}', 'MSFT')"`)].join(
          ',',
        ),
      ),
      { options: '--drop-na', bars: TWO },
    ),
  ],
};
