// A page of a CSV file: the header line and some of the rows, cut out of its bytes as they come.

/** At 300 bytes per row, 15 MB. */
export const MAX_PAGE_ROWS = 50_000;

export interface CsvPage {
  readonly bytes: Buffer;
  /** Whether rows follow. */
  readonly hasMore: boolean;
}

const QUOTE = '"'.charCodeAt(0);
const LINE_END = '\n'.charCodeAt(0);

/**
 * The header line and rows `offset` to `offset + limit - 1`, counted from 0. The chunks after them are not asked for.
 * @param chunks of a file whose lines all end in a line break; a line break within quotes ends no line (RFC 4180)
 */
export async function csvPage(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  offset: number,
  limit: number,
): Promise<CsvPage> {
  const kept: Uint8Array[] = [];
  // The header is line 0.
  let line = 0;
  let isQuoted = false;
  const isShown = (): boolean => line === 0 || (line > offset && line <= offset + limit);
  for await (const chunk of chunks) {
    if (line > offset + limit) return { bytes: Buffer.concat(kept), hasMore: true };
    // Where the shown part of the chunk begins; -1: nothing is shown at the moment.
    let from = isShown() ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] === QUOTE) isQuoted = !isQuoted;
      if (chunk[at] !== LINE_END || isQuoted) continue;
      line++;
      if (from < 0 && isShown()) from = at + 1;
      if (from < 0 || isShown()) continue;
      kept.push(chunk.subarray(from, at + 1));
      from = -1;
      if (line > offset && at + 1 < chunk.length) return { bytes: Buffer.concat(kept), hasMore: true };
    }
    if (from >= 0) kept.push(chunk.subarray(from));
  }
  return { bytes: Buffer.concat(kept), hasMore: false };
}
