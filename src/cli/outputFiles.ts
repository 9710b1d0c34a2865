// Files that commands write: each appears whole under its name, or not at all.
import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { UsageError } from './output.ts';

export interface OutputFile {
  readonly path: string;
  readonly content: string | Uint8Array | Readable;
}

/**
 * Writes all of the files or, if one cannot be written, none: they are written under temporary names in the same
 * folders and renamed at the end. Only a rename that fails can leave some of them in place without the others.
 */
export async function writeOutputs(files: readonly OutputFile[]): Promise<void> {
  const written: { path: string; partial: string }[] = [];
  try {
    for (const { path, content } of files) {
      const partial = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.partial`);
      written.push({ path, partial });
      // The error must name the file that the user asked for, not the temporary one.
      await writeFile(partial, content).catch((error: unknown) =>
        Promise.reject(Object.assign(error as Error, { path })),
      );
    }
    for (const { path, partial } of written) await rename(partial, path);
  } finally {
    await Promise.all(written.map(({ partial }) => rm(partial, { force: true })));
  }
}

/**
 * Called before the work, so that a mistyped path costs nothing.
 * @throws UsageError when a path is a folder, lies in a folder that does not exist, or is given twice.
 */
export async function checkOutputs(paths: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  for (const path of paths) {
    const absolute = resolve(path);
    if (seen.has(absolute)) throw new UsageError(`${path} is named for two files. Give each a different name.`);
    seen.add(absolute);
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) throw new UsageError(`${path} is a folder. Name a file in it.`);
    const folder = await stat(dirname(absolute)).catch(() => null);
    if (!folder?.isDirectory())
      throw new UsageError(`There is no folder ${dirname(path)} to write ${path} in. Create it first.`);
  }
}
