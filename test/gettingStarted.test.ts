// docs/getting-started.md as a reader follows it: every command block is run, and prints what the page says.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import { cleanEnvironment } from './support/environment.ts';
import { answersOk, eventually } from './support/eventually.ts';
import { freePort } from './support/freePort.ts';
import { printedPattern, runShell, shellBlocks } from './support/shellBlocks.ts';

const [start, ...rest] = shellBlocks(readFileSync(join(ROOT, 'docs', 'getting-started.md'), 'utf8'));
/** The page has the default port, which may be taken where tests run. */
const DEFAULT = 'http://127.0.0.1:8080';

/** How long the first start may take on a busy machine: initdb, migrations, import of the shipped series. */
const START_MS = 180_000;

let folder: string;
let address: string;
let env: Record<string, string>;
let server: ChildProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candlepool-start-'));
  // The reader stands in the repository; what the commands write belongs elsewhere.
  await Promise.all(['bin', 'docs'].map((name) => symlink(join(ROOT, name), join(folder, name))));
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  env = { PORT: String(port), DATA_DIR: join(folder, 'data'), WORKER_THREADS: '1' };
  expect(start.commands).toBe('npm ci\nnpm start\n');
  server = spawn('npm', ['start'], { cwd: ROOT, env: cleanEnvironment(env), stdio: 'ignore', detached: true });
  await eventually(() => answersOk(`${address}/healthz`));
}, START_MS);
afterAll(async () => {
  const ended = once(server, 'exit');
  // Ctrl-C reaches every process of the terminal's group.
  process.kill(-server.pid!, 'SIGINT');
  await ended;
  await rm(folder, { recursive: true, force: true });
});

it('prints what docs/getting-started.md says, from a key to the artifacts', { timeout: 300_000 }, async () => {
  expect(rest.filter(({ commands }) => commands.includes(DEFAULT))).toHaveLength(1);
  const blocks = rest.map((block) => ({ ...block, commands: block.commands.replace(DEFAULT, address) }));
  const printed = await runShell(blocks, { cwd: folder, env });
  expect(printed).toHaveLength(blocks.length);
  let compared = 0;
  for (const [index, block] of blocks.entries()) {
    if (block.printed === null) continue;
    expect(printed[index], block.commands).toMatch(printedPattern(block.printed));
    compared++;
  }
  expect(compared).toBeGreaterThan(5);
  const [bytes] = printed.filter((_, index) => blocks[index].commands.includes('maxBytes=4000'));
  expect(Number(bytes)).toBeLessThanOrEqual(4_000);
});
