// The versions of strategies and their payloads. Every query names the workspace: what belongs to another one does not
// exist here.
import type { SignalGraph, StrategyAst, SweepStrategy } from '../engine/index.ts';
import type { Queryable, Transaction } from './connect.ts';
import { requestOf, WorkAlreadyDone } from './idempotencyKeys.ts';
import { keyset, type KeysetPage, type SortColumn } from './keyset.ts';

export type VersionStatus = 'draft' | 'ready';
type Json = Readonly<Record<string, unknown>>;

/** What a version holds: payloads as sent. A graph that came without an AST has the AST that it compiles to. */
export interface VersionContent {
  readonly settings: Json;
  readonly strategyAst: Json;
  readonly signalGraph: Json | null;
  readonly strategyHash: string;
}
export interface VersionSummary {
  readonly id: string;
  readonly strategyId: string;
  readonly version: number;
  readonly status: VersionStatus;
  readonly forkedFromVersionId: string | null;
  readonly strategyHash: string;
  readonly createdAt: Date;
  readonly readyAt: Date | null;
}
export type StrategyVersion = VersionSummary & VersionContent;

/** The columns of a VersionSummary; WHOLE has those of a StrategyVersion. */
export const SUMMARY = `v.id, v.strategy_id as "strategyId", v.version, v.status,
  v.forked_from_version_id as "forkedFromVersionId",
  v.strategy_hash as "strategyHash", v.created_at as "createdAt", v.ready_at as "readyAt"`;
const WHOLE = `${SUMMARY}, v.settings, v.strategy_ast as "strategyAst", v.signal_graph as "signalGraph"`;

/**
 * Payloads go in as text: the json type keeps the author's order of members and what jsonb refuses (\\u0000 in a
 * label).
 */
const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const VERSION_SORTS = {
  version: { expression: 'v.version', type: 'float8' },
} as const satisfies Record<string, SortColumn>;

/** Versions of a strategy, without payloads. */
export async function listVersions(
  sql: Queryable,
  workspaceId: string,
  strategyId: string,
  filters: { readonly status?: VersionStatus | undefined },
  page: KeysetPage,
): Promise<{ rows: { row: VersionSummary; value: string; id: string }[]; total: number }> {
  const where = sql`v.workspace_id = ${workspaceId} and v.strategy_id = ${strategyId}
    ${filters.status ? sql`and v.status = ${filters.status}` : sql``}`;
  const { value, startsAfter, orderAndLimit } = keyset(sql, VERSION_SORTS.version, 'v.id', page);
  const rows = await sql<(VersionSummary & { sortValue: string })[]>`
    select ${sql.unsafe(SUMMARY)}, ${value} as "sortValue" from strategy_versions v
      where ${where} ${startsAfter} ${orderAndLimit}`;
  const [{ total }] = await sql<
    [{ total: number }]
  >`select count(*)::int as total from strategy_versions v where ${where}`;
  return { rows: rows.map(({ sortValue, ...row }) => ({ row, value: sortValue, id: row.id })), total };
}

export async function countVersions(sql: Queryable, strategyId: string): Promise<number> {
  const [{ total }] = await sql<[{ total: number }]>`
    select count(*)::int as total from strategy_versions where strategy_id = ${strategyId}`;
  return total;
}

/** Deletes a version that nothing has run. The newest stays, because its number would be used again. */
export async function deleteVersion(
  tx: Transaction,
  workspaceId: string,
  strategyId: string,
  version: number,
): Promise<'deleted' | 'in use' | 'newest' | undefined> {
  const [found] = await tx<{ id: string; isNewest: boolean; isUsed: boolean }[]>`
    select v.id, not exists (select 1 from strategy_versions n where n.strategy_id = v.strategy_id
      and n.version > v.version)
        as "isNewest",
      exists (select 1 from backtests b where b.strategy_version_id = v.id)
        or exists (select 1 from sweeps s where s.strategy_version_id = v.id) as "isUsed"
    from strategy_versions v
    where v.workspace_id = ${workspaceId} and v.strategy_id = ${strategyId} and v.version = ${version} for update of v`;
  if (found === undefined) return undefined;
  if (found.isUsed) return 'in use';
  if (found.isNewest) return 'newest';
  await tx`delete from strategy_versions where id = ${found.id}`;
  return 'deleted';
}

/** The strategy of a version as the engine takes it. What is stored was checked when the version became ready. */
export const strategyOf = ({
  strategyAst,
  signalGraph,
  settings,
  strategyHash,
}: Readonly<Record<'strategyAst' | 'settings', object>> & {
  readonly signalGraph: object | null;
  readonly strategyHash: string;
}): SweepStrategy => ({
  strategyAst: strategyAst as StrategyAst,
  ...(signalGraph && { signalGraph: signalGraph as SignalGraph }),
  settings,
  strategyHash,
});

/** Bytes that a version with this content takes. */
export const storedSize = (content: VersionContent): number =>
  [content.settings, content.strategyAst, content.signalGraph].reduce<number>(
    (sum, part) => sum + Buffer.byteLength(json(part) ?? ''),
    0,
  );

export async function findVersionNumber(
  sql: Queryable,
  workspaceId: string,
  strategyId: string,
  version: number,
): Promise<StrategyVersion | undefined> {
  const [row] = await sql<StrategyVersion[]>`
    select ${sql.unsafe(WHOLE)} from strategy_versions v
    where v.workspace_id = ${workspaceId} and v.strategy_id = ${strategyId} and v.version = ${version}`;
  return row;
}

/** The versions of this workspace among `ids`, whatever their status; ids it does not have are left out. */
export async function findVersions(
  sql: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<StrategyVersion[]> {
  return sql<StrategyVersion[]>`
    select ${sql.unsafe(WHOLE)} from strategy_versions v
    where v.workspace_id = ${workspaceId} and v.id = any(${ids as string[]}::uuid[])`;
}

export async function findVersion(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<StrategyVersion | undefined> {
  return (await findVersions(sql, workspaceId, [id]))[0];
}

/**
 * Makes a ready version. `draft` becomes it, with its id and number and the new content; without a draft, the version
 * gets the next number. The strategy must be locked (lockStrategy).
 * @throws WorkAlreadyDone when a version was already made under this request key
 */
export async function finalizeVersion(
  tx: Queryable,
  workspaceId: string,
  strategyId: string,
  draft: VersionSummary | undefined,
  content: VersionContent,
  forkedFromVersionId: string | null,
  requestKey: Buffer | null = null,
): Promise<StrategyVersion> {
  await tx`update strategies set updated_at = now() where id = ${strategyId} and workspace_id = ${workspaceId}`;
  if (draft === undefined) {
    const [{ next }] = await tx<[{ next: number }]>`
      select coalesce(max(version), 0)::int + 1 as next from strategy_versions where strategy_id = ${strategyId}`;
    const ready = { number: next, status: 'ready', content, forkedFromVersionId } as const;
    const [made] = await tx<StrategyVersion[]>`
      with ${requestOf(tx, requestKey)}, strategy as (
        select s.id, s.workspace_id from strategies s, request
        where s.id = ${strategyId} and s.workspace_id = ${workspaceId}
      ), made as (${insertedVersion(tx, ready, tx`strategy`)})
      select * from made`;
    if (made === undefined) throw new WorkAlreadyDone();
    return made;
  }
  const [row] = await tx<[StrategyVersion]>`
    update strategy_versions as v set status = 'ready', ready_at = now(),
      settings = ${json(content.settings)}::text::json,
      strategy_ast = ${json(content.strategyAst)}::text::json, signal_graph = ${json(content.signalGraph)}::text::json,
      strategy_hash = ${content.strategyHash}, forked_from_version_id = ${forkedFromVersionId}
    where v.id = ${draft.id} and v.workspace_id = ${workspaceId} and v.status = 'draft'
    returning ${tx.unsafe(WHOLE)}`;
  return row;
}

interface NewVersion {
  readonly number: number;
  readonly status: VersionStatus;
  readonly content: VersionContent;
  readonly forkedFromVersionId: string | null;
}

/** Part of a statement: makes the version for the strategy in the table `of`, and gives the version as it is stored. */
export const insertedVersion = (
  sql: Queryable,
  { number, status, content, forkedFromVersionId }: NewVersion,
  of: ReturnType<Queryable>,
) => sql`
  insert into strategy_versions as v (workspace_id, strategy_id, version, status, forked_from_version_id, settings,
    strategy_ast,
    signal_graph, strategy_hash, ready_at)
  select workspace_id, id, ${number}::integer, ${status}::text, ${forkedFromVersionId}::uuid,
    ${json(content.settings)}::text::json,
    ${json(content.strategyAst)}::text::json, ${json(content.signalGraph)}::text::json, ${content.strategyHash}::text,
    case when ${status}::text = 'ready' then now() end
  from ${of}
  returning ${sql.unsafe(WHOLE)}`;

/** The oldest other ready version of this workspace with the same canonical content; null: there is none. */
export async function findDuplicate(
  sql: Queryable,
  workspaceId: string,
  strategyHash: string,
  exceptId: string,
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from strategy_versions
    where workspace_id = ${workspaceId} and strategy_hash = ${strategyHash} and status = 'ready' and id <> ${exceptId}
    order by ready_at, id limit 1`;
  return row?.id ?? null;
}
