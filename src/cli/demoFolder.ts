// Demo folder: the temporary folder of a demo, and the removal of those that killed demos have left behind.
import { mkdtempSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { removeEmbedded } from '../db/embedded.ts';
import { isAlive } from '../db/processes.ts';

/** The server of a killed demo stops within seconds; no demo takes this long. */
const ABANDONED_AFTER_MS = 3_600_000;
const NAME = /^candlepool-demo-(\d+)-/;

/** Makes a folder below `parent` whose name says which process it belongs to. */
export const makeDemoFolder = (parent: string): string => mkdtempSync(join(parent, `candlepool-demo-${process.pid}-`));

/** The server has stopped its own Postgres; one that was killed could not. */
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
