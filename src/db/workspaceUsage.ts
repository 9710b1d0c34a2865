// How much of its tier a workspace uses, from the tables that know, in one statement: agents ask for it often.
import { activeApiKeys } from './apiKeys.ts';
import { backtestResultBytes, openBacktests } from './backtests.ts';
import type { Queryable } from './connect.ts';
import { listedStrategies } from './strategies.ts';
import { sweepResultBytes } from './sweeps.ts';
import { storedBytes } from './workspaceStorage.ts';

/** By the names of the limits. */
export interface WorkspaceUsage {
  readonly activeApiKeys: number;
  readonly strategies: number;
  readonly queuedBacktests: number;
  readonly storedBytes: number;
  readonly backtestResultBytes: number;
  readonly sweepResultBytes: number;
}

export async function readWorkspaceUsage(sql: Queryable, workspaceId: string): Promise<WorkspaceUsage> {
  const [usage] = await sql<[WorkspaceUsage]>`
    select (${activeApiKeys(sql, workspaceId)}) as "activeApiKeys",
      (${listedStrategies(sql, workspaceId)}) as strategies,
      (${openBacktests(sql, workspaceId)}) as "queuedBacktests", (${storedBytes(sql, workspaceId)}) as "storedBytes",
      (${backtestResultBytes(sql, workspaceId)}) as "backtestResultBytes",
      (${sweepResultBytes(sql, workspaceId)}) as "sweepResultBytes"`;
  return usage;
}
