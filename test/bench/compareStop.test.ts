// bench:compare as a process: stopped by a signal or by its own limit, it ends at once and leaves nothing behind.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
  const child = spawn(process.execPath, args, { env: cleanEnvironment({ TMPDIR: folder }) });
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
    child.kill(signal);
    expect(await once(child, 'close'), printed()).toEqual([code, null]);
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
