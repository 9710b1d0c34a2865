// How much of its tier's limits a workspace uses, read in one statement, because agents ask for it often, and the
// workspace_storage table: bytes of versions and of kept answers, counted by triggers.
import { activeApiKeys } from './apiKeys.ts';
import { backtestResultBytes, openBacktests } from './backtests.ts';
import type { Queryable, Transaction } from './connect.ts';
import { listedStrategies } from './strategies.ts';
import { sweepResultBytes } from './sweeps.ts';
import type { Workspace } from './workspaces.ts';
import { marketDataBytes, marketDataSeries } from './workspaceSeries.ts';

/** What is used of each limit, by the name of the limit. */
interface WorkspaceUsage {
  readonly activeApiKeys: number;
  readonly strategies: number;
  readonly queuedBacktests: number;
  readonly storedBytes: number;
  readonly backtestResultBytes: number;
  readonly sweepResultBytes: number;
  readonly marketDataBytes: number;
  readonly marketDataSeries: number;
}

/** The workspace and what it uses; null: there is no such workspace. */
export async function findWorkspaceUsage(
  sql: Queryable,
  workspaceId: string,
): Promise<(Pick<Workspace, 'name' | 'createdAt'> & { readonly usage: WorkspaceUsage }) | null> {
  const [row] = await sql<(Pick<Workspace, 'name' | 'createdAt'> & WorkspaceUsage)[]>`
    select name, created_at as "createdAt", (${activeApiKeys(sql, workspaceId)}) as "activeApiKeys",
      (${listedStrategies(sql, workspaceId)}) as strategies,
      (${openBacktests(sql, workspaceId)}) as "queuedBacktests", (${storedBytes(sql, workspaceId)}) as "storedBytes",
      (${backtestResultBytes(sql, workspaceId)}) as "backtestResultBytes",
      (${sweepResultBytes(sql, workspaceId)}) as "sweepResultBytes",
      (${marketDataBytes(sql, workspaceId)}) as "marketDataBytes",
      (${marketDataSeries(sql, workspaceId)}) as "marketDataSeries"
    from workspaces where id = ${workspaceId}`;
  if (row === undefined) return null;
  const { name, createdAt, ...usage } = row;
  return { name, createdAt, usage };
}

export const storedBytes = (sql: Queryable, workspaceId: string) => sql<[{ bytes: number }]>`
  select coalesce(sum(bytes), 0)::bigint as bytes from workspace_storage where workspace_id = ${workspaceId}`;

/** `storedBytes`, locked: no other transaction can change it until this one ends. */
export async function lockStoredBytes(tx: Transaction, workspaceId: string): Promise<number> {
  await tx`
    insert into workspace_storage (workspace_id, bytes) values (${workspaceId}, 0)
      on conflict (workspace_id) do nothing`;
  const [row] = await tx<[{ bytes: number }]>`
    select bytes from workspace_storage where workspace_id = ${workspaceId} for update`;
  return row.bytes;
}
