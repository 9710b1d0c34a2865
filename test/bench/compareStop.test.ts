// bench:compare as a process: stopped by a signal or by its own limit, it ends at once and leaves nothing behind.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { commandLinesWith } from '../support/processes.ts';

/** The temporary folder of the comparison. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function compare(...options: readonly string[]): { child: ChildProcessWithoutNullStreams; printed: () => string } {
  const args = [join(ROOT, 'bench', 'compare.ts'), 'HEAD', 'whole', '--short', ...options];
  // In a group of its own, which a signal reaches as a whole, as Ctrl-C does.
  const child = spawn(process.execPath, args, { env: cleanEnvironment({ TMPDIR: folder }), detached: true });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  return { child, printed: () => text };
}

function expectNothingLeft(): void {
  expect(readdirSync(folder)).toEqual([]);
  expect(commandLinesWith(folder)).toEqual([]);
}

// An unpacked archive has no revisions.
describe.runIf(existsSync(join(ROOT, '.git')))('bench:compare', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('removes its checkout on %s and ends with %i', async (signal, code) => {
    const { child, printed } = compare();
    // A suite of the checkout runs.
    await eventually(() =>
      commandLinesWith(join(folder, 'candlepool-compare-')).some((line) => line.includes('whole')),
    );
    process.kill(-child.pid!, signal);
    expect(await once(child, 'close'), printed()).toEqual([code, null]);
    expectNothingLeft();
  });

  it('ends quietly when it is interrupted while git checks out the revision', async () => {
    const { child, printed } = compare();
    await eventually(() => globSync('*/checkout/*', { cwd: folder }).length > 0);
    process.kill(-child.pid!, 'SIGINT');
    expect(await once(child, 'close'), printed()).toEqual([130, null]);
    expect(printed()).not.toContain('revision of this repository');
    expectNothingLeft();
  });

  it('says when it ends at the latest, and then ends with 3 and without a verdict', async () => {
    const { child, printed } = compare('--minutes', '0.01');
    expect(await once(child, 'close'), printed()).toEqual([3, null]);
    expect(printed()).toContain('at most 0.01 minutes in all');
    expect(printed()).toContain('whole: unsure, not measured');
    expectNothingLeft();
  });
});
