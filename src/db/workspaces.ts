// The workspaces table: tenants and their tiers.
import type { Tier } from '../tiers.ts';
import type { Queryable } from './connect.ts';

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly createdAt: Date;
}

export async function insertWorkspace(sql: Queryable, workspace: { name: string; tier: Tier }): Promise<Workspace> {
  const [row] = await sql<Workspace[]>`
    insert into workspaces (name, tier) values (${workspace.name}, ${workspace.tier})
    returning id, name, tier, created_at as "createdAt"`;
  return row;
}

/** Changes the tier and the name, as far as they are given. @returns null when there is no such workspace */
export async function updateWorkspace(
  sql: Queryable,
  id: string,
  change: { readonly tier?: Tier; readonly name?: string },
): Promise<Workspace | null> {
  const [row] = await sql<Workspace[]>`
    update workspaces set tier = coalesce(${change.tier ?? null}, tier), name = coalesce(${change.name ?? null}, name)
    where id = ${id} returning id, name, tier, created_at as "createdAt"`;
  return row ?? null;
}

export async function findWorkspace(sql: Queryable, id: string): Promise<Workspace | null> {
  const [row] = await sql<Workspace[]>`
    select id, name, tier, created_at as "createdAt" from workspaces where id = ${id}`;
  return row ?? null;
}

/** All workspaces, oldest first. */
export async function listWorkspaces(sql: Queryable): Promise<Workspace[]> {
  return sql<Workspace[]>`select id, name, tier, created_at as "createdAt" from workspaces order by created_at, id`;
}

/** Locks the workspace until the transaction ends, so that what is counted against a quota cannot change meanwhile. */
export async function lockWorkspace(sql: Queryable, id: string): Promise<Workspace | null> {
  const [row] = await sql<Workspace[]>`
    select id, name, tier, created_at as "createdAt" from workspaces where id = ${id} for no key update`;
  return row ?? null;
}
