// The real command: in a process of its own, as a shell would call it, or inside this one.
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
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

let lastCall: Promise<unknown> = Promise.resolve();

/**
 * Runs to the end inside this process, which takes a tenth of the time of a process of its own: for what a command
 * answers. One call after the other, since they share environment and streams.
 */
export function callCommand(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
  const call = lastCall.then(() => callAlone(args, env));
  lastCall = call.catch(() => {});
  return call;
}

async function callAlone(args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
  const before = { env: { ...process.env }, exitCode: process.exitCode };
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  setEnvironment(cleanEnvironment(env));
  process.exitCode = undefined;
  try {
    await runProgram(args);
    return { code: exitCode(), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = before.exitCode;
    setEnvironment(before.env);
    for (const stream of [stdout, stderr]) stream.restore();
  }
}

const exitCode = (): number => Number(process.exitCode ?? 0);

/** In place: what is not JavaScript reads the variables of the process itself. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
}

/** Keeps what is written to a stream from here on, instead of writing it. */
function capture(stream: NodeJS.WriteStream): { text(): string; restore(): void } {
  const chunks: Buffer[] = [];
  const spy = vi.spyOn(stream, 'write').mockImplementation((chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    const written = rest.at(-1);
    if (typeof written === 'function') process.nextTick(written);
    return true;
  });
  return { text: () => Buffer.concat(chunks).toString(), restore: () => spy.mockRestore() };
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
