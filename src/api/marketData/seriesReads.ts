// Reading series: the bars that a request names, opened as a market, and a page of their rows in the asked format.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createMarket, csvFile, encodeTable, jsonFile, RunStopped, TIMEFRAMES, toMs } from '../../engine/index.ts';
import type { ConfigTime, Market, SeriesName, Table, Timeframe } from '../../engine/index.ts';
import type { Catalog, CatalogEntry } from '../../market/catalog.ts';
import { similarSymbol } from '../../market/similarSymbol.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import type { Caller } from '../http/auth/authentication.ts';
import { nextPage } from '../http/csvPages.ts';
import { acceptedFormat, fileContents, setFileHeaders } from '../http/files.ts';
import { linkTo, type PublicAddress } from '../http/links.ts';
import { paginate, type PagePosition } from '../http/pagination.ts';
import { problem } from '../http/problems.ts';
import { Json } from '../http/routeSchemas.ts';

const ROWS_FORMATS = ['json', 'csv', 'arrow'] as const;
type RowsFormat = (typeof ROWS_FORMATS)[number];

const DEFAULT_ROWS = 500;
/** A page of thirty columns is then some megabytes. */
const MAX_ROWS = 10_000;

export const RowTimeframe = z.enum(TIMEFRAMES);
/** The part of a series that is asked for, and the page of it. @param whole an optional whole number */
export const rowMembers = <Whole extends z.ZodType>(whole: (min: number, max: number) => Whole) => ({
  last: whole(1, 100_000_000).meta({ type: 'integer', description: 'Only the newest so many rows of the range.' }),
  limit: whole(1, MAX_ROWS).meta({
    type: 'integer',
    description: `The most rows of a page, 1 to ${MAX_ROWS}. Default ${DEFAULT_ROWS}.`,
  }),
  cursor: z.string().min(1).max(2_000).optional().meta({
    description: '`pagination.nextCursor` of the page before, for the same rows.',
  }),
  format: z.enum(ROWS_FORMATS).optional().meta({ description: 'Takes precedence over the Accept header.' }),
});
/** The 200 answer of a route that answers rows. */
export const rowsAnswer = (rows: z.ZodType) => ({
  description: 'The rows of the page, oldest first.',
  // A plain JSON schema, because the two OpenAPI plugins would wrap a zod schema twice.
  headers: {
    link: { type: 'string', description: 'Of a file that has a next page: <its address>; rel="next".' },
    'next-cursor': { type: 'string', description: 'The same of a POST: the `cursor` of the next body.' },
  },
  content: fileContents(ROWS_FORMATS, rows),
});
export const RowsPagination = z.object({
  limit: z.int(),
  nextCursor: z.string().nullable(),
  hasMore: z.boolean(),
  total: z.int(),
});
export const Rows = z.array(Json);

interface AskedRows {
  readonly start?: z.infer<typeof ConfigTime> | null | undefined;
  readonly end?: z.infer<typeof ConfigTime> | null | undefined;
  readonly last?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly format?: RowsFormat | undefined;
}

export const rangeOf = ({ start, end }: AskedRows) => ({ start: toMs(start), end: toMs(end) });

/** The timeframe of a path. @throws NOT_FOUND */
export function requireTimeframe(given: string): Timeframe {
  const found = TIMEFRAMES.find((timeframe) => timeframe === given);
  if (found !== undefined) return found;
  throw problem('NOT_FOUND', {
    message: `There is no timeframe "${given}". Use one of ${TIMEFRAMES.join(', ')}.`,
  });
}

/** @throws NOT_FOUND, with the symbol or the timeframes that were probably meant */
export async function requireSeries(catalog: Catalog, { symbol, timeframe }: SeriesName): Promise<CatalogEntry> {
  const found = await catalog.find(symbol, timeframe);
  if (found !== undefined) return found;
  const entries = await catalog.list();
  const stored = entries.filter((entry) => entry.symbol === symbol).map((entry) => entry.timeframe);
  if (stored.length > 0)
    throw problem('NOT_FOUND', {
      message:
        `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from. Use ${stored.join(' or ')}, ` +
        'or coarser.',
    });
  const similar = similarSymbol(symbol, [...new Set(entries.map((entry) => entry.symbol))]);
  const hint = similar === undefined ? '' : ` Did you mean "${similar.symbol}"?`;
  throw problem('NOT_FOUND', {
    message: `There is no market data of "${symbol}".${hint} GET /public/v1/market-data lists all symbols.`,
  });
}

/**
 * The market of a series, with the series of other instruments. All of their bars are opened, so that their number is
 * limited.
 * @throws TIER_LIMIT_REACHED
 */
export async function openMarket(
  catalog: Catalog,
  { tier }: Caller,
  base: SeriesName,
  others: readonly SeriesName[] = [],
): Promise<Market> {
  const entries = new Map<string, CatalogEntry>();
  for (const { symbol, timeframe } of [base, ...others])
    for (const entry of await catalog.readable(symbol, timeframe)) entries.set(entry.sha256, entry);
  const bars = [...entries.values()].reduce((sum, entry) => sum + entry.bars, 0);
  const limit = TIER_LIMITS[tier].barsPerBacktest;
  if (bars > limit)
    throw problem('TIER_LIMIT_REACHED', {
      message: `Reading ${base.symbol} opens ${bars} bars; the ${tier} tier allows ${limit}. Read a shorter series.`,
      extras: { limitName: 'barsPerBacktest', limit, usage: bars },
    });
  return createMarket(await catalog.open([...entries.keys()]), base.symbol, base.timeframe);
}

/** What a page is made of. */
interface PagedRows {
  /** Row numbers, oldest first, and their times. */
  readonly rows: Int32Array;
  readonly timeOf: (row: number) => number;
  readonly tableOf: (rows: Int32Array) => Table;
  /** What a cursor is bound to. */
  readonly selection: object;
  /** Members of the JSON answer beside the rows. */
  readonly head: object;
  /** Of the file, without its extension. */
  readonly name: string;
}

/** Sends a page: JSON with the pagination inside, another format with the address of the next page as a header. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { config, asked }: { readonly config: PublicAddress; readonly asked: AskedRows },
  { rows, timeOf, tableOf, selection, head, name }: PagedRows,
): Promise<FastifyReply> {
  const format = asked.format ?? acceptedFormat(ROWS_FORMATS, request.headers.accept) ?? 'json';
  const chosen = asked.last === undefined ? rows : rows.subarray(Math.max(0, rows.length - asked.last));
  const query = { limit: asked.limit ?? DEFAULT_ROWS, cursor: asked.cursor, selection };
  const { data, pagination } = await paginate(
    query,
    (row: number) => row,
    async ({ limit, after }) => {
      const first = after === null ? 0 : firstAfter(chosen, timeOf, after);
      const shown = Array.from(chosen.subarray(first, first + limit));
      return { rows: shown.map((row) => ({ row, value: '', id: String(timeOf(row)) })), total: chosen.length };
    },
  );
  const table = tableOf(Int32Array.from(data));
  setFileHeaders(reply, name, format).header('vary', 'accept');
  if (format === 'json') {
    const list = Buffer.concat([...fileOf(table, 'json')]).toString('utf8');
    const body = `${JSON.stringify(head).slice(0, -1)},"data":${list},"pagination":${JSON.stringify(pagination)}}`;
    return reply.removeHeader('content-disposition').send(body);
  }
  if (pagination.nextCursor !== null && request.method === 'GET')
    reply.header('link', nextPage(linkTo(config, request.url), { format, cursor: pagination.nextCursor }));
  // A page of a POST has no address: its cursor goes into the next body.
  else if (pagination.nextCursor !== null) reply.header('next-cursor', pagination.nextCursor);
  return reply.send(Buffer.concat([...fileOf(table, format)]));
}

function firstAfter(rows: Int32Array, timeOf: (row: number) => number, { id }: PagePosition): number {
  const time = Number(id);
  if (!Number.isSafeInteger(time)) throw problem('CURSOR_INVALID');
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(rows[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function* fileOf(table: Table, format: RowsFormat): Generator<Uint8Array> {
  if (format === 'arrow') return yield* encodeTable(table);
  const file = format === 'csv' ? csvFile('\r\n') : jsonFile({ open: '', close: '' });
  yield* file.add(table);
  yield* file.finish();
}

/** Asked between the columns of a request: whether nobody waits for its answer any more. */
export const controlOf = ({ stopFlag }: Pick<FastifyRequest, 'stopFlag'>) => ({
  isCancelled: () => stopFlag !== null && Atomics.load(stopFlag, 0) !== 0,
});

/** Computes, and answers like a service that stops when the client has gone. */
export function unlessGone<Result>(compute: () => Result): Result {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RunStopped) throw problem('UNAVAILABLE', { message: 'The client has gone.' });
    throw error;
  }
}
