// npm run bench:peers [-- --bars N] [--rounds N] [--python COMMAND] [--only kernels,patterns,whole]: TA-Lib, vectorbt
// with its Rust engine and backtesting.py beside ours, on the same bars and in turn. The peers are installed from PyPI
// into a temporary environment, unless `--python` names one that has them (requirements.txt).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from '../commandLine.ts';
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

function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed.`, { cause: error });
}

console.log(`${machineLines(describeMachine())}\n`);
const folder = mkdtempSync(join(tmpdir(), 'candlepool-peers-'));
try {
  let { python } = options;
  if (python === undefined) {
    console.error('Installing the peers from PyPI into a temporary environment …');
    run('python3', '-m', 'venv', join(folder, 'environment'));
    python = join(folder, 'environment', 'bin', 'python');
    const requirements = join(import.meta.dirname, 'requirements.txt');
    run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements);
  }
  const side = [process.execPath, join(import.meta.dirname, 'side.ts')];
  const driver = join(import.meta.dirname, 'peers.py');
  run(python, driver, folder, options.bars, options.rounds, options.only, ...side);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
