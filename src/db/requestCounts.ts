// Request counts: how many requests each API key, member and workspace has made in a minute, over all API processes.
// The column key_id names any of the three (src/api/http/rateLimits.ts).
import type { Queryable } from './connect.ts';

/**
 * Adds `used` requests of each to the minute that began at `windowStart` (ms) and gives the totals of all
 * processes.
 */
export async function addRequestCounts(
  sql: Queryable,
  windowStart: number,
  used: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  // Sorted, so that two processes lock the rows in one order and never deadlock.
  const entries = [...used].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = await sql<{ key_id: string; used: number }[]>`
    insert into request_counts as counts (key_id, window_start, used)
    select key_id, ${new Date(windowStart)}, used
    from unnest(${entries.map(([id]) => id)}::text[], ${entries.map(([, count]) => count)}::int[])
      as added (key_id, used)
    on conflict (key_id, window_start) do update set used = counts.used + excluded.used
    returning key_id, used`;
  return new Map(rows.map((row) => [row.key_id, row.used]));
}

export async function deleteOldRequestCounts(sql: Queryable): Promise<void> {
  await sql`delete from request_counts where window_start < now() - interval '5 minutes'`;
}
