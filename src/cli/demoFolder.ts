// The demo folder: the temporary folder of a demo, and the removal of those that killed demos have left behind.
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, requireRoom } from '../folders.ts';
import { removeEmbedded } from '../db/embedded.ts';
import { isAlive } from '../db/processes.ts';

/** The server of a killed demo stops within seconds; no demo takes this long. */
const ABANDONED_AFTER_MS = 3_600_000;
const NAME = /^candlepool-demo-(\d+)-/;

/** Space for the embedded database, two hundred results and the log of writing them. */
const DEMO_BYTES = 192 << 20;
const ADVICE = 'Set TMPDIR to a folder that this user can write.';

/**
 * Makes a folder below `parent` whose name says which process it belongs to.
 * @throws FolderError
 */
export async function makeDemoFolder(parent: string): Promise<string> {
  await makeFolder(parent, ADVICE);
  await requireRoom(parent, DEMO_BYTES, 'set TMPDIR to a folder on another disk');
  const folder = join(parent, `candlepool-demo-${process.pid}-${randomUUID().slice(0, 8)}`);
  await makeFolder(folder, ADVICE, 0o700);
  return folder;
}

/** Removes a demo folder. First stops its Postgres, which a killed server has left running. */
export async function removeDemoFolder(folder: string): Promise<void> {
  await removeEmbedded(folder);
  await rm(folder, { recursive: true, force: true });
}

/** Removes the folders below `parent` of demos that were killed an hour ago or longer, as far as this user may. */
export async function removeAbandonedFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(parent, name);
    const found = await stat(folder).catch(() => null);
    if (found === null || found.uid !== (process.getuid?.() ?? found.uid)) continue;
    if (Date.now() - found.mtimeMs < ABANDONED_AFTER_MS) continue;
    // What cannot be removed now must not keep this demo from running.
    await removeDemoFolder(folder).catch(() => {});
  }
}
