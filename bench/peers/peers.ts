// npm run bench:peers [-- --bars N] [--rounds N] [--python COMMAND] [--only kernels,patterns,whole]: TA-Lib, vectorbt
// with its Rust engine and backtesting.py beside ours, on the same bars and in turn. The peers are installed from PyPI
// into a temporary environment, unless `--python` names one that has them (requirements.txt).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, count, refuseUnknown } from '../commandLine.ts';
import { describeMachine, machineLines } from '../machine.ts';

const USAGE = 'npm run bench:peers [-- --bars N] [--rounds N] [--python COMMAND] [--only kernels,patterns,whole]';
const { values: options } = commandLine(USAGE, {
  options: {
    bars: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '7' },
    python: { type: 'string' },
    only: { type: 'string', default: 'kernels,patterns,whole' },
  },
});

refuseUnknown(USAGE, 'part', options.only.split(','), ['kernels', 'patterns', 'whole']);
for (const name of ['bars', 'rounds'] as const) count(USAGE, name, options[name]);

const ADVICE = 'Give --python COMMAND, a Python that has what bench/peers/requirements.txt names.';

/** False after a message when the command cannot be run or fails. */
function runs(command: string, args: readonly string[], failure: string): boolean {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error !== undefined) console.error(`${command} cannot be run (${error.message}). ${ADVICE}`);
  else if (status !== 0) console.error(failure);
  return status === 0;
}

/** A Python with the peers; undefined after a message. */
function install(folder: string): string | undefined {
  console.error('Installing the peers from PyPI into a temporary environment …');
  const python = join(folder, 'environment', 'bin', 'python');
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  const isInstalled =
    runs('python3', ['-m', 'venv', join(folder, 'environment')], `python3 cannot make an environment. ${ADVICE}`) &&
    runs(python, pip, `The peers could not be installed from PyPI. ${ADVICE}`);
  return isInstalled ? python : undefined;
}

console.log(`${machineLines(describeMachine())}\n`);
const folder = mkdtempSync(join(tmpdir(), 'candlepool-peers-'));
try {
  const python = options.python ?? install(folder);
  const side = [process.execPath, join(import.meta.dirname, 'side.ts')];
  const driver = join(import.meta.dirname, 'peers.py');
  const args = [driver, folder, options.bars, options.rounds, options.only, ...side];
  const isDone = python !== undefined && runs(python, args, 'The comparison failed; what failed is above.');
  process.exitCode = isDone ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
