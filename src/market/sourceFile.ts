// Source files: bytes of any supported format, recognized by their first bytes, into a Table.
import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { readArrow } from './arrowFile.ts';
import { readCsv } from './csv.ts';
import { readJson } from './json.ts';
import { readParquet } from './parquet.ts';
import type { Table } from './table.ts';
import { MarketDataError, refuse } from './importError.ts';

/** V8 cannot hold a string above 2^29 characters; a CSV of that size has about 8 million bars. */
const MAX_BYTES = 2 ** 29 - 1024;

/** @throws MarketDataError when the file cannot be read, or not as a table */
export async function readSourceFile(path: string): Promise<Table> {
  const found = await stat(path).catch(() => null);
  if (!found) refuse('FILE_UNREADABLE', `There is no file at ${path}. Check the path.`);
  if (!found.isFile()) refuse('FILE_UNREADABLE', `${path} is not a file. Name one file of bars.`);
  if (found.size > MAX_BYTES)
    refuse(
      'FILE_TOO_LARGE',
      `${path} has ${found.size} bytes; at most ${MAX_BYTES} are read. Split it and import the parts with --append.`,
    );
  const bytes = await readFile(path).catch((error: Error) =>
    refuse('FILE_UNREADABLE', `${path} cannot be read: ${error.message}.`),
  );
  return readSource(bytes);
}

/** Reads a file by its first bytes, not its name: `.csv` files that are gzip, and the reverse, are common. */
export async function readSource(bytes: Uint8Array): Promise<Table> {
  const plain = begins(bytes, [0x1f, 0x8b]) ? unzip(bytes) : bytes;
  if (plain.length === 0) refuse('NO_ROWS', 'The file is empty.');
  const text = String.fromCharCode(...plain.subarray(0, 6));
  if (text.startsWith('PAR1')) return guarded('Parquet', () => readParquet(plain));
  if (text === 'ARROW1' || begins(plain, [0xff, 0xff, 0xff, 0xff])) return guarded('Arrow', () => readArrow(plain));
  if (text.startsWith('FEA1'))
    refuse('FORMAT_UNKNOWN', 'Feather version 1 is not supported. Write the file again with version=2.');
  if (text.startsWith('PK\x03\x04')) refuseZip(plain);
  const decoded = decodeText(plain);
  if (/^\s*[[{]/.test(decoded)) return readJson(decoded);
  return readCsv(decoded);
}

const begins = (bytes: Uint8Array, magic: readonly number[]): boolean => magic.every((byte, at) => bytes[at] === byte);

/** Excel workbooks are zip archives, but what is inside of them is not CSV. */
function refuseZip(bytes: Uint8Array): never {
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('xl/workbook.'))
    refuse('FORMAT_UNKNOWN', 'The file is an Excel workbook. Save its sheet as CSV and import that.');
  refuse('FORMAT_UNKNOWN', 'The file is a zip archive. Unzip it and import the CSV inside.');
}

function unzip(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge)
      refuse(
        'FILE_TOO_LARGE',
        `The file unpacks to more than ${MAX_BYTES} bytes. Split it and import the parts with --append.`,
      );
    refuse('FILE_UNREADABLE', `The gzip file is damaged: ${(error as Error).message}. Download or compress it again.`);
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
 * Decodes UTF-8, or UTF-16 with a byte order mark (Excel), which is dropped; what is neither is in the encoding of
 * Western European Windows, in which German programs write "Eröffnung".
 */
function decodeText(bytes: Uint8Array): string {
  const encoding = begins(bytes, [0xff, 0xfe]) ? 'utf-16le' : begins(bytes, [0xfe, 0xff]) ? 'utf-16be' : 'utf-8';
  const text = new TextDecoder(encoding !== 'utf-8' || isUtf8(bytes) ? encoding : 'windows-1252').decode(bytes);
  if (text.includes('\0'))
    refuse('FORMAT_UNKNOWN', 'The file holds binary data that is not Parquet, Arrow or gzip. Export it as CSV.');
  return text;
}
