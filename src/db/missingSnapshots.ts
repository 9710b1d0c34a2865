// The missing_snapshots table: which snapshots a worker process has found to be missing where it runs.
import type { Queryable } from './connect.ts';

/** A note older than this says nothing about the present. */
const NOTE_LASTS_SECONDS = 60;
/** After a note, the worker is handed nothing that reads the snapshot for this long; also in `claim_backtests`. */
export const NOT_HANDED_FOR = '10 seconds';

/**
 * Notes snapshots as missing for this worker, which is not handed backtests of them for NOT_HANDED_FOR.
 * @returns those that every registered worker has noted: nobody can open them
 */
export async function noteMissingSnapshots(
  sql: Queryable,
  workerId: string,
  sha256s: readonly string[],
): Promise<ReadonlySet<string>> {
  const names = sha256s as string[];
  await sql`
    insert into missing_snapshots (worker_id, sha256) select ${workerId}, name from unnest(${names}::text[]) as name
    on conflict (worker_id, sha256) do update set noted_at = now()`;
  const rows = await sql<{ name: string }[]>`
    select name from unnest(${names}::text[]) as name
    where not exists (
      select 1 from worker_processes w where not exists (
        select 1 from missing_snapshots m
        where m.worker_id = w.id and m.sha256 = name
          and m.noted_at > now() - make_interval(secs => ${NOTE_LASTS_SECONDS})))`;
  return new Set(rows.map((row) => row.name));
}
