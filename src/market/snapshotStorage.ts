// Snapshot storage: where the bytes of snapshots are kept, each under the sha256 of its content.
import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Sql } from '../db/connect.ts';
import { allocateShared, bytesOf, type SharedBytes } from '../engine/bars/arrow.ts';
import { readSnapshotChunks, writeSnapshotChunks } from '../db/snapshotChunks.ts';
import { DATA_DIR_ADVICE, makeFolder } from '../folders.ts';

/** Why there are no bytes to give. `damaged`: what is kept does not hash to its name. */
type Unreadable = 'absent' | 'damaged';

/** Where bytes are kept by the hash of their content. Any number of processes may share a storage. */
export interface SnapshotStorage {
  /** Keeps `bytes` unless they are kept. A reader sees all of them or none, whenever the writer dies. */
  write(sha256: string, bytes: Uint8Array): Promise<void>;
  /** The bytes in shared memory, known to hash to their name. */
  read(sha256: string): Promise<SharedBytes | Unreadable>;
  /** Removes bytes that no reader will ask for any more; nothing happens when there are none. */
  remove(sha256: string): Promise<void>;
  /** Where the bytes are kept, for messages. */
  placeOf(sha256: string): string;
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const verified = (sha256: string, shared: SharedBytes): SharedBytes | Unreadable =>
  sha256Of(bytesOf(shared)) === sha256 ? shared : 'damaged';

/** A writer that has not renamed its file after this long is dead. */
const ABANDONED_MS = 3_600_000;
const PARTIAL = '.partial-';

/** One file per snapshot in a folder, which processes on several hosts may share. */
export class SnapshotFolder implements SnapshotStorage {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(sha256: string, bytes: Uint8Array): Promise<void> {
    const target = this.#path(sha256);
    const existing = await stat(target).catch(() => null);
    if (existing?.size === bytes.length) return;
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
  }

  async read(sha256: string): Promise<SharedBytes | Unreadable> {
    // Whatever the reason, this host cannot read the file, and another may.
    const file = await open(this.#path(sha256), 'r').catch(() => null);
    if (file === null) return 'absent';
    try {
      const { size } = await file.stat();
      const shared = allocateShared(size);
      const bytes = bytesOf(shared);
      for (let offset = 0; offset < size;) {
        const { bytesRead } = await file.read(bytes, offset, size - offset, offset);
        if (bytesRead === 0) break;
        offset += bytesRead;
      }
      return verified(sha256, shared);
    } catch {
      return 'damaged';
    } finally {
      await file.close();
    }
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.#path(sha256), { force: true });
  }

  placeOf(sha256: string): string {
    return `DATA_DIR (${this.#path(sha256)})`;
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

/** Postgres, for hosts that share no folder. */
export class SnapshotTable implements SnapshotStorage {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  write(sha256: string, bytes: Uint8Array): Promise<void> {
    return writeSnapshotChunks(this.#sql, sha256, bytes);
  }

  async read(sha256: string): Promise<SharedBytes | Unreadable> {
    const shared = await readSnapshotChunks(this.#sql, sha256, allocateShared);
    return shared === undefined ? 'absent' : verified(sha256, shared);
  }

  /** Does nothing: the transaction that removes the snapshot deletes its chunks (db/retention.ts). */
  async remove(): Promise<void> {}

  placeOf(): string {
    return 'Postgres';
  }
}

/** A storage that all hosts share, behind a folder of this host that keeps a copy of what was read. */
export class CopiedStorage implements SnapshotStorage {
  readonly #shared: SnapshotStorage;
  readonly #folder: SnapshotFolder;
  readonly #onCopyFailed: (error: unknown) => void;

  /** @param onCopyFailed called when a copy cannot be kept; reads go on without it */
  constructor(shared: SnapshotStorage, folder: SnapshotFolder, onCopyFailed: (error: unknown) => void = () => {}) {
    this.#shared = shared;
    this.#folder = folder;
    this.#onCopyFailed = onCopyFailed;
  }

  async write(sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#shared.write(sha256, bytes);
    await this.#keep(sha256, bytes);
  }

  async read(sha256: string): Promise<SharedBytes | Unreadable> {
    const copy = await this.#folder.read(sha256);
    if (typeof copy !== 'string') return copy;
    const found = await this.#shared.read(sha256);
    if (typeof found === 'string') return copy === 'damaged' ? copy : found;
    if (copy === 'damaged') await this.#folder.remove(sha256).catch(this.#onCopyFailed);
    await this.#keep(sha256, bytesOf(found));
    return found;
  }

  /** Removes this host's copy. Those of other hosts stay until somebody removes them: they only take space. */
  async remove(sha256: string): Promise<void> {
    await this.#shared.remove(sha256);
    await this.#folder.remove(sha256);
  }

  placeOf(sha256: string): string {
    return `${this.#shared.placeOf(sha256)} or ${this.#folder.placeOf(sha256)}`;
  }

  /** Keeps a copy, which only saves time: a folder that cannot be written must not fail the read. */
  async #keep(sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#folder.write(sha256, bytes).catch(this.#onCopyFailed);
  }
}
