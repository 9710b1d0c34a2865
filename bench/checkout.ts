// Another revision of this repository in a folder of its own, for as long as it is needed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const HERE = resolve(import.meta.dirname, '..');

export type Checkout = Disposable & { readonly root: string };

/** The folder of a revision, checked out in a temporary folder, or of another checkout, which stays as it is. */
export function checkout(revision: string): Checkout {
  if (existsSync(join(revision, 'package.json'))) return { root: resolve(revision), [Symbol.dispose]: () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-compare-'));
  const root = join(folder, 'checkout');
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: HERE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const drop = (): void => {
    rmSync(folder, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  try {
    git('worktree', 'add', '--detach', root, revision);
    symlinkSync(join(HERE, 'node_modules'), join(root, 'node_modules'));
  } catch (error) {
    drop();
    throw new Error(`${revision} is neither a checkout's folder nor a revision of this repository.`, { cause: error });
  }
  return { root, [Symbol.dispose]: drop };
}
