// Zip archives: the files inside, as exchanges publish their monthly dumps. Node inflates and checks them; what a
// package would add is the table of contents, which is read here.
import { crc32, inflateRawSync } from 'node:zlib';
import { refuse } from './importError.ts';

interface ZipEntry {
  readonly name: string;
  readonly read: () => Uint8Array;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_LENGTH = 22;
/** The comment at the end of an archive. */
const MAX_COMMENT = 65_535;
const ENTRY_LENGTH = 46;
const LOCAL_LENGTH = 30;
const [STORED, DEFLATED] = [0, 8];
const ENCRYPTED = 1;
/** A larger size is in a record of Zip64. */
const MAX_SIZE = 0xffffffff;

export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

/**
 * The files of an archive, by name; folders and hidden files are left out.
 * @throws MarketDataError FILE_UNREADABLE for a damaged archive, an encrypted one, or one above 4 GiB
 */
export function zipEntries(bytes: Uint8Array, maxBytes: number): readonly ZipEntry[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = endOf(view);
  const count = view.readUInt16LE(end + 10);
  let at = view.readUInt32LE(end + 16);
  const entries: ZipEntry[] = [];
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_LENGTH > view.length || view.readUInt32LE(at) !== ENTRY_SIGNATURE) damaged();
    const [flags, method] = [view.readUInt16LE(at + 8), view.readUInt16LE(at + 10)];
    const [checksum, packed, size] = [16, 20, 24].map((field) => view.readUInt32LE(at + field));
    const nameLength = view.readUInt16LE(at + 28);
    const offset = view.readUInt32LE(at + 42);
    const name = view.toString('utf8', at + ENTRY_LENGTH, at + ENTRY_LENGTH + nameLength);
    at += ENTRY_LENGTH + nameLength + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
    if (name.endsWith('/') || /(?:^|\/)(?:\.|__MACOSX)/.test(name)) continue;
    const read = (): Uint8Array => {
      if (packed === MAX_SIZE || offset === MAX_SIZE) unreadable(name, 'is too large for this reader');
      if (size > maxBytes) unreadable(name, `unpacks to ${size} bytes, more than ${maxBytes}`);
      if ((flags & ENCRYPTED) !== 0) unreadable(name, 'is encrypted');
      if (offset + LOCAL_LENGTH > view.length) damaged();
      const start = offset + LOCAL_LENGTH + view.readUInt16LE(offset + 26) + view.readUInt16LE(offset + 28);
      if (method !== STORED && method !== DEFLATED) unreadable(name, `is packed by method ${method}`);
      const content = view.subarray(start, start + packed);
      const unpacked = method === STORED ? content : inflated(content, maxBytes);
      // Inflated or not, a wrong byte may still be a price.
      return crc32(unpacked) === checksum ? unpacked : damaged();
    };
    entries.push({ name, read });
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function inflated(content: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return inflateRawSync(content, { maxOutputLength: maxBytes });
  } catch {
    return damaged();
  }
}

function endOf(view: Buffer): number {
  for (let at = view.length - END_LENGTH; at >= Math.max(0, view.length - END_LENGTH - MAX_COMMENT); at--)
    if (view.readUInt32LE(at) === END_SIGNATURE) return at;
  return damaged();
}

function damaged(): never {
  refuse('FILE_UNREADABLE', 'The zip archive is damaged. Download it again, or unzip it and import what is inside.');
}

const unreadable = (name: string, why: string): never =>
  refuse('FILE_UNREADABLE', `${name} in the zip archive ${why}. Unzip the archive and import what is inside.`);
