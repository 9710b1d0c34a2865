// Uploads: the bytes of one file as series, by the rules of an import, within limits of what it may unpack to.
import { basename } from 'node:path';
import { refuse } from './importError.ts';
import { filesInside } from './inputFiles.ts';
import { joinParts, readParts } from './joinedSeries.ts';
import type { JoinedSeries, SeriesPart } from './joinedSeries.ts';
import type { ReadOptions } from './readOptions.ts';

interface Upload {
  readonly bytes: Uint8Array;
  /** The name that the file has where it comes from, which may show symbol and timeframe; undefined: not known. */
  readonly filename: string | undefined;
  /** The only symbol to be read; undefined: as the file or its name says. */
  readonly symbol: string | undefined;
  readonly options: ReadOptions;
  /** The most that the file, or all files of an archive together, may unpack to. */
  readonly maxBytes: number;
}

const UNNAMED = 'upload';

/**
 * @param pause called between the files of an archive; throws when nobody waits any more
 * @throws MarketDataError
 */
export async function readUpload(
  { bytes, filename, symbol, options, maxBytes }: Upload,
  pause: () => Promise<void>,
): Promise<readonly JoinedSeries[]> {
  const name = filename === undefined ? UNNAMED : basename(filename);
  const inside = filesInside(name, bytes, maxBytes);
  const files = inside ?? [{ name, read: async () => bytes }];
  const parts: SeriesPart[] = [];
  let left = maxBytes;
  for (const file of files) {
    await pause();
    const content = await file.read();
    if (inside !== null) left -= content.length;
    if (left < 0)
      refuse('FILE_TOO_LARGE', `The archive unpacks to more than ${maxBytes} bytes. Send its files in parts.`);
    const read = { name: file.name, read: async () => content };
    for (const part of await readParts(read, options, symbol, files.length > 1, left)) parts.push(part);
  }
  if (parts.some((part) => part.symbol === UNNAMED))
    refuse('SYMBOL_INVALID', 'The file does not say whose bars it holds. Name the symbol with --symbol SPY.');
  return joinParts(parts);
}
