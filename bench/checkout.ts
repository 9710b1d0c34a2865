// Another revision of this repository in a folder of its own, for as long as it is needed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

export const HERE = resolve(import.meta.dirname, '..');

export type Checkout = AsyncDisposable & { readonly root: string };

/**
 * The folder of a revision, checked out in a temporary folder, or of another checkout, which stays as it is.
 *
 * @param signal ends it
 * @throws Error when it is neither, when it cannot be checked out or run, or when `signal` is aborted
 */
export async function checkout(revision: string, signal: AbortSignal): Promise<Checkout> {
  if (existsSync(join(revision, 'package.json'))) return otherCheckout(resolve(revision));
  await git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], signal).catch((cause: Error) => {
    signal.throwIfAborted();
    throw new Error(
      `${revision} is neither a checkout's folder nor a revision of this repository (${cause.message}). Give one ` +
        'that "git log" shows; where older ones are missing, "git fetch --unshallow" brings them.',
      { cause },
    );
  });
  await using stack = new AsyncDisposableStack();
  // In reverse order: git forgets a checkout that is gone.
  stack.defer(() => git(['worktree', 'prune']));
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-compare-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const root = join(folder, 'checkout');
  console.error(`Checking out ${revision} …`);
  await git(['worktree', 'add', '--detach', root, revision], signal);
  symlinkSync(join(HERE, 'node_modules'), join(root, 'node_modules'));
  const made = stack.move();
  return { root, [Symbol.asyncDispose]: () => made.disposeAsync() };
}

/** @throws Error when its packages are not installed */
function otherCheckout(root: string): Checkout {
  try {
    createRequire(join(root, 'package.json')).resolve('tinybench');
  } catch (cause) {
    throw new Error(`${root} has no packages. Run "npm ci" there first.`, { cause });
  }
  return { root, [Symbol.asyncDispose]: async () => {} };
}

/**
 * Runs git until it ends or `signal` ends it. It is detached from the terminal, whose Ctrl-C would reach it too and
 * look like a failure of its own.
 */
async function git(args: readonly string[], signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const child = spawn('git', args, { cwd: HERE, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  const stop = (): void => void child.kill();
  signal?.addEventListener('abort', stop);
  const [[code], printed] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (code !== 0) throw new Error(`git ${args[0]} failed: ${printed.trim()}`);
}
