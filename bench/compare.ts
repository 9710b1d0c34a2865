// npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--rounds N] [--limit PERCENT] [--minutes N]: this
// checkout, as it is, against a revision or another checkout's folder. Both run their own suites, alternating, each in
// its own process, until the best rounds of both are known well enough to say which tasks are slower beyond the limit.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkout, HERE } from './checkout.ts';
import { commandLine, count, positive, refuseUnknown } from './commandLine.ts';
import { add, compareSuites, type Compared, type MeasureBoth, type Verdict } from './comparison.ts';
import { describeMachine, machineLines } from './machine.ts';
import { SUITES as ALL_SUITES } from './suites.ts';
import type { Measure } from './measure.ts';

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
/** Enough for all rounds of a suite where nothing else runs. */
const MINUTES_PER_SUITE = 3;
/** README.md says the same. */
const EXIT = { alike: 0, slower: 1, failed: 2, late: 3 } as const;
/** A comparison of nothing must not pass. */
const NOTHING_MEASURED = 'No task was measured: both revisions must have the suites, and a task that contains --task.';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One suite of one checkout in a process of its own; empty when that checkout does not have it, or it was stopped. */
async function runSuite(
  root: string,
  suite: string,
  args: readonly string[],
  stopped: AbortSignal,
): Promise<readonly Measure[]> {
  const file = join(root, 'bench', `${suite}.ts`);
  if (!existsSync(file) || stopped.aborted) return [];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...ONE_THREAD, file, '--json', ...args], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
      signal: stopped,
    });
    return JSON.parse(stdout) as Measure[];
  } catch (error) {
    if (stopped.aborted) return [];
    throw new Error(`The suite ${suite} failed in ${root}:\n${(error as { stderr?: string }).stderr ?? ''}`, {
      cause: error,
    });
  }
}

const USAGE =
  'npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--rounds N] [--limit PERCENT] [--minutes N]';

function readCommandLine() {
  const { values, positionals } = commandLine(USAGE, {
    allowPositionals: true,
    options: {
      task: { type: 'string' },
      short: { type: 'boolean' },
      rounds: { type: 'string', default: '2' },
      limit: { type: 'string', default: '15' },
      minutes: { type: 'string' },
    },
  });
  const [revision, ...named] = positionals;
  if (revision === undefined) {
    console.error(`Usage: ${USAGE}`);
    process.exit(EXIT.failed);
  }
  refuseUnknown(USAGE, 'suite', named, ALL_SUITES);
  const suites: readonly string[] = named.length > 0 ? named : SUITES;
  return {
    revision,
    suites,
    args: [...(values.short ? ['--short'] : []), ...(values.task === undefined ? [] : ['--task', values.task])],
    rounds: count(USAGE, 'rounds', values.rounds),
    limit: positive(USAGE, 'limit', values.limit),
    minutes: positive(USAGE, 'minutes', values.minutes ?? String(MINUTES_PER_SUITE * suites.length)),
  };
}

async function main(): Promise<void> {
  const { revision, suites, args, rounds, limit, minutes } = readCommandLine();
  console.log(`${machineLines(describeMachine())}\n`);
  console.log(`${suites.join(', ')}: ${rounds} to ${MOST * rounds} rounds, and at most ${minutes} minutes in all.\n`);
  const interrupted = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => interrupted.abort(signal));
  const late = AbortSignal.timeout(minutes * 60_000);
  const stopped = AbortSignal.any([interrupted.signal, late]);

  using other = checkout(revision);
  const measureBoth: MeasureBoth = async (open, round, before, after) => {
    for (const suite of open) {
      if (stopped.aborted) return;
      console.error(`${suite}: round ${round + 1}`);
      const both = [
        async () => add(before, await runSuite(other.root, suite, args, stopped)),
        async () => add(after, await runSuite(HERE, suite, args, stopped)),
      ];
      for (const run of round % 2 === 0 ? both : both.toReversed()) await run();
    }
  };
  const isOver = (): boolean => stopped.aborted;
  const all = await compareSuites(suites, 1 + limit / 100, rounds, MOST * rounds, measureBoth, isOver);
  if (interrupted.signal.aborted) {
    process.exitCode = 128 + constants.signals[interrupted.signal.reason as (typeof SIGNALS)[number]];
    return;
  }
  if (all.length === 0 && !late.aborted) throw new Error(NOTHING_MEASURED);
  print(all, revision, limit);
  const unmeasured = suites.filter((suite) => !all.some(({ task }) => task.startsWith(`${suite}/`)));
  const isLate = late.aborted && (unmeasured.length > 0 || all.some(({ verdict }) => verdict === 'unsure'));
  if (isLate) console.log(`The ${minutes} minutes were over before it could tell. --minutes gives it more.`);
  for (const suite of late.aborted ? unmeasured : []) console.log(`${suite}: unsure, not measured`);
  process.exitCode = all.some(({ verdict }) => verdict === 'slower') ? EXIT.slower : isLate ? EXIT.late : EXIT.alike;
}

function print(all: readonly Compared[], revision: string, limit: number): void {
  console.log(`${'task'.padEnd(60)} ${revision.slice(0, 12).padStart(12)} ${'here'.padStart(12)}   ratio`);
  for (const { task, before, after, ratio, verdict } of all) {
    const times = [before, after].map((ns) => ns.toFixed(2).padStart(12));
    const mark = verdict === 'alike' ? '' : ` ${verdict}`;
    console.log(`${task.padEnd(60)} ${times.join(' ')} ${ratio.toFixed(3).padStart(7)}${mark}`);
  }
  const howMany = (wanted: Verdict): number => all.filter(({ verdict }) => verdict === wanted).length;
  console.log(`\n${howMany('slower')} of ${all.length} tasks are more than ${limit} % slower than at ${revision}.`);
  if (howMany('unsure') > 0)
    console.log(
      `Of ${howMany('unsure')} it is not sure: the machine was too busy, processes differ too much, or time ran out.`,
    );
}

if (import.meta.main)
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = EXIT.failed;
  });
