// Keyset: the SQL of a page that starts after a given row, so that a deep page costs no more than the first.
import type { Queryable } from './connect.ts';

/** A column rows can be sorted by. `expression` is SQL of ours, never a caller's text; it must not be null. */
export interface SortColumn {
  readonly expression: string;
  readonly type: 'timestamptz' | 'text' | 'float8';
}

export interface KeysetPage {
  readonly limit: number;
  /** The sort value (as Postgres writes it) and id of the last row of the page before. */
  readonly after: { readonly value: string; readonly id: string } | null;
  readonly order: { readonly name: string; readonly descending: boolean };
}

/**
 * Fragments for `select …, ${value} as "sortValue" … where … ${startsAfter} ${orderAndLimit}`. Equal sort values are
 * told apart by `id` (SQL of ours). The value goes through text both ways: a JS date would cut microseconds, and rows
 * would be skipped.
 */
export function keyset(sql: Queryable, column: SortColumn, id: string, page: KeysetPage) {
  const direction = sql.unsafe(page.order.descending ? 'desc' : 'asc');
  const comparison = sql.unsafe(page.order.descending ? '<' : '>');
  const collation = sql.unsafe(column.type === 'text' ? 'collate "C"' : '');
  const expression = sql.unsafe(column.expression);
  const type = sql.unsafe(column.type);
  const idColumn = sql.unsafe(id);
  return {
    value: sql`(${expression})::text`,
    startsAfter: page.after
      ? sql`and (${expression} ${collation}, ${idColumn}) ${comparison}
          (${page.after.value}::text::${type} ${collation}, ${page.after.id}::text::uuid)`
      : sql``,
    orderAndLimit: sql`order by ${expression} ${collation} ${direction}, ${idColumn} ${direction} limit ${page.limit}`,
  };
}
