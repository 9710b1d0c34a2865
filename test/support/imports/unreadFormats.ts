// The import table: formats that are recognized and refused, with what to do instead.
import type { ImportSection, ImportShape } from './importTable.ts';
import { DAYS, day, line, ohlcv, table } from './sourceBars.ts';
import { zipOf } from './textShapes.ts';

const CSV = table('time,open,high,low,close,volume', DAYS, (bar) => line([day(bar.time), ...ohlcv(bar)]));
/** A file that begins like this is not read, and its content is when it is written as CSV. */
const unread = (shape: string, magic: string, edit: string): ImportShape => ({
  shape,
  file: Buffer.concat([Buffer.from(magic, 'latin1'), Buffer.from([0, 1, 2, 3])]),
  bars: DAYS,
  refused: 'FORMAT_UNKNOWN',
  wayOut: { edit, file: CSV },
});

export const UNREAD: ImportSection = {
  title: 'Formats that are not read',
  shapes: [
    unread('bzip2', 'BZh91AY&SY', 'unpack it with `bunzip2`'),
    unread('xz', '\xfd7zXZ\0', 'unpack it with `unxz`'),
    unread('7-Zip', '7z\xbc\xaf\x27\x1c', 'unpack it with `7z x`'),
    unread('RAR', 'Rar!\x1a\x07', 'unpack it with `unrar x`'),
    { ...unread('an Excel workbook', '', 'save its sheet as CSV'), file: zipOf({ 'xl/workbook.xml': '<workbook/>' }) },
    unread('an old Excel workbook', '\xd0\xcf\x11\xe0', 'save its sheet as CSV'),
    unread('HDF5', '\x89HDF\r\n', 'write it with `to_parquet`'),
    unread('a pickle of Python', '\x80\x04\x95', 'write it with `to_parquet`'),
    unread('an array of numpy', '\x93NUMPY', 'write it with `to_csv`'),
    unread('SQLite', 'SQLite format 3\0', 'write its table as CSV'),
    {
      ...unread('a web page in place of a download', '', 'download it again'),
      file: '<!DOCTYPE html><html>404</html>',
    },
  ],
};
