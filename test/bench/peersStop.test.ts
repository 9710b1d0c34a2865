// bench:peers as a process: a signal while the peers are installed ends what installs them and leaves nothing behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { commandLinesWith } from '../support/processes.ts';

/** Like venv and pip: a process below it fills TMPDIR, which no signal for the first one ends. It ends by itself. */
const INSTALLER = `#!/bin/sh
(trap '' INT TERM; for i in $(seq 1000); do : > "$TMPDIR/installing"; sleep 0.01; done) &
wait
`;

it.runIf(process.platform === 'linux')(
  'bench:peers leaves nothing of an installation that is interrupted',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
    try {
      const [temporary, bin] = ['temporary', 'bin'].map((name) => join(folder, name));
      [temporary, bin].forEach((each) => mkdirSync(each));
      writeFileSync(join(bin, 'python3'), INSTALLER, { mode: 0o755 });
      const PATH = `${bin}${delimiter}${process.env.PATH}`;
      const child = spawn(process.execPath, [join(ROOT, 'bench', 'peers', 'peers.ts')], {
        env: cleanEnvironment({ TMPDIR: temporary, PATH }),
        detached: true,
        stdio: 'ignore',
      });
      await eventually(() =>
        readdirSync(temporary, { recursive: true }).some((file) => String(file).endsWith('installing')),
      );
      // As Ctrl-C does, it reaches the whole group.
      process.kill(-child.pid!, 'SIGINT');
      expect(await once(child, 'exit')).toEqual([130, null]);
      expect(readdirSync(temporary)).toEqual([]);
      await eventually(() => commandLinesWith(bin).length === 0);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
