// Pagination: the query of a list, its opaque cursor, and the page it answers.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isDataError } from '../../db/sqlErrors.ts';
import { problem } from './problems.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_CURSOR_LENGTH = 2_000;

const limit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_LIMIT)
  .default(DEFAULT_LIMIT)
  .meta({ description: `Rows a page, 1 to ${MAX_LIMIT}.`, type: 'integer' });
const cursor = z
  .string()
  .min(1)
  .max(MAX_CURSOR_LENGTH)
  .optional()
  .meta({ description: '`pagination.nextCursor` of the page before, with the same sort and filters.' });

/** Query of a list that can be sorted: `sort` is one of `sorts`, `-` before it for descending. */
export function listQuery<const Sort extends string, Filters extends z.ZodRawShape>(
  sorts: readonly Sort[],
  defaultSort: Sort | `-${Sort}`,
  filters: Filters,
) {
  const names = sorts.flatMap((name) => [name, `-${name}` as const]);
  return z.strictObject({ limit, cursor, sort: z.enum(names).default(defaultSort as never), ...filters });
}

/** Query of a list in an order of its own. */
export const fixedListQuery = <Filters extends z.ZodRawShape>(filters: Filters) =>
  z.strictObject({ limit, cursor, ...filters });

export const pageOf = <Row extends z.ZodType>(row: Row) =>
  z.object({
    data: z.array(row),
    pagination: z.object({
      limit: z.int(),
      nextCursor: z.string().nullable(),
      hasMore: z.boolean(),
      total: z.int(),
    }),
  });

interface Page<Row> {
  readonly data: Row[];
  readonly pagination: {
    readonly limit: number;
    readonly nextCursor: string | null;
    readonly hasMore: boolean;
    readonly total: number;
  };
}

/** Where the page before ended: the sort value of its last row as text, and that row's id. */
export interface PagePosition {
  readonly value: string;
  readonly id: string;
}

/** The sort and filters of a list; a cursor is bound to them. */
type Selection = Readonly<Record<string, unknown>>;

const CursorContent = z.tuple([z.string().length(11), z.string(), z.string()]);

/**
 * Opaque to clients: base64url of [fingerprint of sort and filters, sort value, id]. It grants nothing, so it is not
 * signed.
 */
const encodeCursor = (selection: Selection, { value, id }: PagePosition): string =>
  Buffer.from(JSON.stringify([fingerprint(selection), value, id])).toString('base64url');

/** @throws CURSOR_INVALID when the cursor is not one of ours, or was made with another sort or other filters. */
function decodeCursor(selection: Selection, cursor: string): PagePosition {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    content = undefined;
  }
  const parsed = CursorContent.safeParse(content);
  if (!parsed.success) throw problem('CURSOR_INVALID', { message: 'The cursor is not one of ours; start without it.' });
  const [made, value, id] = parsed.data;
  if (made !== fingerprint(selection))
    throw problem('CURSOR_INVALID', { message: 'The cursor was made with another sort or other filters.' });
  return { value, id };
}

function fingerprint(selection: Selection): string {
  const entries = Object.entries(selection).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(text).digest('base64url').slice(0, 11);
}

interface Listed<Row> extends PagePosition {
  readonly row: Row;
}
interface SortOrder {
  readonly name: string;
  readonly descending: boolean;
}
const sortOrder = (sort: string): SortOrder => ({
  name: sort.replace(/^-/, ''),
  descending: sort.startsWith('-'),
});

/**
 * Reads one page. `select` is asked for one row more than the limit, which tells whether there is a next page; it gets
 * the order, and the position to start after.
 * @param bodyOf a row as it is answered
 */
export async function paginate<Row, Body>(
  query: { readonly limit: number; readonly cursor?: string | undefined; readonly sort?: string } & Selection,
  bodyOf: (row: Row) => Body,
  select: (page: {
    readonly limit: number;
    readonly after: PagePosition | null;
    readonly order: SortOrder;
  }) => Promise<{ readonly rows: readonly Listed<Row>[]; readonly total: number }>,
): Promise<Page<Body>> {
  const { limit, cursor, ...selection } = query;
  const after = cursor === undefined ? null : decodeCursor(selection, cursor);
  const order = sortOrder(query.sort ?? '');
  const { rows, total } = await select({ limit: limit + 1, after, order }).catch((error: unknown) => {
    throw after !== null && isDataError(error) ? problem('CURSOR_INVALID') : error;
  });
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const nextCursor = hasMore ? encodeCursor(selection, shown[shown.length - 1]) : null;
  return { data: shown.map(({ row }) => bodyOf(row)), pagination: { limit, nextCursor, hasMore, total } };
}

/** Reads one page of a list in memory, which is sorted by the unique key that `keyOf` returns. */
export function paginateItems<Row>(
  query: { readonly limit: number; readonly cursor?: string | undefined } & Selection,
  items: readonly Row[],
  keyOf: (item: Row) => string,
): Promise<Page<Row>> {
  const keyed = items.map((row) => ({ row, value: '', id: keyOf(row) })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return paginate(
    query,
    (row: Row) => row,
    async ({ limit, after }) => {
      const rows = after === null ? keyed : keyed.filter((each) => each.id > after.id);
      return { rows: rows.slice(0, limit), total: keyed.length };
    },
  );
}
