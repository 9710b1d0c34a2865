// npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--limit PERCENT] [--minutes N]: this checkout, as it
// is, against a revision or another checkout's folder. Each runs its own suites in its own process, a few milliseconds
// of one and then of the other, in round after round until it is known which tasks are slower beyond the limit.
import { measureBoth } from './bothSides.ts';
import { checkout, HERE } from './checkout.ts';
import { commandLine, containing, positive, refuse, refuseUnknown } from './commandLine.ts';
import { compareSuites, type Compared, type MeasureSuite, type Verdict } from './comparison.ts';
import { creepOf, readReferenceCosts, storeReferenceCosts } from './creep.ts';
import { exitCodeOf, interruption } from './interruption.ts';
import { describeMachine, machineLines } from './machine.ts';
import { NAME_WIDTH, unitsOf } from './measure.ts';
import { PROCESS_SUITES, suitesWith } from './suites.ts';

/** Suites of one thread: what they measure depends on nothing but the code. */
const SUITES = ['indicators', 'patterns', 'conditions', 'compile', 'evaluate', 'fills', 'whole'] as const;
/** Enough for a suite where nothing else runs. */
const MINUTES_PER_SUITE = 3;
/** README.md says the same. */
const EXIT = { alike: 0, slower: 1, failed: 2, late: 3 } as const;
/** A comparison of nothing must not pass. */
const NOTHING_MEASURED = 'No task was measured: the other revision has none of them.';

const USAGE = `npm run bench:compare -- REV [SUITE…] [--task TEXT] [--short] [--limit PERCENT] [--minutes N]
This checkout, as it is, against a revision: exits with 1 when a task is slower, with 3 when time ran out before that.
  REV              a revision, or the folder of another checkout
  SUITE            ${SUITES.join(', ')} without one;
                   ${PROCESS_SUITES.filter((name) => !SUITES.some((usual) => usual === name)).join(', ')} too
  --task TEXT      only the tasks whose names, as npm run bench prints them, contain TEXT
  --short          small sizes
  --limit PERCENT  how much slower is too slow (15)
  --minutes N      at most so many minutes (${MINUTES_PER_SUITE} per suite)
  --store          store the costs of this checkout beside the fixed kernel in bench/referenceCosts.json`;

async function readCommandLine() {
  const { values, positionals } = commandLine(USAGE, {
    allowPositionals: true,
    options: {
      task: { type: 'string', default: '' },
      short: { type: 'boolean' },
      limit: { type: 'string', default: '15' },
      minutes: { type: 'string' },
      store: { type: 'boolean', default: false },
    },
  });
  const [revision, ...named] = positionals;
  // An empty one is a variable that was not set; as a path it would name this checkout.
  if (!revision) return refuse(USAGE, 'Say which revision to compare with.');
  refuseUnknown(USAGE, 'comparable suite', named, PROCESS_SUITES);
  // Each once, however often it was named.
  const suites = await suitesWith(USAGE, values.task, named.length > 0 ? [...new Set(named)] : SUITES);
  return {
    revision,
    suites,
    task: values.task,
    stores: values.store,
    args: values.short ? ['--short'] : [],
    limit: positive(USAGE, 'limit', values.limit),
    minutes: positive(USAGE, 'minutes', values.minutes ?? String(MINUTES_PER_SUITE * suites.length)),
  };
}

async function main(): Promise<void> {
  const options = await readCommandLine();
  console.log(`${machineLines(describeMachine())}\n`);
  console.log(`${options.suites.join(', ')}: at most ${options.minutes} minutes in all.\n`);
  const interrupted = interruption();
  try {
    await compare(options, interrupted);
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
  if (interrupted.aborted) process.exitCode = exitCodeOf(interrupted);
}

/** @throws Error when it cannot be done, or when `interrupted` */
async function compare(options: Awaited<ReturnType<typeof readCommandLine>>, interrupted: AbortSignal): Promise<void> {
  const { revision, suites, task, stores, args, limit, minutes } = options;
  await using other = await checkout(revision, interrupted);
  const late = AbortSignal.timeout(minutes * 60_000);
  const stopped = AbortSignal.any([interrupted, late]);
  const roots = { before: other.root, after: HERE };
  const isNamed = containing(task);
  const measureSuite: MeasureSuite = async function* (suite, isWanted) {
    for await (const round of measureBoth(suite, roots, args, (name) => isNamed(name) && isWanted(name), stopped)) {
      console.error(`${round.task}: ${round.ratio.toFixed(2)}`);
      yield round;
    }
  };
  const all = await compareSuites(suites, 1 + limit / 100, measureSuite, () => stopped.aborted);
  interrupted.throwIfAborted();
  if (all.length === 0 && !late.aborted) throw new Error(NOTHING_MEASURED);
  print(all, revision, limit);
  if (stores) storeReferenceCosts(machineLines(describeMachine()).split('\n', 1)[0], all);
  else printCreep(all);
  const unmeasured = suites.filter((suite) => !all.some((one) => one.task.startsWith(`${suite}/`)));
  const isLate = late.aborted && (unmeasured.length > 0 || all.some(({ verdict }) => verdict === 'unsure'));
  if (isLate) console.log(`The ${minutes} minutes were over before it could tell. --minutes gives it more.`);
  for (const suite of late.aborted ? unmeasured : []) console.log(`${suite}: unsure, not measured`);
  process.exitCode = all.some(({ verdict }) => verdict === 'slower') ? EXIT.slower : isLate ? EXIT.late : EXIT.alike;
}

function print(all: readonly Compared[], revision: string, limit: number): void {
  const head = [revision.slice(0, 12), 'here', 'ratio'].map((name, at) => name.padStart(at < 2 ? 12 : 7));
  console.log(`${'ns per bar, call or run'.padEnd(NAME_WIDTH)} ${head.join(' ')}   of each round`);
  for (const { task, before, after, ratio, ratios, verdict } of all) {
    const times = [before, after].map((us) => ((us * 1_000) / unitsOf(task)).toFixed(2).padStart(12));
    const rounds = ratios.map((one) => one.toFixed(2)).join(' ');
    const mark = verdict === 'alike' ? '' : `  ${verdict}`;
    console.log(`${task.padEnd(NAME_WIDTH)} ${times.join(' ')} ${ratio.toFixed(3).padStart(7)}   ${rounds}${mark}`);
  }
  const howMany = (wanted: Verdict): number => all.filter(({ verdict }) => verdict === wanted).length;
  console.log(`\n${howMany('slower')} of ${all.length} tasks are more than ${limit} % slower than at ${revision}.`);
  if (howMany('unsure') > 0) console.log(`Of ${howMany('unsure')} it is not sure.`);
}

/** It does not fail a comparison: on a processor of another kind the loops of a suite can differ by a fifth. */
function printCreep(all: readonly Compared[]): void {
  const reference = readReferenceCosts();
  console.log(`\nBeside the fixed kernel, as stored (${reference.machine}):`);
  for (const { suite, tasks, ratio, isNotable } of creepOf(all, reference))
    console.log(`  ${suite}: ${ratio.toFixed(2)} of the stored costs of ${tasks} tasks${isNotable ? '  CREEP' : ''}`);
}

if (import.meta.main)
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = EXIT.failed;
  });
