// Vitest's global setup: names the folder of the run and its Postgres in it, stops the server at the end, and removes
// what killed runs have left. Where the machine has the memory, temporary files of the tests lie there: nothing of a
// test outlives the run, so nothing has to wait for a disk, which was a fifth of the time of tests that start services.
import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { isAlive } from '../../src/db/processes.ts';
import { isLong } from './scale.ts';

export const RUN_FOLDER = 'CANDLEPOOL_TEST_DATABASE';
export const RUN_PID = 'CANDLEPOOL_TEST_PID';

const PREFIX = 'candlepool-test-run-';
const DATABASE = 'database';
/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm';
/** Some gigabytes more than the tests need, so that they do not take memory from each other. */
const NEEDED_BYTES = 8 * 2 ** 30;

export default async function setup(): Promise<() => Promise<void>> {
  const places = new Set([tmpdir(), IN_MEMORY]);
  for (const place of places) if (existsSync(place)) await sweep(place);
  const inMemory = mayUseMemory();
  const folder = join(inMemory ? IN_MEMORY : tmpdir(), `${PREFIX}${process.pid}`);
  if (inMemory) {
    // A Postgres that root starts runs as another user.
    mkdirSync(folder, { mode: 0o711 });
    process.env.TMPDIR = folder;
  }
  process.env[RUN_FOLDER] = join(folder, DATABASE);
  process.env[RUN_PID] = String(process.pid);
  return () => remove(folder);
}

/** Long runs measure, and hostile tenants attack, a service whose files are on a disk, as in operation. */
function mayUseMemory(): boolean {
  const isChosen = process.env.TMPDIR !== undefined || isLong || process.env.CANDLEPOOL_HOSTILE !== undefined;
  if (isChosen || process.platform !== 'linux' || process.availableMemory() < NEEDED_BYTES) return false;
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts
    .find((mount) => mount.split(' ')[1] === IN_MEMORY)
    ?.split(' ')[3]
    .split(',');
  // Tests run programs that they write.
  if (options === undefined || !options.includes('rw') || options.includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize >= NEEDED_BYTES;
}

async function sweep(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = Number(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : NaN);
    if (Number.isInteger(pid) && !isAlive(pid)) await remove(join(place, name));
  }
}

async function remove(folder: string): Promise<void> {
  const database = join(folder, DATABASE);
  if (existsSync(database)) await stopEmbedded(database);
  await rm(folder, { recursive: true, force: true });
}
