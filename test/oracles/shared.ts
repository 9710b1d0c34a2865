// The folder of other engines' numbers, and how its files are read.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A path inside the shared folder; fails plainly when the folder was not named. */
export function sharedPath(...parts: string[]): string {
  const folder = process.env.CANDLEPOOL_SHARED;
  if (folder === undefined) throw new Error('CANDLEPOOL_SHARED names no folder: run `npm run test:oracles -- FOLDER`');
  const path = join(folder, ...parts);
  if (!existsSync(path))
    throw new Error(`${path} does not exist: is ${folder} the folder that holds oracles/ and data/?`);
  return path;
}

/**
 * The content of oracles/NAME.json.gz, as the type its reader states: the files are fixed, and a wrong type shows in
 * the first assertion.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function readOracle<T>(name: string): T {
  return JSON.parse(gunzipSync(readFileSync(sharedPath('oracles', `${name}.json.gz`))).toString('utf8')) as T;
}
