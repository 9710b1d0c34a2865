// The idempotent_answers and idempotent_work tables: for 24 hours, they keep the answer given under the caller's
// Idempotency-Key, and the fact that rows were made under it.
import { hash } from 'node:crypto';
import type { Queryable, Transaction } from './connect.ts';

/** What an Idempotency-Key is unique within. */
export interface AnswerKey {
  readonly workspaceId: string;
  readonly method: string;
  /** Includes ids, excludes the query string. */
  readonly path: string;
  readonly key: string;
}
export interface KeptAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly body: unknown;
}

/** What the rows made under a key are tied to. */
export const requestKeyOf = ({ workspaceId, method, path, key }: AnswerKey): Buffer =>
  hash('sha256', JSON.stringify([workspaceId, method, path, key]), 'buffer');

/**
 * Takes the key for this transaction; false: another transaction holds it. The lock ends with the transaction, so a
 * process that dies leaves no key marked as in progress.
 */
export async function lockAnswerKey(tx: Transaction, key: AnswerKey): Promise<boolean> {
  const name = JSON.stringify(['answer', key.workspaceId, key.method, key.path, key.key]);
  const [{ locked }] = await tx<[{ locked: boolean }]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`;
  return locked;
}

export async function findAnswer(
  tx: Transaction,
  key: AnswerKey,
): Promise<(KeptAnswer & { readonly bodySha256: Buffer }) | undefined> {
  const [row] = await tx<{ status: number; location: string | null; body: unknown; body_sha256: Buffer }[]>`
    select status, location, body, body_sha256 from idempotent_answers
    where workspace_id = ${key.workspaceId} and method = ${key.method} and path = ${key.path} and key = ${key.key}
      and created_at > now() - interval '24 hours'`;
  return row && { status: row.status, location: row.location, body: row.body, bodySha256: row.body_sha256 };
}

/** Keeps an answer; it replaces one older than 24 hours under the same key. */
export async function keepAnswer(
  tx: Transaction,
  key: AnswerKey,
  bodySha256: Buffer,
  answer: KeptAnswer,
): Promise<void> {
  await tx`
    insert into idempotent_answers (workspace_id, method, path, key, body_sha256, status, location, body)
    values (${key.workspaceId}, ${key.method}, ${key.path}, ${key.key}, ${bodySha256}, ${answer.status},
      ${answer.location},
      ${JSON.stringify(answer.body)}::text::json)
    on conflict (workspace_id, method, path, key) do update
      set body_sha256 = excluded.body_sha256, status = excluded.status, location = excluded.location,
        body = excluded.body,
        created_at = now()`;
}

/** Rows were already made under this Idempotency-Key, and the answer that said so has been lost. */
export class WorkAlreadyDone extends Error {
  override readonly name = 'WorkAlreadyDone';
  constructor() {
    super('Work was already done under this Idempotency-Key.');
  }
}

/**
 * For `with ${requestOf(sql, key)}, …`: the table `request` has one row when rows may be made under the key, and none
 * when that was done within 24 hours. Rows that the same statement inserts from `request` exist together with the claim
 * to their key or not at all, whatever becomes of the transaction around it.
 * @param requestKey names the request (requestKeyOf); null: it has no Idempotency-Key
 */
export const requestOf = (sql: Queryable, requestKey: Buffer | null) => sql`
  claimed as (
    insert into idempotent_work as work (request_key)
    select key from (values (${requestKey}::bytea)) as given (key) where key is not null
    on conflict (request_key) do update set created_at = now() where work.created_at <= now() - interval '24 hours'
    returning 1
  ), request as (select from claimed union all select where ${requestKey}::bytea is null)`;

/** Deletes answers that have expired. */
export async function deleteOldAnswers(sql: Queryable): Promise<void> {
  await sql`delete from idempotent_answers where created_at < now() - interval '24 hours'`;
  await sql`delete from idempotent_work where created_at < now() - interval '24 hours'`;
}
