// The real command in a process of its own, as a shell would call it.
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../src/config.ts';
import { cleanEnvironment } from './environment.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs to the end. */
export async function runCommand(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
  const child = startCommand(args, env);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export function startCommand(
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [join(ROOT, 'src', 'main.ts'), ...args], { env: cleanEnvironment(env) });
}

/** The url of a server that was started with --json, as soon as it says that it answers. */
export async function readyUrl(server: ChildProcessWithoutNullStreams): Promise<string> {
  let faults = '';
  server.stderr.on('data', (chunk) => (faults += String(chunk)));
  for await (const line of createInterface(server.stdout)) {
    const event = JSON.parse(line) as { event: string; url: string };
    if (event.event === 'ready') return event.url;
  }
  throw new Error(`the server ended before it was ready:\n${faults}`);
}
