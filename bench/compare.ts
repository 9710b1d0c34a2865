// npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--rounds N] [--limit PERCENT]: this checkout, as it
// is, against a revision or another checkout's folder. Both run their own suites, alternating, each in its own process;
// a task is slower when its best round is, beyond the limit, on two tries.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandLine } from './commandLine.ts';
import { describeMachine, machineLines } from './machine.ts';
import type { Measure } from './measure.ts';

const HERE = resolve(import.meta.dirname, '..');
/** Suites of one process and one thread: what they measure depends on nothing but the code. */
const SUITES = ['indicators', 'patterns', 'conditions', 'compile', 'evaluate', 'fills', 'whole'] as const;

/** The best round of each task so far, by name. */
export type Best = Map<string, number>;
export interface Compared {
  readonly task: string;
  /** Nanoseconds per unit. */
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
}

export function keepBest(best: Best, measures: readonly Pick<Measure, 'task' | 'ns'>[]): void {
  for (const { task, ns } of measures) best.set(task, Math.min(best.get(task) ?? Infinity, ns));
}

/** The tasks that both have, the slowest beside the other first. */
export const compared = (before: Best, after: Best): Compared[] =>
  [...after]
    .filter(([task]) => before.has(task))
    .map(([task, ns]) => ({ task, before: before.get(task)!, after: ns, ratio: ns / before.get(task)! }))
    .toSorted((a, b) => b.ratio - a.ratio);

/** Measures some suites of both checkouts in turn, so many rounds; a task's name begins with its suite's. */
export type MeasureBoth = (suites: readonly string[], rounds: number, before: Best, after: Best) => void;

/**
 * Two tries. Noise only ever adds time, so the best of many rounds is close to the truth. What seems slower is measured
 * again, for twice as many rounds: it is slower when the second try says so by itself, and the best rounds of both
 * tries say so too.
 *
 * @param limit how much slower is too slow: 1.15 is 15 %
 */
export function slowerTasks(
  suites: readonly string[],
  limit: number,
  rounds: number,
  measureBoth: MeasureBoth,
): { readonly all: readonly Compared[]; readonly slower: readonly Compared[] } {
  const [before, after] = [new Map<string, number>(), new Map<string, number>()];
  measureBoth(suites, rounds, before, after);
  const isSlower = ({ ratio }: Compared): boolean => ratio > limit;
  const suspects = compared(before, after).filter(isSlower);
  if (suspects.length === 0) return { all: compared(before, after), slower: [] };
  const [beforeAgain, afterAgain] = [new Map<string, number>(), new Map<string, number>()];
  const again = suites.filter((suite) => suspects.some(({ task }) => task.startsWith(`${suite}/`)));
  measureBoth(again, 2 * rounds, beforeAgain, afterAgain);
  const secondTry = new Set(
    compared(beforeAgain, afterAgain)
      .filter(isSlower)
      .map(({ task }) => task),
  );
  keepBest(
    before,
    [...beforeAgain].map(([task, ns]) => ({ task, ns })),
  );
  keepBest(
    after,
    [...afterAgain].map(([task, ns]) => ({ task, ns })),
  );
  const all = compared(before, after);
  return { all, slower: all.filter((one) => isSlower(one) && secondTry.has(one.task)) };
}

/** One suite of one checkout in a process of its own; empty when that checkout does not have it. */
function runSuite(root: string, suite: string, args: readonly string[]): Measure[] {
  const file = join(root, 'bench', `${suite}.ts`);
  if (!existsSync(file)) return [];
  const child = spawnSync(process.execPath, [file, '--json', ...args], {
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
      rounds: { type: 'string', default: '4' },
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
  const { all, slower } = slowerTasks(
    named.length > 0 ? named : SUITES,
    limit,
    Number(options.rounds),
    (suites, rounds, before, after) => {
      for (const suite of suites) {
        for (let round = 0; round < rounds; round++) {
          console.error(`${suite}: round ${round + 1} of ${rounds}`);
          const both = [
            () => keepBest(before, runSuite(other.root, suite, args)),
            () => keepBest(after, runSuite(HERE, suite, args)),
          ];
          for (const run of round % 2 === 0 ? both : both.toReversed()) run();
        }
      }
    },
  );
  console.log(`${'task'.padEnd(60)} ${revision.slice(0, 12).padStart(12)} ${'here'.padStart(12)}   ratio`);
  for (const one of all) {
    const mark = slower.includes(one) ? ' slower' : '';
    const [before, after] = [one.before, one.after].map((ns) => ns.toFixed(2).padStart(12));
    console.log(`${one.task.padEnd(60)} ${before} ${after} ${one.ratio.toFixed(3).padStart(7)}${mark}`);
  }
  console.log(
    slower.length === 0
      ? `\nNone of ${all.length} tasks is more than ${options.limit} % slower than at ${revision}.`
      : `\n${slower.length} of ${all.length} tasks are more than ${options.limit} % slower than at ` +
          `${revision}, on two tries.`,
  );
  process.exitCode = slower.length === 0 ? 0 : 1;
}

if (import.meta.main) main();
