// Strategies, each with its newest versions. Every query names the workspace: what belongs to another one does not
// exist here.
import type { Queryable, Transaction } from './connect.ts';
import { requestOf, WorkAlreadyDone } from './idempotencyKeys.ts';
import { keyset, type KeysetPage, type SortColumn } from './keyset.ts';
import { hasTags, insertedLabels, labeledWith, labelsJoin, type LabelFilters, type NewLabels } from './labels.ts';
import { insertedVersion, SUMMARY } from './strategyVersions.ts';
import type { StrategyVersion, VersionContent, VersionStatus, VersionSummary } from './strategyVersions.ts';

export interface StrategyHead {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly templateKey: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Null while it is in use. */
  readonly archivedAt: Date | null;
  readonly tags: readonly string[];
  readonly note: string | null;
}
export interface NewHead extends Pick<StrategyHead, 'name' | 'description' | 'templateKey'> {
  readonly labels?: Pick<NewLabels, 'tags' | 'note'>;
}
/** With its newest versions, the oldest of them first. */
export type Strategy = StrategyHead & { readonly versionCount: number; readonly versions: readonly VersionSummary[] };
export type NewStrategy = StrategyHead & { readonly versionCount: 1; readonly versions: readonly [StrategyVersion] };

const HEAD = `s.id, s.name, s.description, s.template_key as "templateKey", s.created_at as "createdAt",
  s.updated_at as "updatedAt", s.archived_at as "archivedAt", coalesce(l.tags, '{}') as tags, l.note`;
const HEAD_TABLES = `strategies s ${labelsJoin('s.id')}`;
/** How many versions a strategy shows, alone or in a list; listVersions has them all. */
const VERSIONS_SHOWN = 100;
const VERSIONS_IN_LIST = 10;

const STRATEGY_SORTS = {
  createdAt: { expression: 's.created_at', type: 'timestamptz' },
  updatedAt: { expression: 's.updated_at', type: 'timestamptz' },
  name: { expression: 's.name', type: 'text' },
} as const satisfies Record<string, SortColumn>;

interface StrategyFilters extends LabelFilters {
  /** Strategies that have a version of this status. */
  readonly status?: VersionStatus | undefined;
}

export async function listStrategies(
  sql: Queryable,
  workspaceId: string,
  filters: StrategyFilters,
  page: KeysetPage,
): Promise<{ rows: { row: Strategy; value: string; id: string }[]; total: number }> {
  const { tag, search, archived = 'false' } = filters;
  const where = sql`
    s.workspace_id = ${workspaceId}
    ${archived === 'all' ? sql`` : sql`and (s.archived_at is not null) = ${archived === 'true'}`}
    ${hasTags(sql, workspaceId, tag, 's.id')}
    ${
      filters.status
        ? sql`and exists (select 1 from strategy_versions v
          where v.strategy_id = s.id and v.status = ${filters.status})`
        : sql``
    }
    ${
      search
        ? sql`and (strpos(lower(s.name), lower(${search})) > 0 or strpos(lower(s.description), lower(${search})) > 0
          or s.id in (${labeledWith(sql, workspaceId, search)}))`
        : sql``
    }`;
  const column = STRATEGY_SORTS[page.order.name as keyof typeof STRATEGY_SORTS];
  const { value, startsAfter, orderAndLimit } = keyset(sql, column, 's.id', page);
  const heads = await sql<(StrategyHead & { sortValue: string })[]>`
    select ${sql.unsafe(HEAD)}, ${value} as "sortValue" from ${sql.unsafe(HEAD_TABLES)}
      where ${where} ${startsAfter} ${orderAndLimit}`;
  const [{ total }] = await sql<[{ total: number }]>`select count(*)::int as total from strategies s where ${where}`;
  const versions = await newestVersions(
    sql,
    heads.map((head) => head.id),
    VERSIONS_IN_LIST,
  );
  const rows = heads.map(({ sortValue, ...head }) => ({
    row: { ...head, ...versionsOf(versions, head.id) },
    value: sortValue,
    id: head.id,
  }));
  return { rows, total };
}

type Counted = VersionSummary & { readonly versionCount: number };

/** The newest `limit` versions of each strategy, the oldest of them first, without payloads. */
async function newestVersions(
  sql: Queryable,
  strategyIds: readonly string[],
  limit: number,
): Promise<Map<string, Counted[]>> {
  const rows = await sql<Counted[]>`
    select v.* from unnest(${strategyIds as string[]}::uuid[]) as wanted (id)
    cross join lateral (
      select ${sql.unsafe(SUMMARY)}, (select count(*)::int from strategy_versions c
        where c.strategy_id = wanted.id) as "versionCount"
      from strategy_versions v where v.strategy_id = wanted.id order by v.version desc limit ${limit}
    ) as v
    order by v."strategyId", v.version`;
  return Map.groupBy(rows, (row) => row.strategyId);
}

function versionsOf(
  found: ReadonlyMap<string, readonly Counted[]>,
  id: string,
): Pick<Strategy, 'versionCount' | 'versions'> {
  const counted = found.get(id) ?? [];
  return {
    versionCount: counted[0]?.versionCount ?? 0,
    versions: counted.map(({ versionCount: _versionCount, ...version }) => version),
  };
}

/** How many strategies are in use; archived ones do not count toward the tier's limit. */
export const listedStrategies = (sql: Queryable, workspaceId: string) => sql<[{ count: number }]>`
  select count(*)::int as count from strategies where workspace_id = ${workspaceId} and archived_at is null`;

export async function findStrategyHead(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<StrategyHead | undefined> {
  const [head] = await sql<StrategyHead[]>`
    select ${sql.unsafe(HEAD)} from ${sql.unsafe(HEAD_TABLES)}
    where s.workspace_id = ${workspaceId} and s.id = ${id}`;
  return head;
}

export async function findStrategy(sql: Queryable, workspaceId: string, id: string): Promise<Strategy | undefined> {
  const head = await findStrategyHead(sql, workspaceId, id);
  if (head === undefined) return undefined;
  return { ...head, ...versionsOf(await newestVersions(sql, [id], VERSIONS_SHOWN), id) };
}

/**
 * A new strategy with draft version 1, in one statement with the claim to its request key.
 * @throws WorkAlreadyDone
 */
export async function insertStrategy(
  tx: Queryable,
  workspaceId: string,
  strategy: NewHead,
  content: VersionContent,
  requestKey: Buffer | null = null,
): Promise<NewStrategy> {
  const { name, description, templateKey, labels } = strategy;
  const draft = { number: 1, status: 'draft', content, forkedFromVersionId: null } as const;
  const [version] = await tx<StrategyVersion[]>`
    with ${requestOf(tx, requestKey)}, strategy as (
      insert into strategies (workspace_id, name, description, template_key)
      select ${workspaceId}::uuid, ${name}::text, ${description}::text, ${templateKey}::text from request
      returning id, workspace_id
    ), made as (${insertedVersion(tx, draft, tx`strategy`)})
    ${insertedLabels(tx, workspaceId, [labels], tx`select id, 1::bigint from strategy`)}
    select * from made`;
  if (version === undefined) throw new WorkAlreadyDone();
  const [head] = await tx<[StrategyHead]>`
    select ${tx.unsafe(HEAD)} from ${tx.unsafe(HEAD_TABLES)} where s.id = ${version.strategyId}`;
  return { ...head, versionCount: 1, versions: [version] };
}

/** Archives a strategy; archiving it again keeps the first time. Undefined: there is none. */
export async function archiveStrategy(sql: Queryable, workspaceId: string, id: string): Promise<Date | undefined> {
  const [row] = await sql<{ archivedAt: Date }[]>`
    update strategies set archived_at = coalesce(archived_at, now()),
      updated_at = case when archived_at is null then now() else updated_at end
    where workspace_id = ${workspaceId} and id = ${id} returning archived_at as "archivedAt"`;
  return row?.archivedAt;
}

/**
 * Deletes a strategy that nothing has run, with its versions.
 * @returns undefined: there is none
 */
export async function deleteStrategy(
  tx: Transaction,
  workspaceId: string,
  id: string,
): Promise<'deleted' | 'in use' | undefined> {
  if ((await lockStrategy(tx, workspaceId, id)) === undefined) return undefined;
  // Nothing begins to refer to a locked version.
  await tx`select 1 from strategy_versions where strategy_id = ${id} order by id for update`;
  const [{ isUsed }] = await tx<[{ isUsed: boolean }]>`
    select exists (
      select 1 from strategy_versions v where v.strategy_id = ${id} and (
        exists (select 1 from backtests b where b.strategy_version_id = v.id)
        or exists (select 1 from sweeps s where s.strategy_version_id = v.id))
    ) as "isUsed"`;
  if (isUsed) return 'in use';
  await tx`delete from strategies where id = ${id}`;
  return 'deleted';
}

/** Changes the name or the description of a locked strategy, archives it, or takes it back into use. */
export async function changeStrategy(
  tx: Transaction,
  id: string,
  { name, description, archived }: StrategyChange,
): Promise<void> {
  await tx`
    update strategies set name = coalesce(${name ?? null}, name),
      description = coalesce(${description ?? null}, description),
      archived_at = case ${archived ?? null}::boolean when true then coalesce(archived_at, now()) when false then null
        else archived_at end,
      updated_at = now()
    where id = ${id}`;
}

interface StrategyChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly archived?: boolean | undefined;
}

/**
 * Locks the strategy for this transaction, so that two finalize requests run one after the other. Undefined: there is
 * none.
 */
export async function lockStrategy(
  tx: Transaction,
  workspaceId: string,
  id: string,
): Promise<{ readonly isArchived: boolean } | undefined> {
  const [row] = await tx<{ isArchived: boolean }[]>`
    select archived_at is not null as "isArchived" from strategies
    where workspace_id = ${workspaceId} and id = ${id} for no key update`;
  return row;
}
