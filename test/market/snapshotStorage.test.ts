// Snapshot storage: a folder and Postgres keep the same bytes under the same names, and a host without files reads what
// another has written.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCatalog } from '../../src/market/catalog.ts';
import { CopiedStorage, SnapshotFolder, SnapshotTable } from '../../src/market/snapshotStorage.ts';
import type { SnapshotStorage } from '../../src/market/snapshotStorage.ts';
import { importShipped } from '../../src/market/shipped.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { seededRandom } from '../support/scale.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-storage-'));
  await database.sql`delete from snapshot_chunks`;
  return () => rm(folder, { recursive: true, force: true });
});

function content(size: number, seed = 1): { readonly sha256: string; readonly bytes: Uint8Array } {
  const random = seededRandom(seed);
  const bytes = Uint8Array.from({ length: size }, () => random() * 256);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes };
}
const bytesOf = async (storage: SnapshotStorage, sha256: string): Promise<Buffer> => {
  const found = await storage.read(sha256);
  if (typeof found === 'string') throw new Error(found);
  return Buffer.from(new Uint8Array(found.memory.buffer, 0, found.byteLength));
};
const table = () => new SnapshotTable(database.sql);
const storages: readonly (readonly [string, () => SnapshotStorage])[] = [
  ['a folder', () => new SnapshotFolder(folder)],
  ['Postgres', table],
  ['Postgres behind a folder', () => new CopiedStorage(table(), new SnapshotFolder(folder))],
];

describe.each(storages)('%s', (_name, open) => {
  it.each([1, 1_000, (1 << 20) - 1, 1 << 20, (1 << 20) * 3 + 7])('gives back %d bytes as they were', async (size) => {
    const { sha256, bytes } = content(size);
    await open().write(sha256, bytes);
    expect(Buffer.compare(await bytesOf(open(), sha256), bytes)).toBe(0);
  });

  it('says that it lacks what was never written', async () => {
    expect(await open().read('0'.repeat(64))).toBe('absent');
  });

  it('keeps one copy of what several writers write at the same time', async () => {
    const { sha256, bytes } = content(3 << 20);
    await Promise.all([1, 2, 3, 4].map(() => open().write(sha256, bytes)));
    expect(Buffer.compare(await bytesOf(open(), sha256), bytes)).toBe(0);
  });
});

describe('a copy in a folder', () => {
  const other = () => new CopiedStorage(table(), new SnapshotFolder(folder));
  const path = (sha256: string) => join(folder, `${sha256}.arrow`);

  it('is made of what another host has written, and read without Postgres afterwards', async () => {
    const { sha256, bytes } = content(5_000);
    await table().write(sha256, bytes);
    await bytesOf(other(), sha256);
    await database.sql`delete from snapshot_chunks`;
    expect(Buffer.compare(await bytesOf(other(), sha256), bytes)).toBe(0);
  });

  it('is replaced when it is damaged', async () => {
    const { sha256, bytes } = content(5_000);
    await other().write(sha256, bytes);
    await writeFile(path(sha256), bytes.toReversed());
    expect(Buffer.compare(await bytesOf(other(), sha256), bytes)).toBe(0);
    expect(Buffer.compare(await bytesOf(new SnapshotFolder(folder), sha256), bytes)).toBe(0);
  });

  it('is not needed: a folder that cannot be written hinders nothing, and is reported', async () => {
    const { sha256, bytes } = content(5_000);
    await writeFile(join(folder, 'file'), '');
    const onCopyFailed = vi.fn<(error: unknown) => void>();
    const unwritable = new CopiedStorage(table(), new SnapshotFolder(join(folder, 'file', 'snapshots')), onCopyFailed);
    await unwritable.write(sha256, bytes);
    expect(Buffer.compare(await bytesOf(unwritable, sha256), bytes)).toBe(0);
    expect(onCopyFailed.mock.calls.map(([error]) => (error as Error).message)).toEqual([
      expect.stringContaining('is a file, not a folder'),
      expect.stringContaining('is a file, not a folder'),
    ]);
  });
});

describe('a catalog that shares snapshots by Postgres', () => {
  it('opens on every host what one has imported, and shares what one had before', async () => {
    const { sql } = database;
    const first = join(folder, 'first');
    await importShipped(openCatalog(sql, first));
    const host = (name: string) => openCatalog(sql, join(folder, name), { storage: 'postgres' });
    const names = (await host('second').list()).map(({ sha256 }) => sha256);
    await expect(host('second').open(names)).rejects.toThrow('is not in Postgres or DATA_DIR');
    expect(await host('first').share()).toBe(names.length);
    expect(await host('first').share()).toBe(0);
    const opened = await host('second').open(names);
    expect(opened.map(({ meta }) => meta.sha256)).toEqual(names);
    // The refused call may still be writing a copy under a name of its own.
    const kept = (await readdir(join(folder, 'second', 'snapshots'))).filter((name) => name.endsWith('.arrow'));
    expect(kept).toHaveLength(names.length);
  });
});
