// bench/memory.ts as a process: a signal ends the run that it measures as well.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { commandLinesWith } from '../support/processes.ts';

it.runIf(process.platform === 'linux').each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('ends the run that bench/memory.ts measures on %s, and then with %i', async (signal, code) => {
  // No other test runs so many bars.
  const bars = signal === 'SIGINT' ? '5000001' : '5000002';
  const args = [join(ROOT, 'bench', 'memory.ts'), '--bars', bars];
  const child = spawn(process.execPath, args, { env: cleanEnvironment(), stdio: 'ignore' });
  const runs = (): string[] => commandLinesWith(bars).filter((line) => line.includes('--run'));
  await eventually(() => runs().length === 1);
  // It alone gets the signal, as from a supervisor.
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([code, null]);
  await eventually(() => runs().length === 0);
});
