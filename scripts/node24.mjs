#!/usr/bin/env node
// Runs a script under Node 24: this Node if it is new enough, else the one bundled in node_modules.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode, startFault } from './findNode.mjs';

/** Frequent enough that a server ends within a second of the npm that started it. */
const PARENT_POLL_MS = 500;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installed = (path) => {
  const full = join(root, 'node_modules', path);
  return existsSync(full) ? full : null;
};
if (installed('') === null) {
  console.error(`The packages of Candlepool are not installed: run "npm ci" in ${root}.`);
  process.exit(2);
}
const { node, fault } = findNode(process, installed);
if (fault !== undefined) {
  console.error(fault);
  process.exit(2);
}
const child = spawn(node, process.argv.slice(2), {
  // Through the channel, the child notices the end of this process, even if it was killed.
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  env: {
    // Compiled code is kept for the next start, which then takes a third of the time: reading TypeScript and packages
    // is most of what a process does until it works. Those who can write to this folder can write the code itself.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'candlepool'),
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
  },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(startFault(node, error, process));
  process.exit(2);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

// npm forwards signals, but not its own death by SIGKILL. A process that a shell started may outlive the shell on
// purpose (nohup).
const parent = process.ppid;
if (process.env.npm_lifecycle_script?.includes('node24.mjs')) {
  const poll = setInterval(() => {
    if (process.ppid === parent) return;
    // Once: a second signal means "immediately", and would leave the database running.
    clearInterval(poll);
    child.kill('SIGTERM');
  }, PARENT_POLL_MS).unref();
}
