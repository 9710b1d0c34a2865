// npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--rounds N] [--limit PERCENT]: this checkout, as it
// is, against a revision or another checkout's folder. Both run their own suites, alternating, each in its own process,
// until the best rounds of both are known well enough to say which tasks are slower beyond the limit.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandLine } from './commandLine.ts';
import { describeMachine, machineLines } from './machine.ts';
import type { Measure } from './measure.ts';
import { hasCore } from './pace.ts';

const HERE = resolve(import.meta.dirname, '..');
/** Suites of one process and one thread: what they measure depends on nothing but the code. */
const SUITES = ['indicators', 'patterns', 'conditions', 'compile', 'evaluate', 'fills', 'whole'] as const;
/**
 * V8 compiles and collects garbage where it is asked to, and WebAssembly at once as well as it can. On threads of its
 * own it would do so later the busier the machine is, and beside the task, which is slower meanwhile where two
 * processors share a core.
 */
const ONE_THREAD = ['--single-threaded', '--no-liftoff'];
/** A suite whose tasks do not pass gets so many times the rounds. */
const MOST = 6;

/** What the processes of one checkout have measured, by task. */
export type Processes = Map<string, Measured[]>;
export type Measured = Pick<Measure, 'task' | 'ns' | 'alone'>;
/** `unsure`: the machine was never quiet enough to tell, or processes differ too much. */
export type Verdict = 'alike' | 'slower' | 'unsure';
export interface Compared {
  readonly task: string;
  /** Nanoseconds per unit. */
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
  readonly verdict: Verdict;
}

/** One process of each checkout for each of the suites; a task's name begins with its suite's. */
export type MeasureBoth = (suites: readonly string[], round: number, before: Processes, after: Processes) => void;

/** Two processes whose best rounds are so close agree. */
const CLOSE = 1.05;
/** Of the rounds of a process, so many must have had the core for themselves. */
const ENOUGH_ROUNDS = 5;

/**
 * Noise only ever adds time, so the best rounds are compared, the best that two processes of a revision agree on, in
 * relation to the pace of the processor, of which the clock is part. A task passes as soon as it is within the limit.
 * Until then its suite is measured again and again: the task is slower when it still is beyond the limit after the last
 * round.
 *
 * @param limit how much slower is too slow: 1.15 is 15 %
 * @param least how many rounds every suite gets
 * @param most how many rounds a suite gets whose tasks do not pass
 */
export function compareSuites(
  suites: readonly string[],
  limit: number,
  least: number,
  most: number,
  measureBoth: MeasureBoth,
): Compared[] {
  const [before, after] = [new Map<string, Measured[]>(), new Map<string, Measured[]>()];
  let all: Compared[] = [];
  let open = suites;
  for (let round = 0; round < most && open.length > 0; round++) {
    measureBoth(open, round, before, after);
    all = comparedBy(limit, before, after);
    if (round + 1 < least) continue;
    open = open.filter((suite) => all.some(({ task, verdict }) => verdict !== 'alike' && task.startsWith(`${suite}/`)));
  }
  return all;
}

/** The tasks that both have, the slowest beside the other first. */
function comparedBy(limit: number, before: Processes, after: Processes): Compared[] {
  const floor = Math.min(...[...before.values(), ...after.values()].flat().map(({ alone }) => alone?.pace ?? Infinity));
  return [...after]
    .filter(([task]) => before.has(task))
    .map(([task, later]) => {
      const both = [before.get(task)!, later];
      const [was, is] = both.flat().every(isPaced)
        ? both.map((each) => atPace(each, floor))
        : both.map((each) => knownOf(each.map(({ ns }) => ns)));
      const ratio = is.best / was.best;
      const isSure = was.isConfirmed && is.isConfirmed;
      const verdict: Verdict = !isSure ? 'unsure' : ratio > limit ? 'slower' : 'alike';
      return { task, before: was.best, after: is.best, ratio, verdict };
    })
    .toSorted((a, b) => b.ratio - a.ratio);
}

type Paced = Measured & Required<Pick<Measured, 'alone'>>;
/** Revisions from before bench/pace.ts do not know their pace. */
const isPaced = (one: Measured): one is Paced => one.alone !== undefined;

/** Of the processes that had a core for themselves, as it would be at the fastest clock of all. */
function atPace(processes: readonly Measured[], floor: number): Known {
  const paced = processes.filter(isPaced);
  const quiet = paced.filter(({ alone }) => alone.rounds >= ENOUGH_ROUNDS && hasCore(alone.pace, floor));
  const timesOf = (some: readonly Paced[]): number[] => some.map(({ ns, alone }) => (ns * floor) / alone.pace);
  return quiet.length > 0 ? knownOf(timesOf(quiet)) : { best: Math.min(...timesOf(paced)), isConfirmed: false };
}

interface Known {
  readonly best: number;
  /** Whether a second process comes close to it. */
  readonly isConfirmed: boolean;
}

/** The best that two processes agree on; the best of all when no two do. */
function knownOf(times: readonly number[]): Known {
  const sorted = times.toSorted((a, b) => a - b);
  const agreed = sorted.find((time, index) => sorted[index + 1] <= CLOSE * time);
  return { best: agreed ?? sorted[0], isConfirmed: agreed !== undefined };
}

export function add(processes: Processes, measures: readonly Measured[]): void {
  for (const one of measures) processes.set(one.task, [...(processes.get(one.task) ?? []), one]);
}

/** One suite of one checkout in a process of its own; empty when that checkout does not have it. */
function runSuite(root: string, suite: string, args: readonly string[]): Measure[] {
  const file = join(root, 'bench', `${suite}.ts`);
  if (!existsSync(file)) return [];
  const child = spawnSync(process.execPath, [...ONE_THREAD, file, '--json', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (child.status !== 0) throw new Error(`The suite ${suite} failed in ${root}:\n${child.stderr}`);
  return JSON.parse(child.stdout) as Measure[];
}

/** The folder of a revision, checked out beside this one, or of another checkout. */
function checkout(revision: string): { readonly root: string; [Symbol.dispose](): void } {
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

const USAGE = 'npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--rounds N] [--limit PERCENT]';

function main(): void {
  const { values: options, positionals } = commandLine(USAGE, {
    allowPositionals: true,
    options: {
      task: { type: 'string' },
      short: { type: 'boolean' },
      rounds: { type: 'string', default: '2' },
      limit: { type: 'string', default: '15' },
    },
  });
  const [revision, ...named] = positionals;
  if (revision === undefined) {
    console.error(`Usage: ${USAGE}`);
    process.exit(2);
  }
  console.log(`${machineLines(describeMachine())}\n`);
  using other = checkout(revision);
  const limit = 1 + Number(options.limit) / 100;
  const args = [...(options.short ? ['--short'] : []), ...(options.task === undefined ? [] : ['--task', options.task])];
  const least = Number(options.rounds);
  const all = compareSuites(
    named.length > 0 ? named : SUITES,
    limit,
    least,
    MOST * least,
    (suites, round, before, after) => {
      for (const suite of suites) {
        console.error(`${suite}: round ${round + 1}`);
        const both = [
          () => add(before, runSuite(other.root, suite, args)),
          () => add(after, runSuite(HERE, suite, args)),
        ];
        for (const run of round % 2 === 0 ? both : both.toReversed()) run();
      }
    },
  );
  console.log(`${'task'.padEnd(60)} ${revision.slice(0, 12).padStart(12)} ${'here'.padStart(12)}   ratio`);
  for (const { task, before, after, ratio, verdict } of all) {
    const times = [before, after].map((ns) => ns.toFixed(2).padStart(12));
    const mark = verdict === 'alike' ? '' : ` ${verdict}`;
    console.log(`${task.padEnd(60)} ${times.join(' ')} ${ratio.toFixed(3).padStart(7)}${mark}`);
  }
  const [slower, unsure] = (['slower', 'unsure'] as const).map((verdict) =>
    all.filter((one) => one.verdict === verdict),
  );
  console.log(`\n${slower.length} of ${all.length} tasks are more than ${options.limit} % slower than at ${revision}.`);
  if (unsure.length > 0)
    console.log(`Of ${unsure.length} it is not sure: the machine was too busy, or processes differ too much.`);
  process.exitCode = slower.length === 0 ? 0 : 1;
}

if (import.meta.main) main();
