// Making folders: one level at a time, and refused with a sentence that a person can act on.
import { mkdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What a person can do when a folder below DATA_DIR cannot be made. */
export const DATA_DIR_ADVICE = 'Set DATA_DIR to a folder that this user can write.';

/** A folder cannot be made or used; the message says which, why, and what to do. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
}

/**
 * Makes a folder and the missing ones above it. The `recursive` option of Node's mkdir never returns on file systems
 * that answer ENOENT when a folder is made in an existing one, as /proc does.
 * @param advice what the person can do when it fails, as a sentence.
 * @throws FolderError
 */
export async function makeFolder(path: string, advice: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw refused(path, error, advice);
    });
    if (found?.isDirectory()) break;
    if (found) throw new FolderError(`${folder} is a file, not a folder. ${advice}`);
    missing.unshift(folder);
  }
  for (const folder of missing) {
    const isLast = folder === path;
    await mkdir(folder, isLast ? mode : undefined).catch((error: NodeJS.ErrnoException) => {
      // Another process has made it in the meantime.
      if (error.code !== 'EEXIST') throw refused(folder, error, advice);
    });
  }
}

/**
 * Refuses a folder whose disk has too little room, before anything is begun that would need it.
 * @param advice what the person can do beside freeing space, as the end of a sentence.
 * @throws FolderError
 */
export async function requireRoom(folder: string, bytes: number, advice: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  const [free, needed] = [bavail * bsize, bytes].map((each) => Math.floor(each / 2 ** 20));
  throw new FolderError(
    `The disk of ${folder} has ${free} MiB free, and ${needed} MiB are needed. Free some space, or ${advice}.`,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'the file system does not allow folders there',
  ENAMETOOLONG: 'the name is too long',
};

function refused(folder: string, error: NodeJS.ErrnoException, advice: string): FolderError {
  const reason = REASONS[error.code ?? ''] ?? error.message;
  return new FolderError(`The folder ${folder} cannot be created: ${reason}. ${advice}`);
}
