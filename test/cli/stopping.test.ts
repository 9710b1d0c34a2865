// Stopping what the wrappers started: whichever process is told to stop, or is killed, the server and its Postgres end.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { commandLinesWith } from '../support/processes.ts';

/** One for all tests: making a database takes longer than starting it. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
});
afterEach(() => stopEmbedded(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Resolves when the server has said that it runs. */
async function start(command: string, args: readonly string[]): Promise<ChildProcess> {
  const env = cleanEnvironment({ DATA_DIR: folder, PORT: '0', WORKER_THREADS: '1', LOG_LEVEL: 'error' });
  // A group of its own, as under a shell: a signal to the child alone reaches the child alone.
  const child = spawn(command, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    return stdout.includes('http://');
  });
  return child;
}

async function untilNothingRuns(): Promise<void> {
  await eventually(() => commandLinesWith(folder).length === 0);
  expect(existsSync(join(folder, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
}

const WRAPPER = ['scripts/node24.mjs', 'src/main.ts', 'serve'];

// SIGINT and SIGTERM reach it through npm, below.
it('stops everything on SIGKILL to scripts/node24.mjs alone', async () => {
  const wrapper = await start(process.execPath, WRAPPER);
  wrapper.kill('SIGKILL');
  await once(wrapper, 'exit');
  await untilNothingRuns();
});

it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'stops everything on %s to the npm of npm start alone',
  async (signal) => {
    const npm = await start('npm', ['start']);
    npm.kill(signal);
    await once(npm, 'exit');
    await untilNothingRuns();
  },
);
