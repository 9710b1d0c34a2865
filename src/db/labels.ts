// The labels table: name, tags, note and time of archiving of backtests and sweeps, and tags and note of strategies.
// Every query names the workspace.
import type { PendingQuery, Row } from 'postgres';
import type { Queryable, Transaction } from './connect.ts';

export interface Labels {
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly note: string | null;
  /** Null: it is in the lists. */
  readonly archivedAt: Date | null;
}

/** The labels that a run or a strategy is created with. */
export interface NewLabels {
  readonly name?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly note?: string | null | undefined;
}

/** A change of labels: null removes, absent keeps. */
export interface LabelChange extends NewLabels {
  readonly archived?: boolean | undefined;
}

/** SQL: the labels of `labels l`, joined by LABELS_OF. */
export const LABEL_COLUMNS = `l.name, coalesce(l.tags, '{}') as tags, l.note, l.archived_at as "archivedAt"`;
/** SQL: joins the labels of `id`, which is SQL, too. */
export const labelsJoin = (id: string): string => `left join labels l on l.id = ${id}`;

const NO_LABELS: Labels = { name: null, tags: [], note: null, archivedAt: null };

export const labelsOf = ({ name, tags, note }: NewLabels): Labels => ({
  ...NO_LABELS,
  name: name ?? null,
  tags: tags ?? [],
  note: note || null,
});

/** How many bytes the workspace is charged for them. */
export const labelBytes = ({ name, tags, note }: Labels): number =>
  Buffer.byteLength(`${name ?? ''}${tags.join('')}${note ?? ''}`);

/**
 * For `with …`: inserts the labels of new rows.
 * @param items the labels of each row, in their order
 * @param of selects `id` and `ordinal` of the rows, counted from 1
 */
export function insertedLabels(
  sql: Queryable,
  workspaceId: string,
  items: readonly (NewLabels | undefined)[],
  of: PendingQuery<Row[]>,
) {
  const rows = items.flatMap((item, index) => {
    const labels = labelsOf(item ?? {});
    const bytes = labelBytes(labels);
    return bytes === 0 ? [] : [{ ordinal: index + 1, ...labels, bytes }];
  });
  // The usual statement stays as it is.
  if (rows.length === 0) return sql``;
  return sql`
    , labeled as (
      insert into labels (id, workspace_id, name, tags, note, bytes)
      select run.id, ${workspaceId}::uuid, given.name, given.tags, given.note, given.bytes
      from (${of}) as run (id, ordinal)
      join json_to_recordset(${JSON.stringify(rows)}::text::json)
        as given (ordinal bigint, name text, tags text[], note text, bytes integer) using (ordinal)
    )`;
}

/** The labels, locked until the transaction ends. The caller holds a lock on the row that they belong to. */
export async function lockLabels(tx: Transaction, workspaceId: string, id: string): Promise<Labels> {
  await tx`insert into labels (id, workspace_id) values (${id}, ${workspaceId}) on conflict (id) do nothing`;
  const [labels] = await tx<[Labels]>`
    select ${tx.unsafe(LABEL_COLUMNS)} from labels l where l.workspace_id = ${workspaceId} and l.id = ${id} for update`;
  return labels;
}

/** Stores labels that lockLabels has locked. */
export async function storeLabels(tx: Transaction, id: string, labels: Labels): Promise<void> {
  const { name, tags, note, archivedAt } = labels;
  await tx`
    update labels set name = ${name}, tags = ${tags as string[]}, note = ${note}, archived_at = ${archivedAt},
      bytes = ${labelBytes(labels)}
    where id = ${id}`;
}

export interface LabelFilters {
  /** All of these tags. */
  readonly tag?: readonly string[] | undefined;
  /** Part of the name, a tag, the note or the symbol, whatever its case. */
  readonly search?: string | undefined;
  /** Default: only those that are not archived. */
  readonly archived?: 'false' | 'true' | 'all' | undefined;
}

/** SQL: selects those with all of these tags. @param id SQL of the id */
export const hasTags = (sql: Queryable, workspaceId: string, tags: readonly string[] | undefined, id: string) =>
  tags === undefined
    ? sql``
    : sql`and ${sql.unsafe(id)} in (
        select l.id from labels l where l.workspace_id = ${workspaceId} and l.tags @> ${tags as string[]}::text[])`;

/** SQL: the ids of what has this text in its labels. */
export const labeledWith = (sql: Queryable, workspaceId: string, search: string) => sql`
  select l.id from labels l where l.workspace_id = ${workspaceId}
    and strpos(lower(concat_ws(E'\n', l.name, array_to_string(l.tags, E'\n'), l.note)), lower(${search})) > 0`;

/** SQL: selects runs by their labels. @param id SQL of the id @param symbols SQL of the text of the symbols */
export function runsLabeled(
  sql: Queryable,
  workspaceId: string,
  { tag, search, archived = 'false' }: LabelFilters,
  id: string,
  symbols: string,
) {
  const isArchived = sql`exists (
    select 1 from labels l where l.id = ${sql.unsafe(id)} and l.workspace_id = ${workspaceId}
      and l.archived_at is not null)`;
  const found =
    search &&
    sql`
    and (strpos(lower(${sql.unsafe(symbols)}), lower(${search})) > 0
      or ${sql.unsafe(id)} in (${labeledWith(sql, workspaceId, search)}))`;
  return sql`
    ${archived === 'all' ? sql`` : archived === 'true' ? sql`and ${isArchived}` : sql`and not ${isArchived}`}
    ${hasTags(sql, workspaceId, tag, id)} ${found || sql``}`;
}
