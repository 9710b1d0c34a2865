// How much of its tier a workspace uses, from the tables that know, in one statement: agents ask for it often.
import { activeApiKeys } from './apiKeys.ts';
import { openBacktests } from './backtests.ts';
import type { Queryable } from './connect.ts';
import { listedStrategies } from './strategies.ts';
import { storedBytes } from './workspaceStorage.ts';

/** By the names of the limits. */
export interface WorkspaceUsage {
  readonly activeApiKeys: number;
  readonly strategies: number;
  readonly queuedBacktests: number;
  readonly storedBytes: number;
}

export async function readWorkspaceUsage(sql: Queryable, workspaceId: string): Promise<WorkspaceUsage> {
  const [usage] = await sql<[WorkspaceUsage]>`
    select (${activeApiKeys(sql, workspaceId)}) as "activeApiKeys",
      (${listedStrategies(sql, workspaceId)}) as strategies,
      (${openBacktests(sql, workspaceId)}) as "queuedBacktests", (${storedBytes(sql, workspaceId)}) as "storedBytes"`;
  return usage;
}
