// A checkout of its own for a test: what a reader of the documents stands in, with a .candlepool that no other test
// has.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../src/config.ts';

const COPIED = ['bin', 'data', 'docs', 'migrations', 'scripts', 'src', 'package.json'];

/** @param isInstalled whether a package or a scope of node_modules is there; default: all are */
export function makeCheckout(folder: string, isInstalled: (name: string) => boolean = () => true): void {
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.startsWith('.') && isInstalled(name)) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
}
