// Input files: what the arguments of an import name: files, folders, patterns and zip archives.
import { globSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { refuse } from './importError.ts';
import { isWorkbook, MAX_BYTES, readFileBytes } from './sourceFile.ts';
import { isZip, zipEntries } from './zip.ts';

export interface InputFile {
  /** As messages show it: the path, or the name inside of an archive. */
  readonly name: string;
  /** Reads it each time, so that the bytes are not kept. */
  readonly read: () => Promise<Uint8Array>;
}

/** A file that was not read, and why. */
export interface SkippedFile {
  readonly name: string;
  readonly reason: string;
}

/** Files of a folder that hold bars, by their names; a file that is named on its own may have any name. */
const BARS_NAME =
  /\.(?:csv|tsv|txt|psv|json|jsonl|ndjson|parquet|pq|arrow|arrows|feather|ipc)(?:\.(?:gz|zst))?$|\.zip$/i;
const PATTERN = /[*?[\]{}]/;

const isBarsName = (name: string): boolean => BARS_NAME.test(name);

/**
 * The paths that arguments name, in order.
 * @throws MarketDataError FILE_UNREADABLE when one names nothing
 */
export async function expandPaths(
  paths: readonly string[],
): Promise<{ readonly files: readonly string[]; readonly skipped: readonly SkippedFile[] }> {
  let files: readonly string[] = [];
  let skipped: readonly SkippedFile[] = [];
  for (const path of paths) {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) {
      const inside = await listFolder(path);
      if (inside.files.length === 0)
        refuse('FILE_UNREADABLE', `There is no file of bars in ${path}. ${skippedText(inside.skipped)}`.trim());
      files = [...files, ...inside.files];
      skipped = [...skipped, ...inside.skipped];
    } else if (found === null && PATTERN.test(path)) {
      const matches = globSync(path).toSorted();
      if (matches.length === 0) refuse('FILE_UNREADABLE', `No file matches ${path}. Check the pattern.`);
      files = [...files, ...matches];
    } else files = [...files, path];
  }
  return { files: [...new Set(files)], skipped };
}

/** The files of a folder whose names are those of bars, and the others. Folders inside are not entered. */
export async function listFolder(
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly skipped: readonly SkippedFile[] }> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter(({ name }) => !name.startsWith('.')).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    files: names.filter((entry) => entry.isFile() && isBarsName(entry.name)).map(({ name }) => join(folder, name)),
    skipped: names
      .filter((entry) => !entry.isFile() || !isBarsName(entry.name))
      .map((entry) => ({
        name: entry.name,
        reason: entry.isFile() ? NOT_BARS : 'it is a folder inside of the folder',
      })),
  };
}

const NOT_BARS = 'its name is not that of a file of bars, such as .csv, .json, .parquet, .arrow or .zip';

/** A file, or all files in a zip archive. */
export async function readInputFile(path: string): Promise<readonly InputFile[]> {
  const plain: InputFile = { name: path, read: () => readFileBytes(path) };
  if (!isZip(await readFirstBytes(path))) return [plain];
  return filesInside(path, await readFileBytes(path)) ?? [plain];
}

/**
 * The files in a zip archive; null: the bytes are those of another file.
 * @param maxBytes the most that one unpacks to
 */
export function filesInside(path: string, bytes: Uint8Array, maxBytes = MAX_BYTES): readonly InputFile[] | null {
  if (!isZip(bytes) || isWorkbook(bytes)) return null;
  const entries = zipEntries(bytes, maxBytes);
  if (entries.length === 0) refuse('NO_ROWS', `The zip archive ${basename(path)} has no files.`);
  return entries.map((entry) => ({ name: `${basename(path)}/${entry.name}`, read: async () => entry.read() }));
}

/** Enough to tell a zip archive; nothing if there is no such file, which is said when it is read. */
async function readFirstBytes(path: string): Promise<Uint8Array> {
  const file = await open(path).catch(() => null);
  if (file === null) return new Uint8Array();
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer;
  } catch {
    return new Uint8Array();
  } finally {
    await file.close();
  }
}

/** "Not used: notes.pdf (…), old (…)." */
export const skippedText = (skipped: readonly SkippedFile[]): string =>
  skipped.length === 0 ? '' : `Not used: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}.`;
