// Snapshot files: one Arrow file per snapshot in DATA_DIR, named by its sha256, and the opened ones in shared memory.
import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RecordBatchReader } from 'apache-arrow';
import { encodeSnapshot, parseSnapshotAbout, readSnapshotAbout } from '../engine/bars/arrow.ts';
import type { Snapshot, SnapshotAbout, SnapshotColumns, SnapshotMeta } from '../engine/bars/arrow.ts';
import { makeFolder } from '../folders.ts';
import { refuse } from './importError.ts';

/** A year of minutes is 29 MB, so this holds about forty such series. */
const DEFAULT_MAX_BYTES = 2 ** 30;
/** A writer that has not renamed its file after this long is dead. */
const ABANDONED_MS = 3_600_000;
const PARTIAL = '.partial-';

/** A snapshot in memory only, for files read on the command line. */
export function makeSnapshot(columns: SnapshotColumns, about: SnapshotAbout): Snapshot {
  const bytes = encodeSnapshot(columns, about);
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return { meta: { ...about, sha256: hash(bytes) }, buffer };
}

const DATA_DIR_ADVICE = 'Set DATA_DIR to a folder that this user can write.';

/** The snapshots of one folder. Files are only ever added, so any number of processes may share it. */
export class SnapshotFiles {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** In order of use, least recent first. Promises, so that concurrent requests for one file read it once. */
  readonly #opened = new Map<string, Promise<Snapshot>>();
  readonly #sizes = new Map<string, number>();

  constructor(folder: string, maxBytes: number = DEFAULT_MAX_BYTES) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of shared memory that the cached snapshots take. */
  get openBytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** Writes a snapshot unless it exists. A reader sees the whole file or none, whenever the writer dies. */
  async write(columns: SnapshotColumns, about: SnapshotAbout): Promise<{ sha256: string; byteLength: number }> {
    const bytes = encodeSnapshot(columns, about);
    const sha256 = hash(bytes);
    const target = this.#path(sha256);
    const existing = await stat(target).catch(() => null);
    if (existing?.size === bytes.length) return { sha256, byteLength: bytes.length };
    await makeFolder(dirname(this.#folder), DATA_DIR_ADVICE, 0o700);
    await makeFolder(this.#folder, DATA_DIR_ADVICE);
    await this.#removeAbandoned();
    const partial = join(this.#folder, `${PARTIAL}${randomUUID()}`);
    const file = await open(partial, 'wx');
    try {
      await file.writeFile(bytes);
      // The name must not reach the disk before the bytes do.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, target);
    return { sha256, byteLength: bytes.length };
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
      const snapshot = await readSnapshot(this.#path(sha256), sha256);
      this.#sizes.set(sha256, snapshot.buffer.byteLength);
      this.#evict(sha256);
      return snapshot;
    } catch (error) {
      this.#opened.delete(sha256);
      throw error;
    }
  }

  #evict(newest: string): void {
    for (const sha256 of this.#opened.keys()) {
      if (this.openBytes <= this.#maxBytes) return;
      if (sha256 === newest || !this.#sizes.has(sha256)) continue;
      this.#opened.delete(sha256);
      this.#sizes.delete(sha256);
    }
  }

  async #removeAbandoned(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith(PARTIAL)) continue;
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => null);
      if (found && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    }
  }

  #path(sha256: string): string {
    return join(this.#folder, `${sha256}.arrow`);
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

async function readSnapshot(path: string, sha256: string): Promise<Snapshot> {
  const file = await open(path, 'r').catch(() =>
    refuse(
      'FILE_UNREADABLE',
      `The snapshot ${sha256} is not in DATA_DIR (${path}). Restore the file or import the data again.`,
    ),
  );
  try {
    const { size } = await file.stat();
    const buffer = new SharedArrayBuffer(size);
    const bytes = new Uint8Array(buffer);
    for (let offset = 0; offset < size;) {
      const { bytesRead } = await file.read(bytes, offset, size - offset, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
    }
    if (hash(bytes) !== sha256)
      refuse(
        'FILE_UNREADABLE',
        `The snapshot ${path} is damaged: its content does not hash to its name. Restore it or import the data again.`,
      );
    return { meta: { ...readSnapshotAbout(bytes), sha256 }, buffer };
  } finally {
    await file.close();
  }
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
