// Compiled code is kept for the next start, which then takes a third of the time: reading TypeScript and packages is
// most of what a process does until it works.
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';

/** Where packages keep what they can make again. Whoever can write here can write the code itself. */
const FOLDER = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'candlepool');

/** Call it before anything large is imported. Where the folder cannot be written, nothing is kept. */
export function reuseCompiledCode(): void {
  // NODE_COMPILE_CACHE says where, or NODE_DISABLE_COMPILE_CACHE that it is not wanted.
  if (getCompileCacheDir() !== undefined) return;
  enableCompileCache(FOLDER);
  // Threads and child processes see only the variable.
  if (getCompileCacheDir() !== undefined) process.env.NODE_COMPILE_CACHE = FOLDER;
}

/** Call it when everything has been imported: a process that is killed keeps nothing at its end. */
export const keepCompiledCode = (): void => flushCompileCache();
