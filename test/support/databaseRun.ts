// Vitest's global setup: names the folder of the run's Postgres, stops the server at the end, and removes what killed
// runs have left.
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { isAlive } from '../../src/db/processes.ts';

export const RUN_FOLDER = 'CANDLEPOOL_TEST_DATABASE';
export const RUN_PID = 'CANDLEPOOL_TEST_PID';

const PREFIX = 'candlepool-test-run-';

export default async function setup(): Promise<() => Promise<void>> {
  const folder = join(tmpdir(), `${PREFIX}${process.pid}`);
  await sweep();
  process.env[RUN_FOLDER] = folder;
  process.env[RUN_PID] = String(process.pid);
  return () => remove(folder);
}

async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : NaN);
    if (Number.isInteger(pid) && !isAlive(pid)) await remove(join(tmpdir(), name));
  }
}

async function remove(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  await stopEmbedded(folder);
  await rm(folder, { recursive: true, force: true });
}
