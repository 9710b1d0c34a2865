// How much of its tier's limits a workspace uses, read in one statement: agents ask for it often.
import { activeApiKeys } from './apiKeys.ts';
import { backtestResultBytes, openBacktests } from './backtests.ts';
import type { Queryable } from './connect.ts';
import { listedStrategies } from './strategies.ts';
import { sweepResultBytes } from './sweeps.ts';
import type { Workspace } from './workspaces.ts';
import { storedBytes } from './workspaceStorage.ts';

/** What is used of each limit, by the name of the limit. */
interface WorkspaceUsage {
  readonly activeApiKeys: number;
  readonly strategies: number;
  readonly queuedBacktests: number;
  readonly storedBytes: number;
  readonly backtestResultBytes: number;
  readonly sweepResultBytes: number;
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
      (${sweepResultBytes(sql, workspaceId)}) as "sweepResultBytes"
    from workspaces where id = ${workspaceId}`;
  if (row === undefined) return null;
  const { name, createdAt, ...usage } = row;
  return { name, createdAt, usage };
}
