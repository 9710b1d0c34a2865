// The snapshot_chunks table: the bytes of snapshots in Postgres, in pieces.
import type { SharedBytes } from '../engine/index.ts';
import type { Queryable, Sql } from './connect.ts';

/** Writing or reading one chunk takes milliseconds, and a few chunks fit into memory wherever a snapshot does. */
const CHUNK_BYTES = 1 << 20;
/** Chunks read at a time. */
const READ_AHEAD = 4;

/** Writes the bytes of a snapshot unless they are there: all chunks or none. */
export async function writeSnapshotChunks(sql: Sql, sha256: string, bytes: Uint8Array): Promise<void> {
  await sql.begin(async (tx) => {
    const held = await tx`select 1 from snapshot_chunks where sha256 = ${sha256} and ordinal = 0`;
    if (held.length > 0) return;
    for (let ordinal = 0; ordinal * CHUNK_BYTES < bytes.length; ordinal++) {
      const chunk = Buffer.from(bytes.subarray(ordinal * CHUNK_BYTES, (ordinal + 1) * CHUNK_BYTES));
      await tx`
        insert into snapshot_chunks (sha256, ordinal, bytes) values (${sha256}, ${ordinal}, ${chunk})
        on conflict (sha256, ordinal) do nothing`;
    }
  });
}

/** The bytes of a snapshot in shared memory; undefined: they are not there. */
export async function readSnapshotChunks(
  sql: Sql,
  sha256: string,
  allocate: (byteLength: number) => SharedBytes,
): Promise<SharedBytes | undefined> {
  const [{ size }] = await sql<[{ size: number | null }]>`
    select sum(octet_length(bytes))::double precision as size from snapshot_chunks where sha256 = ${sha256}`;
  if (size === null) return undefined;
  const shared = allocate(size);
  const whole = new Uint8Array(shared.memory.buffer);
  let at = 0;
  await sql<
    { bytes: Uint8Array }[]
  >`select bytes from snapshot_chunks where sha256 = ${sha256} order by ordinal`.cursor(READ_AHEAD, (rows) => {
    for (const { bytes } of rows) {
      whole.set(bytes, at);
      at += bytes.length;
    }
  });
  return shared;
}

/** Imported snapshots whose bytes are not in Postgres. */
export async function listSnapshotsWithoutChunks(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ sha256: string }[]>`
    select sha256 from snapshots s
    where not exists (select 1 from snapshot_chunks c where c.sha256 = s.sha256 and c.ordinal = 0) order by sha256`;
  return rows.map((row) => row.sha256);
}
