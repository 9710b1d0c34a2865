// Source files: bytes of any supported format, recognized by their first bytes, into a Table.
import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { readArrow } from './arrowFile.ts';
import { readCsv } from './csv.ts';
import { readJson } from './json.ts';
import { readParquet } from './parquet.ts';
import { CELL_BYTES } from './table.ts';
import type { Table } from './table.ts';
import { MarketDataError, refuse } from './importError.ts';
import { isZip, zipEntries } from './zip.ts';

/** V8 cannot hold a string above 2^29 characters; a CSV of that size has about 8 million bars. */
export const MAX_BYTES = 2 ** 29 - 1024;

/** @throws MarketDataError when the file cannot be read, or not as a table */
export async function readSourceFile(path: string): Promise<Table> {
  return readSource(await readFileBytes(path));
}

/** @throws MarketDataError FILE_UNREADABLE, FILE_TOO_LARGE */
export async function readFileBytes(path: string): Promise<Uint8Array> {
  const found = await stat(path).catch(() => null);
  if (!found) refuse('FILE_UNREADABLE', `There is no file at ${path}. Check the path.`);
  if (!found.isFile()) refuse('FILE_UNREADABLE', `${path} is not a file. Name one file of bars.`);
  if (found.size > MAX_BYTES)
    refuse(
      'FILE_TOO_LARGE',
      `${path} has ${found.size} bytes; at most ${MAX_BYTES} are read. Split it and import the parts with --append.`,
    );
  return readFile(path).catch((error: Error) => refuse('FILE_UNREADABLE', `${path} cannot be read: ${error.message}.`));
}

/**
 * Reads a file by its first bytes, not its name: `.csv` files that are gzip, and the reverse, are common.
 * @param maxBytes the most that it may unpack to
 */
export async function readSource(bytes: Uint8Array, maxBytes = MAX_BYTES): Promise<Table> {
  const plain = unpacked(bytes, maxBytes);
  if (plain.length === 0) refuse('NO_ROWS', 'The file is empty.');
  const text = String.fromCharCode(...plain.subarray(0, 6));
  if (text.startsWith('PAR1')) return guarded('Parquet', () => readParquet(plain, maxBytes));
  if (text === 'ARROW1' || begins(plain, [0xff, 0xff, 0xff, 0xff]))
    return guarded('Arrow', () => readArrow(plain, maxBytes));
  if (text.startsWith('FEA1'))
    refuse('FORMAT_UNKNOWN', 'Feather version 1 is not supported. Write the file again with version=2.');
  if (isZip(plain)) return readZip(plain, maxBytes);
  for (const { magic, what, wayOut } of UNREAD)
    if (begins(plain, magic)) refuse('FORMAT_UNKNOWN', `The file is ${what}, which is not read. ${wayOut}`);
  const utf8 = inUtf8(plain);
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(headOf(utf8)))
    refuse(
      'FORMAT_UNKNOWN',
      'The file is a web page or XML, such as an error in place of a download. Download it again.',
    );
  if (maxBytes < MAX_BYTES) limitCells(utf8, Math.floor(maxBytes / CELL_BYTES));
  return /^\s*[[{]/.test(headOf(utf8)) ? readJson(decoded(utf8)) : readCsv(utf8);
}

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text, 'latin1')];
const PANDAS = 'Write it again from pandas: to_parquet("bars.parquet") or to_csv("bars.csv").';

/** Formats that are recognized and refused, with what to do instead. */
const UNREAD: readonly { readonly magic: readonly number[]; readonly what: string; readonly wayOut: string }[] = [
  { magic: bytesOf('BZh'), what: 'packed by bzip2', wayOut: 'Unpack it with bunzip2, or pack it with gzip.' },
  { magic: bytesOf('\xfd7zXZ'), what: 'packed by xz', wayOut: 'Unpack it with unxz, or pack it with gzip.' },
  { magic: bytesOf('7z\xbc\xaf'), what: 'packed by 7-Zip', wayOut: 'Unpack it with 7z x, or pack it with gzip.' },
  { magic: bytesOf('Rar!'), what: 'packed by RAR', wayOut: 'Unpack it with unrar x, or pack it with gzip.' },
  { magic: bytesOf('\xd0\xcf\x11\xe0'), what: 'an old Excel workbook', wayOut: 'Save its sheet as CSV.' },
  { magic: bytesOf('\x89HDF'), what: 'HDF5', wayOut: PANDAS },
  { magic: bytesOf('\x93NUMPY'), what: "an array of numpy's", wayOut: PANDAS },
  { magic: [0x80, 4, 0x95], what: 'a pickle of Python', wayOut: PANDAS },
  { magic: [0x80, 5, 0x95], what: 'a pickle of Python', wayOut: PANDAS },
  { magic: bytesOf('SQLite'), what: 'a SQLite database', wayOut: 'Write its table as CSV: sqlite3 -csv -header.' },
];

/** What may stand between two cells of a text: comma, line break, semicolon, tab. */
const SEPARATORS: ReadonlySet<number> = new Set([0x2c, 0x0a, 0x3b, 0x09]);

/** Refuses a text whose cells would take much more memory than itself: rows of `1,2`. */
function limitCells(text: Uint8Array, maxCells: number): void {
  let cells = 1;
  for (let at = 0; at < text.length; at++) if (SEPARATORS.has(text[at])) cells++;
  if (cells > maxCells)
    refuse('FILE_TOO_LARGE', `The file has more than ${maxCells} cells. Import fewer columns or a shorter range.`);
}

/** The bytes inside of gzip and Zstandard. */
function unpacked(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (begins(bytes, [0x1f, 0x8b]))
    return unpack('gzip', maxBytes, () => gunzipSync(bytes, { maxOutputLength: maxBytes }));
  if (begins(bytes, [0x28, 0xb5, 0x2f, 0xfd]))
    return unpack('Zstandard', maxBytes, () => zstdDecompressSync(bytes, { maxOutputLength: maxBytes }));
  return bytes;
}

const begins = (bytes: Uint8Array, magic: readonly number[]): boolean => magic.every((byte, at) => bytes[at] === byte);

/** The one file in a zip archive. An Excel workbook is such an archive, but what is inside of it is not CSV. */
async function readZip(bytes: Uint8Array, maxBytes: number): Promise<Table> {
  if (isWorkbook(bytes))
    refuse('FORMAT_UNKNOWN', 'The file is an Excel workbook. Save its sheet as CSV and import that.');
  const entries = zipEntries(bytes, maxBytes);
  if (entries.length === 1) return readSource(entries[0].read(), maxBytes);
  refuse(
    'FORMAT_UNKNOWN',
    `The zip archive has ${entries.length} files, and one is read here. Import the archive with data import, or ` +
      'unzip it and name one of the files.',
  );
}

export const isWorkbook = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('xl/workbook.');

function unpack(format: string, maxBytes: number, unpacking: () => Uint8Array): Uint8Array {
  try {
    return unpacking();
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge)
      refuse(
        'FILE_TOO_LARGE',
        `The file unpacks to more than ${maxBytes} bytes. Split it and import the parts with --append.`,
      );
    refuse(
      'FILE_UNREADABLE',
      `The ${format} file is damaged: ${(error as Error).message}. Download or compress it again.`,
    );
  }
}

/** Reads a table and turns whatever a reader throws on a damaged file into a refusal. */
async function guarded(format: string, read: () => Table | Promise<Table>): Promise<Table> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MarketDataError) throw error;
    refuse(
      'FILE_UNREADABLE',
      `The ${format} file cannot be read: ${(error as Error).message}. Write it again, or export it as CSV.`,
    );
  }
}

/**
 * Text as UTF-8 without a byte order mark. It may be UTF-16 (Excel), with or without one; what is neither is in the
 * encoding of Western European Windows, in which German programs write "Eröffnung".
 */
function inUtf8(bytes: Uint8Array): Uint8Array {
  const isMarked = begins(bytes, [0xff, 0xfe]) || (bytes[1] === 0 && bytes[3] === 0 && bytes[0] > 0 && bytes[2] > 0);
  const utf16 = isMarked ? 'utf-16le' : begins(bytes, [0xfe, 0xff]) ? 'utf-16be' : null;
  const isWhole = utf16 === null && isUtf8(bytes);
  const text = isWhole
    ? begins(bytes, [0xef, 0xbb, 0xbf])
      ? bytes.subarray(3)
      : bytes
    : Buffer.from(new TextDecoder(utf16 ?? 'windows-1252').decode(bytes));
  if (text.includes(0))
    refuse('FORMAT_UNKNOWN', 'The file holds binary data that is not Parquet, Arrow or gzip. Export it as CSV.');
  return text;
}

const decoded = (utf8: Uint8Array): string => Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length).toString('utf8');
const headOf = (utf8: Uint8Array): string => decoded(utf8.subarray(0, 1000));
