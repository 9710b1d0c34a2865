// The signing_keys table: the key pair of local access tokens, shared by all hosts of one database.
import type { Queryable, Sql } from './connect.ts';

interface StoredSigningKey {
  readonly id: string;
  readonly algorithm: string;
  readonly publicJwk: Record<string, unknown>;
  readonly privateJwk: Record<string, unknown>;
}

/** The pair that signs; `make` makes one when there is none. When two hosts make one at once, only one is kept. */
export async function activeSigningKey(
  sql: Sql,
  make: () => Promise<Omit<StoredSigningKey, 'id'>>,
): Promise<StoredSigningKey> {
  const existing = await selectActive(sql);
  if (existing !== null) return existing;
  const made = await make();
  await sql`
    insert into signing_keys (algorithm, public_jwk, private_jwk)
    values (${made.algorithm}, ${sql.json(made.publicJwk as never)}, ${sql.json(made.privateJwk as never)})
    on conflict (is_active) where is_active do nothing`;
  const kept = await selectActive(sql);
  if (kept === null) throw new Error('activeSigningKey: the key that was just inserted is not there');
  return kept;
}

/** The public half, even of a pair that no longer signs; null when there is no pair with that id (a uuid). */
export async function findPublicJwk(sql: Queryable, id: string): Promise<Record<string, unknown> | null> {
  const [row] = await sql<{ publicJwk: Record<string, unknown> }[]>`
    select public_jwk as "publicJwk" from signing_keys where id = ${id}`;
  return row?.publicJwk ?? null;
}

async function selectActive(sql: Queryable): Promise<StoredSigningKey | null> {
  const [row] = await sql<StoredSigningKey[]>`
    select id, algorithm, public_jwk as "publicJwk", private_jwk as "privateJwk" from signing_keys where is_active`;
  return row ?? null;
}
