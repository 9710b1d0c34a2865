// Source files: bytes of any supported format, told apart by what they begin with, into a Table.
import { readFile, stat } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { readArrow } from './arrowFile.ts';
import { readCsv } from './csv.ts';
import { readParquet } from './parquet.ts';
import { CellsBuilder, MAX_CELLS, MAX_COLUMNS } from './table.ts';
import type { Table } from './table.ts';
import { MarketDataError, refuse } from './refusal.ts';

/** V8 holds no string above 2^29 characters; a CSV of that size has about 8 million bars. */
const MAX_BYTES = 2 ** 29 - 1024;

/** @throws MarketDataError when the file cannot be read, or not as a table */
export async function readSourceFile(path: string): Promise<Table> {
  const found = await stat(path).catch(() => null);
  if (!found) refuse('FILE_UNREADABLE', `No file at ${path}.`);
  if (!found.isFile()) refuse('FILE_UNREADABLE', `${path} is no file.`);
  if (found.size > MAX_BYTES)
    refuse('FILE_TOO_LARGE', `${path} has ${found.size} bytes; at most ${MAX_BYTES} are read. Split it.`);
  const bytes = await readFile(path).catch((error: Error) =>
    refuse('FILE_UNREADABLE', `${path} cannot be read: ${error.message}.`),
  );
  return readSource(bytes);
}

/** The format is told by the first bytes, never by the name: `.csv` files that are gzip, and the other way round, are common. */
export async function readSource(bytes: Uint8Array): Promise<Table> {
  const plain = begins(bytes, [0x1f, 0x8b]) ? unzip(bytes) : bytes;
  if (plain.length === 0) refuse('NO_ROWS', 'The file is empty.');
  const text = String.fromCharCode(...plain.subarray(0, 6));
  if (text.startsWith('PAR1')) return guarded('Parquet', () => readParquet(plain));
  if (text === 'ARROW1' || begins(plain, [0xff, 0xff, 0xff, 0xff])) return guarded('Arrow', () => readArrow(plain));
  if (text.startsWith('FEA1'))
    refuse('FORMAT_UNKNOWN', 'Feather version 1 is not read: write it again with version=2.');
  if (text.startsWith('PK\x03\x04'))
    refuse('FORMAT_UNKNOWN', 'The file is a zip archive: unzip it and import the CSV inside.');
  const decoded = decodeText(plain);
  if (/^\s*[[{]/.test(decoded)) return readJson(decoded);
  return readCsv(decoded);
}

const begins = (bytes: Uint8Array, magic: readonly number[]): boolean => magic.every((byte, at) => bytes[at] === byte);

function unzip(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) refuse('FILE_TOO_LARGE', `The file unpacks to more than ${MAX_BYTES} bytes. Split it.`);
    refuse('FILE_UNREADABLE', `The gzip file is damaged: ${(error as Error).message}.`);
  }
}

/** A damaged file makes its reader throw whatever it stumbled over. */
async function guarded(format: string, read: () => Table | Promise<Table>): Promise<Table> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MarketDataError) throw error;
    refuse('FILE_UNREADABLE', `The ${format} file cannot be read: ${(error as Error).message}.`);
  }
}

/** UTF-8, or UTF-16 as its byte order mark says (Excel); the mark itself is dropped. */
function decodeText(bytes: Uint8Array): string {
  const encoding = begins(bytes, [0xff, 0xfe]) ? 'utf-16le' : begins(bytes, [0xfe, 0xff]) ? 'utf-16be' : 'utf-8';
  const text = new TextDecoder(encoding).decode(bytes);
  if (text.includes('\0'))
    refuse('FORMAT_UNKNOWN', 'The file is neither CSV, JSON, Parquet nor Arrow: it holds binary data.');
  return text;
}

/** ccxt's `[[ms, o, h, l, c, v], …]`, or a list of objects `{time, open, …}`. */
function readJson(text: string): Table {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    refuse('FILE_UNREADABLE', `The JSON cannot be read: ${(error as Error).message}.`);
  }
  const shape = 'Expected a list of bars: [[time, open, high, low, close, volume], …] or [{"time": …, "open": …}, …].';
  if (!Array.isArray(rows)) refuse('FORMAT_UNKNOWN', `The JSON is no list. ${shape}`);
  if (rows.length === 0) refuse('NO_ROWS', 'The file holds no bars.');
  const [first] = rows as unknown[];
  const isObjects = typeof first === 'object' && first !== null && !Array.isArray(first);
  const names = isObjects ? Object.keys(first) : null;
  const width = names?.length ?? (Array.isArray(first) ? first.length : 0);
  if (width < 5 || width > MAX_COLUMNS || width * rows.length > MAX_CELLS)
    refuse('FORMAT_UNKNOWN', `The JSON's first element is no bar. ${shape}`);
  const builders = Array.from({ length: width }, () => new CellsBuilder(rows.length));
  (rows as unknown[]).forEach((row, index) => {
    if (typeof row !== 'object' || row === null || Array.isArray(row) === isObjects) {
      throw new MarketDataError([
        {
          code: 'ROW_LENGTH',
          row: index + 1,
          line: null,
          message: `Row ${index + 1} is no bar like the first. ${shape}`,
        },
      ]);
    }
    const cell = (at: number): unknown =>
      names ? (row as Record<string, unknown>)[names[at]] : (row as unknown[])[at];
    builders.forEach((builder, at) => builder.push(cell(at)));
  });
  return {
    format: 'json',
    names,
    rowCount: rows.length,
    columns: builders.map((builder) => builder.finish()),
    firstLine: null,
  };
}
