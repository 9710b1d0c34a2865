// The users and members tables: people, and the workspaces they belong to.
import type { Tier } from '../tiers.ts';
import type { Queryable, Transaction } from './connect.ts';

export const MEMBER_ROLES = ['owner', 'admin', 'member'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];
/** The roles that may manage a workspace. */
export const MANAGING_ROLES: readonly MemberRole[] = ['owner', 'admin'];

interface User {
  readonly id: string;
  readonly subject: string;
  readonly email: string;
  readonly name: string;
}
export interface Membership {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly tier: Tier;
}

/**
 * The user of an e-mail address, made if there is none. Addresses are compared without regard to case. `subject` is the
 * `sub` of the user's tokens; a user made without one gets its own id.
 * @throws a unique violation (23505) when another user has that subject.
 */
export async function upsertUser(sql: Queryable, user: { email: string; subject?: string }): Promise<User> {
  const email = user.email.trim();
  const subject = user.subject ?? null;
  const [row] = await sql<User[]>`
    with fresh as (select uuidv7() as id)
    insert into users (id, subject, email, name)
    select id, coalesce(${subject}, id::text), ${email}, ${email.split('@')[0]} from fresh
    on conflict (lower(email)) do update set subject = coalesce(${subject}, users.subject)
    returning id, subject, email, name`;
  return row;
}

/** Gives the user that role, beginning or resuming the membership. */
export async function upsertMember(
  sql: Queryable,
  member: { workspaceId: string; userId: string; role: MemberRole },
): Promise<void> {
  await sql`
    insert into members (workspace_id, user_id, role) values (${member.workspaceId}, ${member.userId}, ${member.role})
    on conflict (workspace_id, user_id) do update set role = excluded.role, ended_at = null`;
}

/**
 * Ends a membership and revokes every key that its user created in the workspace. Two statements, because the second
 * must see a key whose creation the first has waited for (lockMember).
 * @returns how many keys were revoked now
 */
export async function endMember(transaction: Transaction, workspaceId: string, userId: string): Promise<number> {
  await transaction`
    update members set ended_at = now()
    where workspace_id = ${workspaceId} and user_id = ${userId} and ended_at is null`;
  const revoked = await transaction`
    update api_keys k set revoked_at = m.ended_at
    from members m
    where k.workspace_id = ${workspaceId} and k.created_by = ${userId} and k.revoked_at is null
      and m.workspace_id = k.workspace_id and m.user_id = k.created_by and m.ended_at is not null`;
  return revoked.count;
}

/** The role of a member, who keeps it until the transaction ends; null: not a member. */
export async function lockMember(
  transaction: Transaction,
  workspaceId: string,
  userId: string,
): Promise<MemberRole | null> {
  const [row] = await transaction<{ role: MemberRole }[]>`
    select role from members
    where workspace_id = ${workspaceId} and user_id = ${userId} and ended_at is null for share`;
  return row?.role ?? null;
}

/** The membership of the user with this `sub`; null: not a member, or no such workspace. */
export async function findMembership(sql: Queryable, subject: string, workspaceId: string): Promise<Membership | null> {
  const [row] = await sql<Membership[]>`
    select m.workspace_id as "workspaceId", m.user_id as "userId", m.role, w.tier
    from users u
    join members m on m.user_id = u.id and m.workspace_id = ${workspaceId} and m.ended_at is null
    join workspaces w on w.id = m.workspace_id
    where u.subject = ${subject}`;
  return row ?? null;
}

/** The member a command acts as: the one with this address, or without an address the oldest owner. */
export async function findActingMember(
  sql: Queryable,
  workspaceId: string,
  email: string | undefined,
): Promise<(User & { readonly role: MemberRole }) | null> {
  const [row] = await sql<(User & { role: MemberRole })[]>`
    select u.id, u.subject, u.email, u.name, m.role
    from members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId} and m.ended_at is null
      and ${email === undefined ? sql`m.role = 'owner'` : sql`lower(u.email) = lower(${email.trim()})`}
    order by m.created_at, u.id limit 1`;
  return row ?? null;
}
