import { describe, expect, it } from 'vitest';
import { readBars } from '../../src/market/import/barsTable.ts';
import type { BarsTable } from '../../src/market/import/importReport.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';

const read = async (...lines: readonly string[]): Promise<BarsTable> =>
  readBars(await readSource(Buffer.from(lines.join('\n'))));

/** Bars as rows of [ISO time, open, high, low, close, volume]. */
function rowsOf({ columns }: BarsTable): unknown[][] {
  const names = ['open', 'high', 'low', 'close', 'volume'] as const;
  return Array.from(columns.time, (time, row) => [
    new Date(time).toISOString().replace(/(T00:00)?(:00)?\.000Z$/, ''),
    ...names.map((name) => columns[name][row]),
  ]);
}

interface Sample {
  readonly vendor: string;
  readonly lines: readonly string[];
  /** As rowsOf gives them. */
  readonly rows: readonly (readonly (string | number)[])[];
  readonly timeframe: string;
  readonly series?: readonly string[];
  /** A part of each note, in order. */
  readonly notes?: readonly string[];
}

const SAMPLES: readonly Sample[] = [
  {
    vendor: 'Kraken OHLC answers, whose sixth column is the average price',
    lines: [
      '{"error":[],"result":{"XXBTZUSD":[',
      '[1688671200,"30306.1","30306.2","30305.7","30305.7","30306.1","3.39243896",23],',
      '[1688671260,"30304.5","30304.5","30300.0","30300.0","30300.0","4.42996871",18],',
      '[1688671320,"30300.3","30300.4","30291.4","30291.4","30294.7","2.13024789",25]],"last":1688672160}}',
    ],
    rows: [
      ['2023-07-06T19:20', 30306.1, 30306.2, 30305.7, 30305.7, 3.39243896],
      ['2023-07-06T19:21', 30304.5, 30304.5, 30300, 30300, 4.42996871],
      ['2023-07-06T19:22', 30300.3, 30300.4, 30291.4, 30291.4, 2.13024789],
    ],
    timeframe: '1m',
    series: ['vwap', 'count'],
    notes: ["Kraken's columns"],
  },
  {
    vendor: 'the same as CSV without a header, with a minute in which nothing was traded',
    lines: [
      '1688671200,30306.1,30306.2,30305.7,30305.7,30306.1,3.39243896,23',
      '1688671260,30305.7,30305.7,30305.7,30305.7,0.0,0.00000000,0',
    ],
    rows: [
      ['2023-07-06T19:20', 30306.1, 30306.2, 30305.7, 30305.7, 3.39243896],
      ['2023-07-06T19:21', 30305.7, 30305.7, 30305.7, 30305.7, 0],
    ],
    timeframe: '1m',
    series: ['vwap', 'count'],
    notes: ["Kraken's columns"],
  },
  {
    vendor: "Kraken's quarterly files of seven columns",
    lines: ['1696118400,26969.1,26969.2,26950,26960.5,12.5,40', '1696122000,26960.5,27010,26955.1,27000,8.25,31'],
    rows: [
      ['2023-10-01', 26969.1, 26969.2, 26950, 26960.5, 12.5],
      ['2023-10-01T01:00', 26960.5, 27010, 26955.1, 27000, 8.25],
    ],
    timeframe: '1h',
    series: ['column7'],
  },
  {
    vendor: 'CryptoDataDownload, with its link, newest bar first and two volumes',
    lines: [
      'https://www.CryptoDataDownload.com',
      'Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount',
      '1704070800000,2024-01-01 01:00:00,BTCUSDT,42500,42600,42400,42550,12.5,531250,1000',
      '1704067200000,2024-01-01 00:00:00,BTCUSDT,42400,42500,42300,42450,10.5,446250,900',
    ],
    rows: [
      ['2024-01-01', 42400, 42500, 42300, 42450, 10.5],
      ['2024-01-01T01:00', 42500, 42600, 42400, 42550, 12.5],
    ],
    timeframe: '1h',
    series: ['Volume USDT', 'tradecount'],
    notes: ['Skipped "https://www.CryptoDataDownload.com"', 'taken from "Volume BTC", not from', 'newest first'],
  },
  {
    vendor: "CryptoDataDownload's older files, with the quote volume first and half days",
    lines: [
      'https://www.CryptoDataDownload.com',
      'Date,Symbol,Open,High,Low,Close,Volume USD,Volume ETH',
      '2019-10-17 12-PM,ETHUSD,174,176,173,175,3500,20',
      '2019-10-17 11-AM,ETHUSD,173,175,172,174,1740,10',
    ],
    rows: [
      ['2019-10-17T11:00', 173, 175, 172, 174, 10],
      ['2019-10-17T12:00', 174, 176, 173, 175, 20],
    ],
    timeframe: '1h',
    series: ['Volume USD'],
    notes: ['Skipped', 'taken from "Volume ETH", not from "Volume USD"', 'newest first'],
  },
  {
    vendor: 'MetaTrader 5 on a currency, whose volume is 0 and whose tick volume is not',
    lines: [
      '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>',
      '2024.01.02\t00:00:00\t1.10432\t1.10500\t1.10300\t1.10450\t1234\t0\t5',
      '2024.01.02\t01:00:00\t1.10450\t1.10480\t1.10390\t1.10400\t987\t0\t6',
    ],
    rows: [
      ['2024-01-02', 1.10432, 1.105, 1.103, 1.1045, 1234],
      ['2024-01-02T01:00', 1.1045, 1.1048, 1.1039, 1.104, 987],
    ],
    timeframe: '1h',
    series: ['<VOL>', '<SPREAD>'],
    notes: ['taken from "<TICKVOL>", a count of price changes'],
  },
  {
    vendor: 'MetaTrader 5 on a future, whose volume is real',
    lines: [
      '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>',
      '2024.01.02\t16:30:00\t16800.5\t16810.0\t16795.0\t16805.5\t1234\t5678\t2',
      '2024.01.02\t16:31:00\t16805.5\t16812.0\t16801.0\t16802.0\t1111\t4321\t2',
    ],
    rows: [
      ['2024-01-02T16:30', 16800.5, 16810, 16795, 16805.5, 5678],
      ['2024-01-02T16:31', 16805.5, 16812, 16801, 16802, 4321],
    ],
    timeframe: '1m',
    series: ['<TICKVOL>', '<SPREAD>'],
  },
  {
    vendor: 'MetaTrader 4, which writes no header',
    lines: ['2024.01.02,00:00,1.1043,1.105,1.103,1.1045,1234', '2024.01.02,00:05,1.1045,1.1048,1.1039,1.104,987'],
    rows: [
      ['2024-01-02', 1.1043, 1.105, 1.103, 1.1045, 1234],
      ['2024-01-02T00:05', 1.1045, 1.1048, 1.1039, 1.104, 987],
    ],
    timeframe: '5m',
  },
  {
    vendor: "Lean's stocks, in ten-thousandths",
    lines: [
      '19980102 00:00,973100,975300,965300,973600,2150000',
      '19980105 00:00,978400,984400,967800,977500,4030800',
      '19980106 00:00,975000,975200,966300,967200,5008300',
      '19980107 00:00,964700,968700,958700,967200,5018700',
    ],
    rows: [
      ['1998-01-02', 97.31, 97.53, 96.53, 97.36, 2_150_000],
      ['1998-01-05', 97.84, 98.44, 96.78, 97.75, 4_030_800],
      ['1998-01-06', 97.5, 97.52, 96.63, 96.72, 5_008_300],
      ['1998-01-07', 96.47, 96.87, 95.87, 96.72, 5_018_700],
    ],
    timeframe: '1d',
    notes: ["Lean's format"],
  },
  {
    vendor: "Lean's coins, in the quote currency",
    lines: ['20240101 00:00,42400,42500,42300,42450.5,10.5', '20240101 01:00,42500,42600,42400,42550,12.5'],
    rows: [
      ['2024-01-01', 42400, 42500, 42300, 42450.5, 10.5],
      ['2024-01-01T01:00', 42500, 42600, 42400, 42550, 12.5],
    ],
    timeframe: '1h',
  },
  {
    vendor: 'Binance klines as the API answers them, in strings',
    lines: [
      '[[1499040000000,"0.01634790","0.80000000","0.01575800","0.01577100","148976.11427815",1499043599999,',
      '"2434.19055334",308,"1756.87402397","28.46694368","17928899.62484339"],',
      '[1499043600000,"0.01577100","0.02000000","0.01500000","0.01600000","1000.5",1499047199999,',
      '"16.1",30,"500.25","8.05","0"]]',
    ],
    rows: [
      ['2017-07-03', 0.0163479, 0.8, 0.015758, 0.015771, 148976.11427815],
      ['2017-07-03T01:00', 0.015771, 0.02, 0.015, 0.016, 1000.5],
    ],
    timeframe: '1h',
    series: ['quote_volume', 'count', 'taker_buy_volume', 'taker_buy_quote_volume'],
  },
  {
    vendor: 'Binance files of 2025, in microseconds',
    lines: [
      '1735689600000000,93576,93610.93,93537.5,93610.93,8.21827,1735689659999999,768978.2,2631,3.95157,369757.3,0',
      '1735689660000000,93610.93,93652,93606.2,93652,13.5,1735689719999999,1264012.5,2000,6.5,608000,0',
    ],
    rows: [
      ['2025-01-01', 93576, 93610.93, 93537.5, 93610.93, 8.21827],
      ['2025-01-01T00:01', 93610.93, 93652, 93606.2, 93652, 13.5],
    ],
    timeframe: '1m',
    series: ['quote_volume', 'count', 'taker_buy_volume', 'taker_buy_quote_volume'],
  },
  {
    vendor: 'yfinance histories, at midnights of New York on both sides of summer time',
    lines: [
      'Date,Open,High,Low,Close,Volume,Dividends,Stock Splits',
      '2024-03-08 00:00:00-05:00,169,173.7,168.94,170.73,76114600,0.0,0.0',
      '2024-03-11 00:00:00-04:00,172.94,174.38,172.05,172.75,60139500,0.0,0.0',
      '2024-03-12 00:00:00-04:00,173.15,174.03,171.01,173.23,59825400,0.0,0.0',
    ],
    rows: [
      ['2024-03-08', 169, 173.7, 168.94, 170.73, 76_114_600],
      ['2024-03-11', 172.94, 174.38, 172.05, 172.75, 60_139_500],
      ['2024-03-12', 173.15, 174.03, 171.01, 173.23, 59_825_400],
    ],
    timeframe: '1d',
    series: ['Dividends', 'Stock Splits'],
    notes: ['calendar day'],
  },
  {
    vendor: 'Yahoo',
    lines: [
      'Date,Open,High,Low,Close,Adj Close,Volume',
      '2024-01-02,187.15,188.44,183.89,185.64,184.53,82488700',
      '2024-01-03,184.22,185.88,183.43,184.25,183.15,58414500',
    ],
    rows: [
      ['2024-01-02', 187.15, 188.44, 183.89, 185.64, 82_488_700],
      ['2024-01-03', 184.22, 185.88, 183.43, 184.25, 58_414_500],
    ],
    timeframe: '1d',
    series: ['Adj Close'],
    notes: ['"Adj Close" differs from the close by up to 0.60 %'],
  },
  {
    vendor: "Stooq's bulk files",
    lines: [
      '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>',
      'AAPL.US,D,20100104,000000,7.62,7.66,7.58,7.64,493729600,0',
      'AAPL.US,D,20100105,000000,7.66,7.7,7.62,7.66,601904800,0',
    ],
    rows: [
      ['2010-01-04', 7.62, 7.66, 7.58, 7.64, 493_729_600],
      ['2010-01-05', 7.66, 7.7, 7.62, 7.66, 601_904_800],
    ],
    timeframe: '1d',
    series: ['<OPENINT>'],
  },
  {
    vendor: "Polygon's flat files, with times in nanoseconds",
    lines: [
      'ticker,volume,open,close,high,low,window_start,transactions',
      'AAPL,4930,200.29,200.5,200.63,200.29,1744792500000000000,129',
      'AAPL,1815,200.39,200.34,200.61,200.34,1744792560000000000,57',
    ],
    rows: [
      ['2025-04-16T08:35', 200.29, 200.63, 200.29, 200.5, 4930],
      ['2025-04-16T08:36', 200.39, 200.61, 200.34, 200.34, 1815],
    ],
    timeframe: '1m',
    series: ['transactions'],
  },
  {
    vendor: "Polygon's aggregates",
    lines: [
      '{"ticker":"AAPL","queryCount":2,"resultsCount":2,"adjusted":true,"results":[',
      '{"v":135647456,"vw":74.6099,"o":74.06,"c":75.0875,"h":75.15,"l":73.7975,"t":1577941200000,"n":1},',
      '{"v":146535512,"vw":74.7026,"o":74.2875,"c":74.3575,"h":75.145,"l":74.125,"t":1578027600000,"n":1}],',
      '"status":"OK","request_id":"6a7e466379af0a71039d60cc78e72282","count":2}',
    ],
    rows: [
      ['2020-01-02', 74.06, 75.15, 73.7975, 75.0875, 135_647_456],
      ['2020-01-03', 74.2875, 75.145, 74.125, 74.3575, 146_535_512],
    ],
    timeframe: '1d',
    series: ['vw', 'n'],
    notes: ['begins with its session, at 05:00 UTC'],
  },
  {
    vendor: 'TradingView days at the open of the session, which summer time moves',
    lines: [
      'time,open,high,low,close,Volume,Volume MA',
      '1709908200,169,173.7,168.94,170.73,76114600,NaN',
      '1710163800,172.94,174.38,172.05,172.75,60139500,68127050',
      '1710250200,173.15,174.03,171.01,173.23,59825400,65359833',
    ],
    rows: [
      ['2024-03-08', 169, 173.7, 168.94, 170.73, 76_114_600],
      ['2024-03-11', 172.94, 174.38, 172.05, 172.75, 60_139_500],
      ['2024-03-12', 173.15, 174.03, 171.01, 173.23, 59_825_400],
    ],
    timeframe: '1d',
    series: ['Volume MA'],
    notes: ['summer time'],
  },
  {
    vendor: 'TradingView days of a currency, which open the evening before in New York',
    lines: [
      'time,open,high,low,close',
      '1709762400,1.0899,1.0949,1.0868,1.0948',
      '1709848800,1.0948,1.0981,1.0918,1.0939',
      '1710104400,1.0939,1.0945,1.0915,1.0926',
      '1710190800,1.0926,1.0943,1.0902,1.0926',
    ],
    rows: [
      ['2024-03-07', 1.0899, 1.0949, 1.0868, 1.0948, 0],
      ['2024-03-08', 1.0948, 1.0981, 1.0918, 1.0939, 0],
      ['2024-03-11', 1.0939, 1.0945, 1.0915, 1.0926, 0],
      ['2024-03-12', 1.0926, 1.0943, 1.0902, 1.0926, 0],
    ],
    timeframe: '1d',
    notes: ['no volume column', 'summer time'],
  },
  {
    vendor: 'TradingView hours, in ISO 8601 with an offset',
    lines: [
      'time,open,high,low,close,Volume',
      '2024-01-02T09:30:00-05:00,187.15,188.44,185.83,186.02,1000',
      '2024-01-02T10:30:00-05:00,186.02,186.5,185,185.5,900',
    ],
    rows: [
      ['2024-01-02T14:30', 187.15, 188.44, 185.83, 186.02, 1000],
      ['2024-01-02T15:30', 186.02, 186.5, 185, 185.5, 900],
    ],
    timeframe: '1h',
  },
  {
    vendor: 'Coinbase candles, low before high and newest first',
    lines: ['[[1704070800,42400,42600,42500,42550,12.5],', '[1704067200,42300,42500,42400,42450,10.5]]'],
    rows: [
      ['2024-01-01', 42400, 42500, 42300, 42450, 10.5],
      ['2024-01-01T01:00', 42500, 42600, 42400, 42550, 12.5],
    ],
    timeframe: '1h',
    notes: ["Coinbase's columns", 'newest first'],
  },
  {
    vendor: 'Dukascopy, with the day before the month',
    lines: [
      'Gmt time,Open,High,Low,Close,Volume',
      '31.01.2024 23:00:00.000,1.0821,1.0825,1.0818,1.0824,4210.5',
      '01.02.2024 00:00:00.000,1.0824,1.0829,1.0822,1.0826,3999.25',
    ],
    rows: [
      ['2024-01-31T23:00', 1.0821, 1.0825, 1.0818, 1.0824, 4210.5],
      ['2024-02-01', 1.0824, 1.0829, 1.0822, 1.0826, 3999.25],
    ],
    timeframe: '1h',
  },
  {
    vendor: 'Alpha Vantage, newest first',
    lines: [
      'timestamp,open,high,low,close,volume',
      '2024-01-03,184.22,185.88,183.43,184.25,58414460',
      '2024-01-02,187.15,188.44,183.885,185.64,82488674',
    ],
    rows: [
      ['2024-01-02', 187.15, 188.44, 183.885, 185.64, 82_488_674],
      ['2024-01-03', 184.22, 185.88, 183.43, 184.25, 58_414_460],
    ],
    timeframe: '1d',
    notes: ['newest first'],
  },
];

describe('an import of a vendor’s file', () => {
  it.each(SAMPLES)('reads what $vendor means', async ({ lines, rows, timeframe, series = [], notes = [] }) => {
    const bars = await read(...lines);
    expect(rowsOf(bars)).toEqual(rows);
    expect(bars.report).toMatchObject({ timeframe, series });
    for (const name of bars.report.ignored) expect(name).not.toMatch(/^<?(date|time)>?$/i);
    expect(bars.report.notes.map((note, at) => note.includes(notes[at] ?? '(no note)') || note)).toEqual(
      notes.map(() => true),
    );
  });
});

describe('an import of suspicious values', () => {
  const rows = Array.from({ length: 30 }, (_, day) => {
    const open = 100 + (day % 7);
    return `${Date.UTC(2024, 0, 1 + day)},${open},${open + 2},${open - 2},${open + 1}`;
  });

  it('warns of a volume that is an average price', async () => {
    const { report } = await read(
      'time,open,high,low,close,volume',
      ...rows.map((row) => `${row},${row.split(',')[1]}`),
    );
    expect(report.notes).toEqual([expect.stringContaining('"volume" lies between low and high in every bar')]);
  });

  it('warns of a volume that is 0 in every bar', async () => {
    const { report } = await read('time,open,high,low,close,volume', ...rows.map((row) => `${row},0`));
    expect(report.notes).toEqual(['Column "volume" holds no volume: volume is 0 in every bar.']);
  });

  it('warns of a volume that may count money', async () => {
    const { columns, report } = await read('time,open,high,low,close,Volume USD', ...rows.map((row) => `${row},5000`));
    expect(columns.volume[0]).toBe(5000);
    expect(report.notes).toEqual([expect.stringContaining('check that it counts units, not money')]);
  });

  it('warns of minutes counted from midnight, as Lean writes them', async () => {
    const { report } = await read(
      '34200000,1449000,1449200,1448700,1449100,9000',
      '34260000,1449100,1449500,1449000,1449300,800',
    );
    expect(report.notes).toEqual([expect.stringContaining('all times lie on 1970-01-01')]);
  });
});

it('keeps the row numbers of an imported file that runs newest first', async () => {
  const lines = [
    'time,open,high,low,close,volume',
    '2024-01-03,1,1,1,1,1',
    '2024-01-02,1,1,0,1,1',
    '2024-01-01,1,1,1,1,1',
  ];
  await expect(read(...lines)).rejects.toThrow('Row 2 (line 3): low is 0');
});
