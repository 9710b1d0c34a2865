// npm run bench:peers [-- --bars N] [--rounds N] [--python COMMAND] [--only kernels,patterns,whole,portfolios]: TA-Lib,
// vectorbt with its Rust engine, bt and backtesting.py beside ours, on the same bars and in turn. The peers are
// installed from PyPI into a temporary environment, unless `--python` names one that has them (requirements.txt).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, count, refuse, refuseUnknown } from '../commandLine.ts';
import { exitCodeOf, interruption } from '../interruption.ts';
import { describeMachine, machineLines } from '../machine.ts';
import { measurePart, PARTS, startPeer, type MeasuredPart, type Part, type PeersOptions } from './parts.ts';
import {
  backtestingPyLine,
  goalVerdict,
  meanRatios,
  ratioLine,
  ratiosOf,
  rowLine,
  TABLE_HEAD,
  type GoalVerdict,
} from './peerTable.ts';

/** Fewer have hardly a value of the longest averages, and no trade to compare. */
const LEAST_BARS = 1_000;

const USAGE = `npm run bench:peers [-- --bars N] [--rounds N] [--python COMMAND] [--only ${PARTS.join(',')}]
TA-Lib, vectorbt, bt and backtesting.py beside ours: values and trades are compared first, then processor times.
  --bars N          bars of each run, ${LEAST_BARS} or more (1000000); below 100000, portfolios are short
  --rounds N        rounds, each in processes of its own (5)
  --python COMMAND  a Python that has the peers; without it they are installed into a temporary environment
  --only PARTS      some of kernels, patterns, whole and portfolios`;
const ADVICE = 'Give --python COMMAND, a Python that has what bench/peers/requirements.txt names.';
const MEAN = 'geometric mean of the kernels';
const MEAN_GOAL = 0.9;

function readCommandLine() {
  const { values } = commandLine(USAGE, {
    options: {
      bars: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
      python: { type: 'string' },
      only: { type: 'string', default: PARTS.join(',') },
    },
  });
  const only = values.only.split(',');
  refuseUnknown(USAGE, 'part', only, PARTS);
  const bars = count(USAGE, 'bars', values.bars);
  if (bars < LEAST_BARS) refuse(USAGE, `--bars takes ${LEAST_BARS} or more, not ${bars}.`);
  return {
    bars,
    rounds: count(USAGE, 'rounds', values.rounds),
    python: values.python,
    parts: PARTS.filter((part) => only.includes(part)),
  };
}

/** A Python with the peers. */
async function install(folder: string, signal: AbortSignal): Promise<string> {
  console.error('Installing the peers from PyPI into a temporary environment …');
  const python = join(folder, 'environment', 'bin', 'python');
  const requirements = join(import.meta.dirname, 'requirements.txt');
  // What pip unpacks goes with the folder, also when a signal ends it.
  const options = { env: { ...process.env, TMPDIR: folder }, signal };
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  await run('python3', ['-m', 'venv', join(folder, 'environment')], 'python3 cannot make an environment.', options);
  await run(python, pip, 'The peers could not be installed from PyPI.', options);
  return python;
}

async function run(
  command: string,
  args: readonly string[],
  failure: string,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<void> {
  // What it prints is about a failure. Standard output is for the table.
  // In a group of its own, which ends as a whole before the folder that it fills is removed.
  const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 2, 2] });
  const stop = (): void => void process.kill(-child.pid!, 'SIGKILL');
  signal.addEventListener('abort', stop);
  const [code] = (await once(child, 'close').catch((cause: Error) => {
    throw new Error(`${command} cannot be run (${cause.message}). ${ADVICE}`, { cause });
  })) as [number | null];
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`${failure} ${ADVICE}`);
}

/** @throws Error when the Python cannot be run or does not have the peers */
async function versionsOf(options: PeersOptions): Promise<string> {
  try {
    await using peer = await startPeer(options);
    return await peer.ask<string>('versions');
  } catch (error) {
    throw new Error(`${(error as Error).message} ${ADVICE}`, { cause: error });
  }
}

/** Prints a part; returns what misses its goal or may miss it. */
function printPart(measured: MeasuredPart, part: Part, bars: number): [name: string, verdict: GoalVerdict][] {
  const { rows, errors, backtestingPy } = measured;
  for (const row of rows) console.log(rowLine(row, bars));
  if (backtestingPy !== undefined) console.log(backtestingPyLine(backtestingPy));
  const verdicts = rows.map(({ name, rounds, goal }): [string, GoalVerdict] => [
    name,
    goalVerdict(ratiosOf(rounds), goal),
  ]);
  if (part !== 'kernels') return verdicts;
  const means = meanRatios(rows);
  console.log(ratioLine(MEAN, '', [], means, MEAN_GOAL));
  console.log('\nlargest error against long double, |a - b| / max(1, |a|, |b|), 20,000 bars: TA-Lib, ours');
  const shown = (error: number): string => error.toExponential(1).padStart(9);
  for (const { task, peer, ours } of errors) console.log(`${task.padEnd(67)} ${shown(peer)} ${shown(ours)}`);
  console.log();
  return [...verdicts, [MEAN, goalVerdict(means, MEAN_GOAL)]];
}

async function main(): Promise<void> {
  const { bars, rounds, python, parts } = readCommandLine();
  console.log(`${machineLines(describeMachine())}\n`);
  const signal = interruption();
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-peers-'));
  try {
    const options = { folder, python: python ?? (await install(folder, signal)), bars, rounds, signal };
    console.log(`${await versionsOf(options)}; ${bars} bars, processor time, the median of ${rounds} rounds\n`);
    console.log(TABLE_HEAD);
    const verdicts: [name: string, verdict: GoalVerdict][] = [];
    for (const part of parts) verdicts.push(...printPart(await measurePart(part, options), part, bars));
    const named = (wanted: GoalVerdict): string =>
      verdicts.flatMap(([name, verdict]) => (verdict === wanted ? [name] : [])).join(', ') || 'nothing';
    console.log(`\nMissed: ${named('missed')}.\nUnsure: ${named('unsure')}.`);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = exitCodeOf(signal);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
