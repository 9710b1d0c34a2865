// Pages of CSV files: what a query asks for, and the header line and some of the rows, cut out of the bytes of a file
// as they come.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { queryRefused } from './envelopeIssues.ts';

/** The most rows of a page: 15 MB, at 300 bytes per row. */
const MAX_PAGE_ROWS = 50_000;

/** An optional query parameter. */
export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error }).optional();
};
/** Query parameters of a file that can be CSV. */
export const CSV_PAGE_PARAMETERS = {
  limit: wholeNumber(1, MAX_PAGE_ROWS).meta({
    type: 'integer',
    description: `CSV only: the most rows of a page, 1 to ${MAX_PAGE_ROWS}.`,
  }),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER).meta({
    type: 'integer',
    description: `CSV only: rows before the page. Default 0; without limit, ${MAX_PAGE_ROWS} rows follow.`,
  }),
};

export interface PageRange {
  /** Rows before the page. */
  readonly offset: number;
  /** The most rows on it. */
  readonly limit: number;
}

/** The page that is asked for; undefined: the whole file. @throws VALIDATION_FAILED for a page of another format */
export function pageRangeOf(
  { limit, offset }: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  format: string,
): PageRange | undefined {
  if (limit === undefined && offset === undefined) return undefined;
  if (format === 'csv') return { offset: offset ?? 0, limit: limit ?? MAX_PAGE_ROWS };
  const field = limit === undefined ? 'offset' : 'limit';
  const message = `Only CSV files have pages, and this is ${format}. Add format=csv, or leave out limit and offset.`;
  throw queryRefused(field, message);
}

/** Sends the file, or a page of it with the address of the next one. @param url the link to this page */
export async function sendRows(
  reply: FastifyReply,
  url: string,
  chunks: AsyncIterable<Uint8Array>,
  page: PageRange | undefined,
): Promise<FastifyReply> {
  if (page === undefined) return reply.send(Readable.from(chunks));
  const { bytes, hasMore } = await csvPage(chunks, page.offset, page.limit);
  if (hasMore) {
    // The next page comes from the same file, whatever the Accept header of that request.
    const { limit } = page;
    const next = { format: 'csv', limit: String(limit), offset: String(page.offset + limit) };
    reply.header('link', nextPage(url, next));
  }
  return reply.send(bytes);
}

/** The header Link of a page that another one follows. @param members of the query that change */
export function nextPage(url: string, members: Readonly<Record<string, string>>): string {
  const [path, query] = url.split('?');
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(members)) next.set(name, value);
  return `<${path}?${next.toString()}>; rel="next"`;
}

interface CsvPage {
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
