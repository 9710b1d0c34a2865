// Text files of the import table: separators, encodings, headers and what stands around a table.
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { ImportSection, ImportShape } from './importTable.ts';
import { DAYS, day, HOURS, line, MINUTES, ohlcv, stamp, table } from './sourceBars.ts';

const HEADER = 'Date,Open,High,Low,Close,Volume';
const row = (bar: (typeof DAYS)[number]): string => line([day(bar.time), ...ohlcv(bar)]);
const csv = table(HEADER, DAYS, row);
const lines = csv.trimEnd().split('\n');
const withDelimiter = (delimiter: string): string => csv.replaceAll(',', delimiter);
const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');

/** A zip archive with one file, written by the format's description. @param isPacked false: stored as it is */
export function zipOf(files: Readonly<Record<string, string>>, isPacked = true): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = isPacked ? deflateRawSync(text) : Buffer.from(text);
    const sizes = [crc32(text), packed.length, Buffer.byteLength(text)].flatMap((size) => [size & 0xffff, size >>> 16]);
    const fields = [20, 0, isPacked ? 8 : 0, 0, 0, ...sizes, Buffer.byteLength(name), 0];
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shorts(fields), Buffer.from(name), packed]);
    const place = [0, 0, 0, 0, 0, offset & 0xffff, offset >>> 16];
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02'), shorts([20, ...fields, ...place]), Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const count = entries.length;
  const end = [
    0,
    0,
    count,
    count,
    directory.length & 0xffff,
    directory.length >>> 16,
    offset & 0xffff,
    offset >>> 16,
    0,
  ];
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), shorts(end)]);
}

function shorts(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, at) => bytes.writeUInt16LE(value, at * 2));
  return bytes;
}

const plain = (shape: string, file: string | Uint8Array, more: Partial<ImportShape> = {}): ImportShape => ({
  shape,
  file,
  bars: DAYS,
  ...more,
});

export const TEXT: ImportSection = {
  title: 'Text files',
  shapes: [
    plain('commas', csv),
    plain('semicolons', withDelimiter(';')),
    plain('tabs', withDelimiter('\t')),
    plain('pipes', withDelimiter('|')),
    plain('runs of spaces', lines.map((each) => each.replaceAll(',', '   ')).join('\n')),
    plain('a byte order mark', `\uFEFF${csv}`),
    plain('UTF-16, as Excel writes Unicode text', utf16(withDelimiter('\t'))),
    plain('UTF-16 with the bytes swapped', utf16(csv).swap16()),
    plain('UTF-16 without a byte order mark', Buffer.from(csv, 'utf16le')),
    plain(
      'the encoding of Windows, with German names',
      Buffer.from(csv.replace(HEADER, 'Datum,Eröffnung,Hoch,Tief,Schluss,Volumen'), 'latin1'),
    ),
    plain('lines that end in CR and LF', csv.replaceAll('\n', '\r\n')),
    plain('lines that end in CR', csv.replaceAll('\n', '\r')),
    plain('no end of the last line', csv.trimEnd()),
    plain(
      'cells in quotes',
      lines
        .map((each) =>
          each
            .split(',')
            .map((cell) => `"${cell}"`)
            .join(','),
        )
        .join('\n'),
    ),
    plain('blank lines', lines.join('\n\n')),
    plain('rows that end in a comma', [lines[0], ...lines.slice(1).map((each) => `${each},`)].join('\n')),
    plain('a line of units below the header', csv.replace('\n', '\n,USD,USD,USD,USD,shares\n')),
    plain('a header and rows that end in a comma', lines.map((each) => `${each},`).join('\n')),
    plain('rows of commas at the end, as spreadsheets leave them', `${csv},,,,,\n,,,,,\n`),
    plain(
      'row names, and a header without one, as R writes them',
      [lines[0].slice('Date,'.length), ...lines.slice(1)].join('\n'),
    ),
    plain(
      'comments between the rows',
      [lines[0], '# checked, twice', ...lines.slice(1, 9), '# half', ...lines.slice(9)].join('\n'),
      { says: 'Skipped 2 lines' },
    ),
    plain('a header in a comment, as numpy writes it', `# ${csv}`),
    plain(
      'a banner of nine lines',
      [...Array.from({ length: 9 }, (_, at) => `Report ${at}, of ${day(DAYS[0].time)}`), ...lines].join('\n'),
      { says: 'above the table' },
    ),
    plain('a footer', `${csv}Source: the exchange\nTotal,,,,,\n`, {
      says: 'Skipped "Source: the exchange" below the table',
    }),
    plain(
      'the header again, where two files were joined',
      [...lines.slice(0, 9), lines[0], ...lines.slice(9)].join('\n'),
      { says: 'repetition' },
    ),
    plain(
      'columns in another order',
      table('Volume,Close,Date,Low,High,Open', DAYS, ({ time, open, high, low, close, volume }) =>
        line([volume, close, day(time), low, high, open]),
      ),
    ),
    plain('an index without a name', csv.replace('Date', '')),
    plain(
      'a counter, and a date',
      table(`,${HEADER}`, DAYS, (bar, at) => `${at},${row(bar)}`),
    ),
    plain('no header', lines.slice(1).join('\n')),
    plain('newest first', [lines[0], ...lines.slice(1).toReversed()].join('\n'), { says: 'newest first' }),
    plain(
      'texts and empty columns beside the bars',
      table(`${HEADER},note,blank`, DAYS, (bar, at) => `${row(bar)},n${at},`),
    ),
    plain('gzip', gzipSync(csv)),
    plain('Zstandard', zstdCompressSync(csv)),
    plain('a zip archive of one file', zipOf({ 'SPY-1d.csv': csv })),
    plain(
      'minutes with many digits and exponents',
      table('time,open,high,low,close,volume', MINUTES, ({ time, ...bar }) =>
        line([
          stamp(time),
          ...ohlcv({ time, ...bar })
            .slice(0, 4)
            .map((value) => value.toExponential(17)),
          bar.volume,
        ]),
      ),
      { bars: MINUTES },
    ),
    plain('a line that breaks off', `${csv}${day(DAYS.at(-1)!.time + 86_400_000)},401.5,40`, {
      refused: 'ROW_LENGTH',
      wayOut: { edit: 'leave the line out', file: csv },
    }),
    plain(
      'hours in time and columns in capitals',
      table('TIMESTAMP,OPEN,HIGH,LOW,CLOSE,VOLUME', HOURS, (bar) => line([stamp(bar.time), ...ohlcv(bar)])),
      { bars: HOURS },
    ),
  ],
};
