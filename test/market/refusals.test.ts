import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { readBarsFile } from '../../src/market/import/barsFile.ts';
import { readBars } from '../../src/market/import/barsTable.ts';
import type { ReadOptions } from '../../src/market/import/readOptions.ts';
import type { BarsTable } from '../../src/market/import/importReport.ts';
import { makeInstrument, parseInstrumentFields } from '../../src/market/instrument.ts';
import { MAX_REFUSALS, MarketDataError } from '../../src/market/import/importError.ts';
import type { Refusal } from '../../src/market/import/importError.ts';
import { readSource } from '../../src/market/import/sourceFile.ts';
import { scaled } from '../support/scale.ts';

const read = async (source: string | Uint8Array, options: ReadOptions = {}): Promise<BarsTable> =>
  readBars(await readSource(typeof source === 'string' ? Buffer.from(source) : source), options);

async function refusalOf(source: string | Uint8Array, options: ReadOptions = {}): Promise<Refusal> {
  return (await refusalsOf(source, options)).refusals[0];
}
async function refusalsOf(source: string | Uint8Array, options: ReadOptions = {}): Promise<MarketDataError> {
  const error: unknown = await read(source, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof MarketDataError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

const HEADER = 'time,open,high,low,close,volume';
const T0 = Date.UTC(2024, 0, 1);
/** Rows with their times in ms since T0. */
const from2024 = (row: string): string => row.replace(/^\d+(?=,)/, (ms) => String(T0 + Number(ms)));
const GOOD = ['0,10,12,9,11,1', '60000,11,13,10,12,1', '120000,12,14,11,13,1', '180000,13,15,12,14,1'].map(from2024);
/** A file of four good minutes with the row `row` (1-based) replaced. */
const withRow = (row: number, cells: string): string => [HEADER, ...GOOD.with(row - 1, from2024(cells))].join('\n');

describe('an import that refuses rows', () => {
  const cases: readonly (readonly [string, string, Refusal['code'], string])[] = [
    ['with a NaN price', '120000,NaN,14,11,13,1', 'VALUE_MISSING', 'open is missing (empty or NaN)'],
    ['with an empty price', '120000,12,,11,13,1', 'VALUE_MISSING', 'high is missing (empty or NaN)'],
    ['with a word for a price', '120000,12,14,abc,13,1', 'VALUE_NOT_A_NUMBER', 'low "abc" is not a number'],
    [
      'with a decimal comma beside decimal points',
      '120000,12.5,14,"11,5",13,1',
      'VALUE_NOT_A_NUMBER',
      'low "11,5" is not a number; write 1234.5, with a decimal point and nothing else',
    ],
    [
      'with a sign of currency',
      '120000,12,14,$11.5,13,1',
      'VALUE_NOT_A_NUMBER',
      'low "$11.5" is not a number; write 1234.5, with a decimal point and nothing else',
    ],
    ['with an infinite price', '120000,12,Infinity,11,13,1', 'VALUE_NOT_A_NUMBER', 'high "Infinity" is not a number'],
    ['with a negative price', '120000,12,14,-11,13,1', 'VALUE_NEGATIVE', 'low -11 is negative'],
    ['with a price of 0', '120000,12,14,0,13,1', 'VALUE_ZERO', 'low is 0; leave out bars that did not trade'],
    ['of zeros', '120000,0,0,0,0,0', 'VALUE_ZERO', 'all prices are 0; leave out bars that did not trade'],
    ['with its high below its low', '120000,12,11,14,13,1', 'HIGH_BELOW_LOW', 'high 11 is below low 14'],
    ['with a negative volume', '120000,12,14,11,13,-1', 'VALUE_NEGATIVE', 'volume -1 is negative'],
    ['with a missing volume', '120000,12,14,11,13,', 'VALUE_MISSING', 'volume is missing (empty or NaN)'],
    ['with its high below the close', '120000,12,12.5,11,13,1', 'HIGH_BELOW_BODY', 'high 12.5 is below close 13'],
    ['with its high below the open', '120000,12,11.5,11,11,1', 'HIGH_BELOW_BODY', 'high 11.5 is below open 12'],
    ['with its low above the open', '120000,12,14,12.5,13,1', 'LOW_ABOVE_BODY', 'low 12.5 is above open 12'],
    ['with its low above the close', '120000,14,14,13.5,13,1', 'LOW_ABOVE_BODY', 'low 13.5 is above close 13'],
    [
      'with the time of the row before',
      '60000,12,14,11,13,1',
      'TIME_DUPLICATE',
      'the time 2024-01-01T00:01:00.000Z appears twice; leave out one of the rows',
    ],
    [
      'with the time of an earlier row',
      '0,12,14,11,13,1',
      'TIME_DUPLICATE',
      'the time 2024-01-01T00:00:00.000Z appears twice, first in row 1; leave out one of the rows',
    ],
    [
      'out of order',
      '30000,12,14,11,13,1',
      'TIME_UNSORTED',
      '2024-01-01T00:00:30.000Z after 2024-01-01T00:01:00.000Z: sort the rows by time',
    ],
    [
      'off the timeframe',
      '121000,12,14,11,13,1',
      'STEP_NOT_MULTIPLE',
      '2024-01-01T00:02:01.000Z after 2024-01-01T00:01:00.000Z: a step of 1.017 min is not a multiple of 1m',
    ],
    ['without a time', ',12,14,11,13,1', 'TIME_UNREADABLE', 'the time is missing'],
    ['with a time that is not a time', 'yesterday,12,14,11,13,1', 'TIME_UNREADABLE', '"yesterday" is not a time'],
    [
      'with a date that could be one of two',
      '03/01/2024,12,14,11,13,1',
      'TIME_UNREADABLE',
      '"03/01/2024" is not a time that is read, since its day and month could be swapped; write ISO 8601',
    ],
    ['with a cell too few', '120000,12,14,11,13', 'ROW_LENGTH', '5 cells, expected 6'],
    ['with a cell too many', '120000,12,14,11,13,1,1', 'ROW_LENGTH', '7 cells, expected 6'],
  ];
  it.each(cases)('refuses a row %s, by its number and line', async (_, cells, code, message) => {
    const refusal = await refusalOf(withRow(3, cells), { timeframe: '1m' });
    expect(refusal).toMatchObject({ code, row: 3, line: 4 });
    expect(refusal.message).toContain(`Row 3 (line 4): ${message}`);
  });

  it('reports every invalid row at once', async () => {
    const rows = ['0,10,12,9,11,1', '60000,-1,13,10,12,1', '120000,12,12.5,11,13,1', '120000,13,15,12,14,1'];
    const text = [HEADER, ...rows.map(from2024)].join('\n');
    const { refusals, total } = await refusalsOf(text, { timeframe: '1m' });
    expect(refusals.map(({ code, row }) => `${row} ${code}`)).toEqual([
      '2 VALUE_NEGATIVE',
      '3 HIGH_BELOW_BODY',
      '4 TIME_DUPLICATE',
    ]);
    expect(total).toBe(3);
  });

  it.each([
    ['the same', GOOD],
    ['another volume', GOOD.map((row) => row.replace(/1$/, '2'))],
  ])('is about duplicates, not about sorting, where a file is appended to itself with %s', async (_, again) => {
    const { refusals, total } = await refusalsOf([HEADER, ...GOOD, ...again].join('\n'));
    expect(refusals.map(({ code, row }) => `${row} ${code}`)).toEqual(
      [5, 6, 7, 8].map((row) => `${row} TIME_DUPLICATE`),
    );
    expect(total).toBe(4);
    expect(refusals[1].message).toContain('appears twice, first in row 2; leave out one of the rows');
  });

  it('is about both where a newer part stands above an older one that overlaps it', async () => {
    const { refusals } = await refusalsOf([HEADER, ...GOOD.slice(1), ...GOOD.slice(0, 2)].join('\n'));
    expect(refusals.map(({ code, row }) => `${row} ${code}`)).toEqual(['4 TIME_UNSORTED', '5 TIME_DUPLICATE']);
  });

  it('is about duplicates where shuffled rows do not show the timeframe', async () => {
    const days = ['05', '02', '08', '02'].map((day) => `2024-01-${day},1,1,1,1,1`);
    const { refusals } = await refusalsOf([HEADER, ...days].join('\n'));
    expect(refusals[0]).toMatchObject({ code: 'TIME_DUPLICATE' });
    expect(refusals[0].message).toContain('2024-01-02T00:00:00.000Z appears twice, in rows 2 and 4');
  });

  it('lists at most twenty rows and counts the rest', async () => {
    const rows = Array.from({ length: 100 }, (_, at) => `${T0 + at * 60_000},1,1,1,${at % 2 ? -1 : 1},1`);
    const error = await refusalsOf([HEADER, ...rows].join('\n'));
    expect(error.refusals.length).toBe(MAX_REFUSALS);
    expect(error.total).toBe(50);
    expect(error.message.split('\n')).toHaveLength(MAX_REFUSALS + 1);
    expect(error.message).toContain('… and 30 more');
  });

  it('tells a fault of whole columns once, with its count, and lists the other rows', async () => {
    const rows = Array.from({ length: 100 }, (_, at) => {
      const close = at === 7 ? 'abc' : '"1,5"';
      return `${T0 + at * 60_000},"1,5",${at < 60 ? '"1,5"' : 2.25},"1,5",${close},${at === 9 ? 'x' : 1}`;
    });
    const error = await refusalsOf([HEADER, ...rows].join('\n'));
    expect(error.message).toBe(
      'Row 1 (line 2): open "1,5" is not a number; write 1234.5, with a decimal point and nothing else. ' +
        'The same fault is in up to 100 of 100 rows, in open, high, low and close.',
    );
    expect([error.refusals.length, error.total]).toEqual([MAX_REFUSALS, 360]);
    const swapped = [
      'time,open,low,high,close,volume',
      ...GOOD,
      from2024('240000,1,2,0.5,-1,1'),
      from2024('300000,2,3,1,2,1'),
    ];
    expect((await refusalsOf(swapped.join('\n'))).message.split('\n')).toEqual([
      'Row 1 (line 2): high 9 is below low 12. The same fault is in 5 of 6 rows. Are the names of the columns high ' +
        'and low swapped? Name the right ones with --columns high=…,low=….',
      'Row 5 (line 6): close -1 is negative',
    ]);
  });

  it('gives the right line in a file without a header, and none after blank lines', async () => {
    expect(await refusalOf(GOOD.with(1, from2024('60000,-1,13,10,12,1')).join('\n'))).toMatchObject({
      row: 2,
      line: 2,
    });
    expect(await refusalOf(`${HEADER}\n${GOOD.with(1, from2024('60000,-1,13,10,12,1')).join('\n\n')}`)).toMatchObject({
      row: 2,
      line: null,
    });
  });
});

describe('an import that refuses a file', () => {
  const cases: readonly (readonly [string, string | Uint8Array, Refusal['code'], string])[] = [
    ['that is empty', '', 'NO_ROWS', 'The file is empty'],
    ['of a header alone', HEADER, 'NO_ROWS', 'no bars'],
    [
      'without a close',
      'time,open,high,low,volume\n0,1,1,1,1',
      'COLUMN_MISSING',
      'No column reads as close. The columns are "time", "open"',
    ],
    ['without a time', 'open,high,low,close,volume\n1,1,1,1,1', 'COLUMN_MISSING', 'No column reads as time'],
    ['with two closes', `${HEADER},Close\n0,1,1,1,1,1,1`, 'COLUMN_DUPLICATE', '"close" and "Close" both read as close'],
    ['of prose', 'Dear reader,\nthis is a letter.', 'FORMAT_UNKNOWN', 'not a table of bars'],
    ['of binary data', Buffer.from([0, 1, 2, 3, 0, 5]), 'FORMAT_UNKNOWN', 'binary data'],
    ['of a zip archive', Buffer.from('PK\x03\x04rest'), 'FILE_UNREADABLE', 'unzip it'],
    ['of an Excel workbook', Buffer.from('PK\x03\x04 … xl/workbook.xml'), 'FORMAT_UNKNOWN', 'Save its sheet as CSV'],
    ['of Feather version 1', Buffer.from('FEA1rest'), 'FORMAT_UNKNOWN', 'version=2'],
    ['of half a gzip file', gzipSync('x'.repeat(1000)).subarray(0, 20), 'FILE_UNREADABLE', 'gzip file is damaged'],
    [
      'of half a Parquet file',
      Buffer.from('PAR1 and nothing after it'),
      'FILE_UNREADABLE',
      'Parquet file cannot be read',
    ],
    ['of half an Arrow file', Buffer.from('ARROW1\0\0 and nothing'), 'FILE_UNREADABLE', 'Arrow file cannot be read'],
    ['of broken JSON', '[[1,2,', 'FILE_UNREADABLE', 'The JSON cannot be read'],
    ['of JSON that is not a list', '{"bars": []}', 'FORMAT_UNKNOWN', 'The JSON is not a list'],
    ['of JSON of other things', '[1, 2, 3]', 'FORMAT_UNKNOWN', 'not a bar'],
    ['of an empty JSON list', '[]', 'NO_ROWS', 'no bars'],
    ['of JSON bars of two shapes', '[[0,1,1,1,1,1],{"a":1}]', 'ROW_LENGTH', 'Row 2'],
    [
      'of too many columns',
      Array.from({ length: 10_001 }, (_, at) => `c${at}`).join(','),
      'FILE_TOO_LARGE',
      'at most 10000',
    ],
    [
      'with an unknown step',
      `${HEADER}\n${T0},1,1,1,1,1\n${T0 + 2_700_000},1,1,1,1,1`,
      'TIMEFRAME_UNKNOWN',
      '45 min apart, which is not a stored timeframe',
    ],
    ['of one bar', `${HEADER}\n0,1,1,1,1,1`, 'TIMEFRAME_UNKNOWN', '--bars SYMBOL:TIMEFRAME=FILE'],
    [
      'whose unit of time changes',
      `${HEADER}\n1735689540000,1,1,1,1,1\n1735689600000000,1,1,1,1,1`,
      'TIME_UNIT_MIXED',
      'Row 2 (line 3): the unit of time changes',
    ],
    [
      'that is shuffled',
      `${HEADER}\n2024-01-05,1,1,1,1,1\n2024-01-02,1,1,1,1,1\n2024-01-08,1,1,1,1,1`,
      'TIME_UNSORTED',
      'Sort them by time, oldest first',
    ],
    [
      'whose dates with slashes are days in neither order',
      `${HEADER}\n13/01/2024,1,1,1,1,1\n01/14/2024,1,1,1,1,1`,
      'TIME_UNREADABLE',
      'its day and month could be swapped',
    ],
    ['of JSON Lines that end halfway', `[${T0},1,1,1,1]\n[${T0 + 60_000},1,`, 'FILE_UNREADABLE', 'file is whole'],
    ['that goes back and forth', [HEADER, ...GOOD.with(1, GOOD[2])].join('\n'), 'TIME_DUPLICATE', 'appears twice'],
    [
      'of several instruments',
      `ticker,${HEADER}\nAAPL,${T0},1,1,1,1,1\nMSFT,${T0},1,1,1,1,1`,
      'SEVERAL_INSTRUMENTS',
      'Column "ticker" names 2 instruments (AAPL, MSFT). Keep the rows of one',
    ],
    ['of JSON with two series', `{"A":[[${T0},1,1,1,1]],"B":[[${T0},1,1,1,1]]}`, 'FORMAT_UNKNOWN', 'holds 2 lists'],
  ];
  it.each(cases)('refuses a file %s', async (_, source, code, message) => {
    const refusal = await refusalOf(source);
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(message);
  });

  it('refuses bars that do not have the given timeframe', async () => {
    const refusal = await refusalOf([HEADER, ...GOOD].join('\n'), { timeframe: '15m' });
    expect(refusal).toMatchObject({ code: 'STEP_NOT_MULTIPLE', row: 2 });
  });

  it('refuses a file that does not exist or is a folder', async () => {
    await expect(readBarsFile('/no/such/file.csv')).rejects.toThrow('There is no file at /no/such/file.csv');
    await expect(readBarsFile(tmpdir())).rejects.toThrow('is not a file');
  });

  it('refuses damaged bytes without any other kind of error', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    const text = fc
      .string({ unit: fc.constantFrom(...Array.from('0123456789.,;\n\r"-:eE NaTtime[]{}')), maxLength: 300 })
      .map((s) => Buffer.from(s));
    const magics = fc.constantFrom('PAR1', 'ARROW1\0\0', '\xff\xff\xff\xff', '\x1f\x8b', '[', `${HEADER}\n`);
    const marked = fc.tuple(magics, bytes).map(([magic, rest]) => Buffer.concat([Buffer.from(magic, 'latin1'), rest]));
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, text, marked), async (source) => {
        await read(source).catch((error: unknown) => expect(error).toBeInstanceOf(MarketDataError));
      }),
      { numRuns: scaled(5000), seed: 11 },
    );
  });
});

describe('an instrument', () => {
  it.each(['', '../etc/passwd', 'A B', '.hidden', 'x'.repeat(101), 'a\nb'])(
    'is refused with the symbol %j',
    (symbol) => {
      expect(() => makeInstrument(symbol)).toThrow('is not a symbol');
    },
  );
  it.each([
    ['{"qtyStep": "1"}', 'qtyStep: Invalid input'],
    ['{"qtyStep": -1}', 'qtyStep: Too small'],
    ['{"tickSize": 0}', 'tickSize: Too small'],
    ['{"lot": 1}', 'Unrecognized key: "lot"'],
    ['qtyStep=1', 'The instrument is not valid JSON'],
    ['[]', 'instrument: Invalid input'],
  ])('is refused with the fields %s', (text, message) => {
    expect(() => parseInstrumentFields(text)).toThrow(message);
  });
  it('is accepted if its fields are valid', () => {
    expect(makeInstrument('BTC-USD', parseInstrumentFields('{"tickSize":0.5}'))).toEqual({
      symbol: 'BTC-USD',
      base: 'BTC',
      quote: 'USD',
      tickSize: 0.5,
      qtyStep: 1e-8,
      minNotional: 0,
      tradesAllDay: true,
      synthetic: false,
    });
  });
});
