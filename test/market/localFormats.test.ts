// Files in the formats of a country: names of columns, dates with the names of months, separators of numbers. What the
// file itself decides is read, and said; what may mean two things is refused.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBars } from '../../src/market/import/barsTable.ts';
import { MarketDataError } from '../../src/market/import/importError.ts';
import type { BarsTable } from '../../src/market/import/importReport.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';

const read = async (lines: readonly string[], encoding: BufferEncoding = 'utf8'): Promise<BarsTable> =>
  readBars(await readSource(Buffer.from(lines.join('\n'), encoding)));
const refusalOf = async (lines: readonly string[]): Promise<string> => {
  const error: unknown = await read(lines).catch((thrown: unknown) => thrown);
  if (!(error instanceof MarketDataError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error.message;
};
const rowsOf = ({ columns }: BarsTable): unknown[][] =>
  Array.from(columns.time, (time, row) => [
    new Date(time).toISOString().slice(0, 10),
    ...(['open', 'high', 'low', 'close', 'volume'] as const).map((name) => columns[name][row]),
  ]);

const COMMA = 'Numbers have a decimal comma: 1.234,5 is read as 1234.5.';
const THOUSANDS = 'Commas in numbers separate thousands: 1,234.5 is read as 1234.5.';

describe('a file in the format of a country', () => {
  it('is read as investing.com writes it', async () => {
    const bars = await read([
      '"Date","Price","Open","High","Low","Vol.","Change %"',
      '"01/14/2022","4,662.85","4,637.99","4,665.13","4,614.75","","0.08%"',
      '"01/13/2022","4,659.03","4,733.56","4,744.13","4,650.29","","-1.42%"',
      '"01/12/2022","998.50","997.00","999.00","996.25","","0.28%"',
    ]);
    expect(rowsOf(bars)).toEqual([
      ['2022-01-12', 997, 999, 996.25, 998.5, 0],
      ['2022-01-13', 4733.56, 4744.13, 4650.29, 4659.03, 0],
      ['2022-01-14', 4637.99, 4665.13, 4614.75, 4662.85, 0],
    ]);
    expect(bars.report.notes).toContain(THOUSANDS);
    expect(bars.report.notes.join()).toContain('Dates are read as month/day/year');
    expect(bars.report.ignored).toEqual(['Change %']);
  });

  it('has its volume in thousands and millions', async () => {
    const bars = await read([
      'Date,Price,Open,High,Low,Vol.,Change %',
      '"Jan 03, 2022",182.01,177.83,182.88,177.71,104.70M,2.50%',
      '"Jan 04, 2022",179.70,182.63,182.94,179.12,950.5K,-1.27%',
      '"Jan 05, 2022",174.92,179.61,180.17,174.64,1.1B,-2.66%',
    ]);
    expect(rowsOf(bars).map(([day, , , , close, volume]) => [day, close, volume])).toEqual([
      ['2022-01-03', 182.01, 104_700_000],
      ['2022-01-04', 179.7, 950_500],
      ['2022-01-05', 174.92, 1_100_000_000],
    ]);
    expect(bars.report.notes.join()).toContain(
      'Column "Vol." is written in thousands, millions or billions: 104.70M is 104700000, as exact as it is written.',
    );
  });

  const german = [
    'Datum;Eröffnung;Hoch;Tief;Schluss;Volumen',
    '03.01.2022;15.947,44;16.020,73;15.882,15;16.020,00;1.234.567',
    '04.01.2022;16.040;16.167,21;16.040;16.152,61;987.654',
    '05.01.2022;999,5;1.000;999,25;999,75;12',
  ];
  it.each<[string, (text: string) => string, BufferEncoding]>([
    ['as it is', (text) => text, 'utf8'],
    ['in the encoding of Windows', (text) => text, 'latin1'],
    ['with letters and accents apart', (text) => text.normalize('NFD'), 'utf8'],
    ['without umlauts', (text) => text.replace('ö', 'oe').replace('Schluss', 'Schlusskurs'), 'utf8'],
    ['with tabs', (text) => text.replaceAll(';', '\t'), 'utf8'],
    ['as de.investing.com', (text) => text.replace('Eröffnung', 'Eröffn.').replace('Schluss', 'Zuletzt'), 'utf8'],
  ])('is read in German %s', async (_, changed, encoding) => {
    const bars = await read(german.map(changed), encoding);
    expect(rowsOf(bars)).toEqual([
      ['2022-01-03', 15947.44, 16020.73, 15882.15, 16020, 1_234_567],
      ['2022-01-04', 16040, 16167.21, 16040, 16152.61, 987_654],
      ['2022-01-05', 999.5, 1000, 999.25, 999.75, 12],
    ]);
    expect(bars.report.notes).toEqual([COMMA]);
  });

  const inGerman = [
    ['2022-01-03', 15947.44, 16020.73, 15882.15, 16020, 1_234_567],
    ['2022-01-04', 16040, 16167.21, 16040, 16152.61, 987_654],
    ['2022-01-05', 999.5, 1000, 999.25, 999.75, 12],
  ];
  const quoted = (line: string): string =>
    line
      .split(';')
      .map((cell) => `"${cell}"`)
      .join(',');
  it.each<[string, readonly string[], unknown[][]]>([
    ['with a volume', german.slice(1), inGerman],
    ['in quotes', german.slice(1).map(quoted), inGerman],
    ['below a remark', ['Kurse von morgen', ...german.slice(1)], inGerman],
    // As many commas as semicolons.
    [
      'without a volume',
      ['03.01.2022;15,25;16,5;14,75;16,0', '04.01.2022;16,0;17,5;15,25;17,25'],
      [
        ['2022-01-03', 15.25, 16.5, 14.75, 16, 0],
        ['2022-01-04', 16, 17.5, 15.25, 17.25, 0],
      ],
    ],
  ])('may have decimal commas and no header: %s', async (_, lines, rows) => {
    const bars = await read(lines);
    expect(rowsOf(bars)).toEqual(rows);
    expect(bars.report.notes).toContain(COMMA);
  });

  it('may have decimal commas, no header, and the date and time in two columns', async () => {
    const bars = await read(['2022.01.03;09:00;1,25;2,5;1;2;100', '2022.01.03;09:15;2;3,5;1,75;3;50']);
    expect([...bars.columns.time]).toEqual([Date.UTC(2022, 0, 3, 9), Date.UTC(2022, 0, 3, 9, 15)]);
    expect([...bars.columns.high, ...bars.columns.volume]).toEqual([2.5, 3.5, 100, 50]);
  });

  it("shows Kraken's columns by its numbers also with decimal commas and no header", async () => {
    const bars = await read(['1641168000;1,5;2,5;1,25;2;1,75;100,5;7', '1641254400;2;3;1,5;2,5;2,25;50,25;9']);
    expect([...bars.columns.volume]).toEqual([100.5, 50.25]);
    expect([...bars.columns.series.keys()]).toEqual(['vwap', 'count']);
  });

  it.each<[string, (rows: readonly (readonly unknown[])[]) => unknown]>([
    [
      'objects',
      (rows) => rows.map(([time, open, high, low, close, volume]) => ({ time, open, high, low, close, volume })),
    ],
    ['lists', (rows) => rows],
  ])('has decimal commas in strings of JSON, beside numbers that are ones already: %s', async (_, shaped) => {
    const rows = [
      ['2022-01-03', '15.947,44', '16.020,73', '15.882,15', '16.020', 1.234],
      ['2022-01-04', '16.040', '16.167,21', 16040, '16.152,61', null],
    ];
    const bars = await read([JSON.stringify(shaped(rows.map((row) => row.map((cell) => cell ?? 5))))]);
    expect(rowsOf(bars)).toEqual([
      ['2022-01-03', 15947.44, 16020.73, 15882.15, 16020, 1.234],
      ['2022-01-04', 16040, 16167.21, 16040, 16152.61, 5],
    ]);
    expect(bars.report.notes).toContain(COMMA);
  });

  it('takes units for the volume where German files have units and money', async () => {
    const bars = await read([
      'Datum;Erster;Hoch;Tief;Schlusskurs;Stuecke;Volumen',
      '2022-01-03;10,5;11;10;10,75;200;2.150',
      '2022-01-04;10,75;11,5;10,5;11;1.300;14.300',
    ]);
    expect([...bars.columns.volume]).toEqual([200, 1300]);
    expect([...bars.columns.series.get('Volumen')!]).toEqual([2150, 14_300]);
  });

  it('may have German names and decimal points', async () => {
    const bars = await read(['Datum;Open;Hoch;Tief;Close', '2022-01-03;1.5;1.75;1.250;1.5', '2022-01-04;2;2;2;2']);
    expect([...bars.columns.low]).toEqual([1.25, 2]);
  });

  it('has its date and time in two columns with German names', async () => {
    const lines = ['Datum;Uhrzeit;Open;High;Low;Close', '03.01.2022;09:00;1;2;1;2', '03.01.2022;09:15;2;3;2;3'];
    const bars = await read(lines);
    expect([...bars.columns.time]).toEqual([Date.UTC(2022, 0, 3, 9), Date.UTC(2022, 0, 3, 9, 15)]);
  });

  it.each([
    ['03-Jan-2022', '04-Jan-2022'],
    ['3-JAN-2022', '4-JAN-2022'],
    ['03 Jan 2022', '04 Jan 2022'],
    ['Jan 03, 2022', 'Jan 04, 2022'],
    ['January 3, 2022', 'January 4, 2022'],
    ['3. Januar 2022', '4. Januar 2022'],
    ['03-Jän-2022', '04-Jän-2022'],
    ['3.1.2022', '4.1.2022'],
    ['03-Jan-2022 00:00:00', '04-Jan-2022 00:00:00'],
  ])('has dates that name their month or have dots: %s', async (first, second) => {
    const bars = await read(['Date;Open;High;Low;Close', `${first};1;2;1;2`, `${second};2;3;2;3`]);
    expect(rowsOf(bars).map(([day]) => day)).toEqual(['2022-01-03', '2022-01-04']);
    expect(bars.report.time.unit).toBe(`dates such as ${first}`);
  });

  it.each(['Mär', 'März', 'Maerz', 'Mrz', 'March', 'mar'])('knows the month %s', async (month) => {
    const lines = ['Date;Open;High;Low;Close', `30-${month}-2022;1;2;1;2`, `31-${month}-2022;2;3;2;3`];
    expect(rowsOf(await read(lines)).map(([day]) => day)).toEqual(['2022-03-30', '2022-03-31']);
  });

  it('has dates with hyphens whose order one of them shows', async () => {
    const lines = ['Date;Open;High;Low;Close', '12-01-2022;1;2;1;2', '13-01-2022;2;3;2;3'];
    const { report, ...bars } = await read(lines);
    expect(rowsOf({ report, ...bars }).map(([day]) => day)).toEqual(['2022-01-12', '2022-01-13']);
    expect(report.notes.join()).toContain('Dates are read as day/month/year, the only order');
  });

  it.each(['en-US', 'de-DE'])('has the numbers that were written, in %s', async (locale) => {
    const format = (value: number) => value.toLocaleString(locale, { maximumFractionDigits: 4 });
    const price = fc.integer({ min: 1, max: 30_000_000 }).map((cents) => cents / 100);
    await fc.assert(
      fc.asyncProperty(fc.array(price, { minLength: 2, maxLength: 30 }), async (prices) => {
        // One price that only one reading allows.
        const all = [0.25, ...prices];
        const day = (at: number) => new Date(Date.UTC(2022, 0, 1 + at)).toISOString().slice(0, 10);
        const rows = all.map((value, at) => [day(at), ...Array<string>(4).fill(format(value)), format(at)].join(';'));
        const { columns } = await read(['time;open;high;low;close;volume', ...rows]);
        expect([...columns.close]).toEqual(all);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a file that may mean two things is refused', () => {
  const prices = (...texts: readonly string[]): string[] => [
    'Date;Open;High;Low;Close;Volume',
    ...texts.map((text, at) => `2022-01-0${at + 3};${text};${text};${text};${text};1`),
  ];
  it.each([
    [
      '1,234 is about one or a thousand',
      prices('1,234', '1,240'),
      'open "1,234" may be 1.234 or 1234, and the file does not show which; write 1234.5',
    ],
    ['decimal commas and points', prices('12,5', '12.5'), 'open "12,5" is not a number; write 1234.5'],
    [
      '1,234 without a header',
      ['03.01.2022;1,234;1,250;1,230;1,240', '04.01.2022;1,240;1,250;1,230;1,234'],
      'Row 1: open "1,234" may be 1.234 or 1234, and the file does not show which; write 1234.5',
    ],
    [
      '1,234 in strings of JSON',
      [JSON.stringify([1, 2].map((day) => [`2022-01-0${day}`, '1,234', '1,234', '1,234', '1,234']))],
      'Row 1: open "1,234" may be 1.234 or 1234, and the file does not show which; write 1234.5',
    ],
    ['both kinds of thousands', prices('1.234,50', '1,234.50'), 'open "1.234,50" is not a number'],
    ['a word among decimal commas', prices('12,5', 'abc'), 'Row 2 (line 3): open "abc" is not a number'],
    [
      'a volume in another format than the prices',
      ['Date;Open;High;Low;Close;Volume', '2022-01-03;1,5;1,5;1,5;1,5;1,234,567', '2022-01-04;1,5;1,5;1,5;1,5;1'],
      'volume "1,234,567" is not a number',
    ],
    [
      'a volume of 1,234 beside whole prices',
      ['Date;Open;High;Low;Close;Volume', '2022-01-03;15;15;15;15;1,234', '2022-01-04;15;15;15;15;1'],
      'volume "1,234" may be 1.234 or 1234',
    ],
    [
      'prices that may be thousands beside a volume with a decimal comma',
      ['Date;Open;High;Low;Close;Volume', '2022-01-03;1.105;1.105;1.105;1.105;12,5', '2022-01-04;2;2;2;2;1'],
      'volume "12,5" is not a number',
    ],
    [
      'German prices of which none shows the decimal separator',
      ['Datum;Eröffnung;Hoch;Tief;Schluss', '2022-01-03;15.947;15.947;15.947;15.947', '2022-01-04;16;16;16;16'],
      'A price of 15.947 may be 15947 or 15.947, and no other price shows which',
    ],
    [
      'dates with hyphens in either order',
      ['Date;Open;High;Low;Close', '03-01-2022;1;1;1;1', '04-01-2022;1;1;1;1'],
      '"03-01-2022" is not a time that is read, since its day and month could be swapped; write ISO 8601',
    ],
    [
      'years of two digits',
      ['Date;Open;High;Low;Close', '03-Jan-22;1;1;1;1', '04-Jan-22;1;1;1;1'],
      '"03-Jan-22" is not a time that is read, since its year has two digits; write ISO 8601',
    ],
    [
      'a date that does not exist',
      ['Date;Open;High;Low;Close', '30-Feb-2022;1;1;1;1', '04-Mar-2022;1;1;1;1'],
      '"30-Feb-2022" is not a time; write ISO 8601',
    ],
  ])('%s', async (_, lines, message) => {
    expect(await refusalOf(lines)).toContain(message);
  });

  it('a file whose rows have one time, by the name of the column', async () => {
    const rows = Array.from({ length: 300 }, () => '2022-01-03,1,1,1,1,1');
    for (const options of [{}, { timeframe: '1h' as const }, { timeframeHint: '1d' as const }]) {
      const table = await readSource(Buffer.from(['Date,Open,High,Low,Close,Volume', ...rows].join('\n')));
      expect(() => readBars(table, options)).toThrow(
        'All 300 rows have the time 2022-01-03T00:00:00.000Z, in column "Date". Each bar needs its own: write the ' +
          'date and the time of day into one column, or into two named date and time.',
      );
    }
  });
});
