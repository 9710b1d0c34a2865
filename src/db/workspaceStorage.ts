// The workspace_storage table: bytes of versions and of kept answers, counted by triggers.
import type { Queryable, Transaction } from './connect.ts';

export const storedBytes = (sql: Queryable, workspaceId: string) => sql<[{ bytes: number }]>`
  select coalesce(sum(bytes), 0)::bigint as bytes from workspace_storage where workspace_id = ${workspaceId}`;

/** `storedBytes`, locked: no other transaction can change it until this one ends. */
export async function lockStoredBytes(tx: Transaction, workspaceId: string): Promise<number> {
  await tx`
    insert into workspace_storage (workspace_id, bytes) values (${workspaceId}, 0)
      on conflict (workspace_id) do nothing`;
  const [row] = await tx<[{ bytes: number }]>`
    select bytes from workspace_storage where workspace_id = ${workspaceId} for update`;
  return row.bytes;
}
