// Snapshot files: one Arrow file per snapshot, named by its sha256, wherever it is kept; the opened ones in shared
// memory.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RecordBatchReader } from '../engine/bars/arrowPackage.ts';
import {
  allocateShared,
  bytesOf,
  encodeSnapshot,
  parseSnapshotAbout,
  readSnapshotAbout,
} from '../engine/bars/arrow.ts';
import type { SharedBytes, Snapshot, SnapshotAbout, SnapshotColumns, SnapshotMeta } from '../engine/bars/arrow.ts';
import { refuse } from './import/importError.ts';
import { sha256Of } from './snapshotStorage.ts';
import type { SnapshotStorage } from './snapshotStorage.ts';

/** A year of minutes is 29 MB, so this holds about forty such series. */
const DEFAULT_MAX_BYTES = 2 ** 30;

/** A snapshot in memory only, for files read on the command line. */
export function makeSnapshot(columns: SnapshotColumns, about: SnapshotAbout): Snapshot {
  const bytes = encodeSnapshot(columns, about);
  const shared = allocateShared(bytes.length);
  bytesOf(shared).set(bytes);
  return { ...shared, meta: { ...about, sha256: sha256Of(bytes) } };
}

interface WrittenSnapshot {
  readonly sha256: string;
  readonly byteLength: number;
  readonly writeAgain: () => Promise<void>;
}

interface EncodedSnapshot {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** The snapshots of one storage. */
export class SnapshotFiles {
  readonly #storage: SnapshotStorage;
  readonly #maxBytes: number;
  /** In order of use, least recent first. Promises, so that concurrent requests for one file read it once. */
  readonly #opened = new Map<string, Promise<Snapshot>>();
  readonly #sizes = new Map<string, number>();

  constructor(storage: SnapshotStorage, maxBytes: number = DEFAULT_MAX_BYTES) {
    this.#storage = storage;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of shared memory that the cached snapshots take. */
  get openBytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /**
   * Writes a snapshot unless it exists. `writeAgain` does the same, for when it may have been removed since, because
   * nothing referred to it yet.
   */
  async write(columns: SnapshotColumns, about: SnapshotAbout): Promise<WrittenSnapshot> {
    const encoded = this.encode(columns, about);
    const write = (): Promise<void> => this.keep(encoded);
    await write();
    return { sha256: encoded.sha256, byteLength: encoded.bytes.length, writeAgain: write };
  }

  /** The bytes of a snapshot and their name, for a caller that must know both before anything is written. */
  encode(columns: SnapshotColumns, about: SnapshotAbout): EncodedSnapshot {
    const bytes = encodeSnapshot(columns, about);
    return { sha256: sha256Of(bytes), bytes };
  }

  async keep({ sha256, bytes }: EncodedSnapshot): Promise<void> {
    await this.#storage.write(sha256, bytes);
  }

  /** Removes the bytes of a snapshot. */
  async remove(sha256: string): Promise<void> {
    await this.#storage.remove(sha256);
    this.#opened.delete(sha256);
    this.#sizes.delete(sha256);
  }

  /**
   * A snapshot in shared memory. It stays cached until others evict it (least recently used first); holders of a
   * reference keep it.
   * @throws MarketDataError FILE_UNREADABLE when the file is absent or is not what its name says
   */
  open(sha256: string): Promise<Snapshot> {
    const kept = this.#opened.get(sha256) ?? this.#read(sha256);
    this.#opened.delete(sha256);
    this.#opened.set(sha256, kept);
    return kept;
  }

  async #read(sha256: string): Promise<Snapshot> {
    try {
      const shared = await this.#readWhole(sha256);
      const snapshot = { ...shared, meta: { ...readSnapshotAbout(bytesOf(shared)), sha256 } };
      this.#sizes.set(sha256, snapshot.byteLength);
      this.#evict(sha256);
      return snapshot;
    } catch (error) {
      this.#opened.delete(sha256);
      throw error;
    }
  }

  async #readWhole(sha256: string): Promise<SharedBytes> {
    const found = await this.#storage.read(sha256);
    if (typeof found !== 'string') return found;
    const place = this.#storage.placeOf(sha256);
    refuse(
      'FILE_UNREADABLE',
      found === 'absent'
        ? `The snapshot ${sha256} is not in ${place}. Restore the file or import the data again.`
        : `The snapshot ${sha256} in ${place} is damaged: its content does not hash to its name. Restore it or ` +
            'import the data again.',
    );
  }

  #evict(newest: string): void {
    for (const sha256 of this.#opened.keys()) {
      if (this.openBytes <= this.#maxBytes) return;
      if (sha256 === newest || !this.#sizes.has(sha256)) continue;
      this.#opened.delete(sha256);
      this.#sizes.delete(sha256);
    }
  }
}

/** The metadata of every snapshot in a folder, read from the footers alone. Other files are skipped. */
export async function listSnapshotFiles(folder: string): Promise<SnapshotMeta[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{64}\.arrow$/.test(name));
  const found = await Promise.all(
    names.map(async (name): Promise<SnapshotMeta[]> => {
      try {
        return [{ ...(await readFooter(join(folder, name))), sha256: name.slice(0, 64) }];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

async function readFooter(path: string): Promise<SnapshotAbout> {
  await using file = await open(path, 'r');
  const reader = await RecordBatchReader.from(file);
  return parseSnapshotAbout((await reader.open()).schema.metadata);
}
