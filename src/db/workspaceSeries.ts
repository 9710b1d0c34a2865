// The tables workspace_series and workspace_snapshots: market data that a workspace has uploaded for itself.
import type { Timeframe } from '../engine/index.ts';
import type { Queryable, Sql, Transaction } from './connect.ts';
import { keepSnapshots } from './retention.ts';
import type { SnapshotRow } from './series.ts';
import { lockWorkspace } from './workspaces.ts';

/** The series of a workspace, by symbol. */
export async function listWorkspaceSeries(sql: Queryable, workspaceId: string): Promise<SnapshotRow[]> {
  return sql<SnapshotRow[]>`
    select snapshots.sha256, own.symbol, own.timeframe, bars, start_ms as start, end_ms as "end", gaps,
      missing_bars as "missingBars", byte_length as "byteLength", instrument, own.updated_at as "importedAt",
      null as "sourceFile"
    from workspace_series own join snapshots using (sha256)
    where own.workspace_id = ${workspaceId} order by own.symbol`;
}

/** Bytes of all snapshots that a workspace has uploaded and that still exist. */
export const marketDataBytes = (sql: Queryable, workspaceId: string) => sql<[{ bytes: number }]>`
  select coalesce(sum(byte_length), 0)::bigint as bytes from workspace_snapshots own join snapshots using (sha256)
  where own.workspace_id = ${workspaceId}`;

export const marketDataSeries = (sql: Queryable, workspaceId: string) => sql<[{ count: number }]>`
  select count(*)::int as count from workspace_series where workspace_id = ${workspaceId}`;

/**
 * Records a snapshot of a workspace before its bytes are written, so that they are counted, and removed when nothing
 * comes to refer to them.
 * @param requireRoom throws when so many bytes are too many
 */
export async function reserveSnapshot(
  sql: Sql,
  workspaceId: string,
  row: Omit<SnapshotRow, 'importedAt'>,
  requireRoom: (bytes: number) => void,
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    await keepSnapshots(tx);
    await tx`
      insert into snapshots
        (sha256, symbol, timeframe, bars, start_ms, end_ms, gaps, missing_bars, byte_length, instrument, source_file)
      values (${row.sha256}, ${row.symbol}, ${row.timeframe}, ${row.bars}, ${row.start}, ${row.end}, ${row.gaps},
        ${row.missingBars}, ${row.byteLength}, ${tx.json({ ...row.instrument })}, null)
      on conflict (sha256) do nothing`;
    await tx`
      insert into workspace_snapshots (workspace_id, sha256) values (${workspaceId}, ${row.sha256})
      on conflict (workspace_id, sha256) do update set touched_at = now()`;
    const [{ bytes }] = await marketDataBytes(tx, workspaceId);
    requireRoom(bytes);
  });
}

/**
 * Points a series of a workspace to a snapshot that is reserved.
 * @param replaces the snapshot that it points to until now; null: there is no such series
 * @returns false when the series points elsewhere; then it still does
 */
export async function pointWorkspaceSeries(
  tx: Transaction,
  workspaceId: string,
  { symbol, timeframe, sha256 }: Pick<SnapshotRow, 'symbol' | 'timeframe' | 'sha256'>,
  replaces: string | null,
): Promise<boolean> {
  const pointed =
    replaces === null
      ? await tx`
          insert into workspace_series (workspace_id, symbol, timeframe, sha256)
          values (${workspaceId}, ${symbol}, ${timeframe}, ${sha256})
          on conflict (workspace_id, symbol, timeframe) do update set updated_at = now()
          where workspace_series.sha256 = excluded.sha256`
      : await tx`
          update workspace_series set sha256 = ${sha256}, updated_at = now()
          where workspace_id = ${workspaceId} and symbol = ${symbol} and timeframe = ${timeframe}
            and sha256 = ${replaces}`;
  if (replaces !== null && replaces !== sha256) await touch(tx, workspaceId, replaces);
  return pointed.count === 1;
}

/** Its snapshot stays for the backtests that pinned it. @returns false when there is no such series */
export async function removeWorkspaceSeries(
  sql: Sql,
  workspaceId: string,
  symbol: string,
  timeframe: Timeframe,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [removed] = await tx<{ sha256: string }[]>`
      delete from workspace_series
      where workspace_id = ${workspaceId} and symbol = ${symbol} and timeframe = ${timeframe} returning sha256`;
    if (removed === undefined) return false;
    await touch(tx, workspaceId, removed.sha256);
    return true;
  });
}

const touch = (tx: Transaction, workspaceId: string, sha256: string) => tx`
  update workspace_snapshots set touched_at = now() where workspace_id = ${workspaceId} and sha256 = ${sha256}`;
