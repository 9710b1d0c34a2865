// Warming up: how fast a fresh thread is in its first runs, in relation to one that has run thousands. Both get the
// same batches in turn, each in a process of its own, so that the machine is the same for both, however busy. Linux
// only.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import nodeFlags from '../src/cli/nodeFlags.json' with { type: 'json' };
import { commandLine, containing, count, refuse, refuseMore, refuseOtherSystems } from './commandLine.ts';
import { exitCodeOf, interruption } from './interruption.ts';
import { describeMachine, machineLines } from './machine.ts';
import { SMALL_RUNS, type SmallBatch } from './smallRuns.ts';
import type { BatchTime } from './warmUpThread.ts';

const USAGE = `node scripts/node24.mjs bench/warmUp.ts [KIND] [--tries N] [--runs N] [--hot N] [--cold]
How fast a fresh thread is in each hundred of its first runs, in relation to a hot one.
  KIND       a part of one of: ${Object.keys(SMALL_RUNS).join('; ')}
  --tries N  fresh threads (5)
  --runs N   runs of each (500)
  --hot N    runs of the hot thread before it is measured (6000)
  --cold     without the warm-up that a worker's threads get`;
const { values: options, positionals } = commandLine(USAGE, {
  allowPositionals: true,
  options: {
    tries: { type: 'string', default: '5' },
    runs: { type: 'string', default: '500' },
    hot: { type: 'string', default: '6000' },
    cold: { type: 'boolean', default: false },
  },
});
/** Runs of one message: what sending it takes is little beside them. A worker sends up to 100. */
const BATCH = 50;
/** Runs of one line of the table. */
const GROUP = 100;
/** The hot thread has met other bars and owners before, each for so many runs. */
const HOT_SERIES_RUNS = 1_000;
/** What a worker is to reach, and in which group: runs 101 to 200. */
const GOAL = 0.9;
const GOAL_GROUP = 1;

const children = new Set<ChildProcess>();

/** A process with one thread; it is stopped while the other one works, so that nothing is compiled meanwhile. */
class Thread implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
    children.add(child);
  }

  static async start(kind: string, ...args: string[]): Promise<Thread> {
    const execArgv = nodeFlags.worker;
    const thread = new Thread(fork(join(import.meta.dirname, 'warmUpThread.ts'), [kind, ...args], { execArgv }));
    await thread.#answer();
    return thread;
  }

  async #answer(): Promise<unknown> {
    const ended = new AbortController();
    const end = once(this.#child, 'exit', ended).then(([code]) => {
      throw new Error(`The process that is measured ended with ${String(code)}.`);
    });
    const [answer] = await Promise.race([once(this.#child, 'message', ended), end]).finally(() => ended.abort());
    this.#child.kill('SIGSTOP');
    return answer;
  }

  run(request: SmallBatch): Promise<BatchTime> {
    this.#child.kill('SIGCONT');
    this.#child.send(request);
    return this.#answer() as Promise<BatchTime>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    children.delete(this.#child);
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

/** Of one group of one try: the speed of the fresh thread in relation to the hot one. */
interface Speed {
  readonly thread: number;
  readonly process: number;
}

async function speedsOf(hot: Thread, fresh: Thread, series: number, groups: number): Promise<Speed[]> {
  const speeds: Speed[] = [];
  for (let group = 0; group < groups; group++) {
    const pairs: { hot: BatchTime; fresh: BatchTime }[] = [];
    for (let first = group * GROUP; first < (group + 1) * GROUP; first += BATCH) {
      const request = { series, first, runs: BATCH };
      const isFreshFirst = pairs.length % 2 === 0;
      const before = await (isFreshFirst ? fresh : hot).run(request);
      const after = await (isFreshFirst ? hot : fresh).run(request);
      pairs.push(isFreshFirst ? { fresh: before, hot: after } : { fresh: after, hot: before });
    }
    const sum = (times: readonly BatchTime[]): number => times.reduce((all, time) => all + time.process, 0);
    speeds.push({
      thread: median(pairs.map((pair) => pair.hot.thread / pair.fresh.thread)),
      // What V8's threads do comes in lumps.
      process: sum(pairs.map((pair) => pair.hot)) / sum(pairs.map((pair) => pair.fresh)),
    });
  }
  return speeds;
}

const median = (values: readonly number[]): number => sorted(values)[Math.floor(values.length / 2)];
const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const percent = (value: number): string => (100 * value).toFixed(0).padStart(3);
/** The median, the least and the greatest of all tries. */
const shown = (values: readonly number[]): string =>
  `${percent(median(values))} % (${percent(Math.min(...values))} to ${percent(Math.max(...values))})`;

async function measure(kind: string, tries: number, groups: number, hotRuns: number): Promise<void> {
  console.error(`${kind}: ${hotRuns} runs of the hot thread …`);
  await using hot = await Thread.start(kind);
  for (let first = 0; first < hotRuns; first += GROUP)
    await hot.run({ series: tries + 1 + Math.floor(first / HOT_SERIES_RUNS), first, runs: GROUP });
  const speeds: Speed[][] = [];
  for (let series = 1; series <= tries; series++) {
    console.error(`${kind}: fresh thread ${series} of ${tries} …`);
    await using fresh = await Thread.start(kind, ...(options.cold ? ['--cold'] : []));
    speeds.push(await speedsOf(hot, fresh, series, groups));
  }
  console.log(`${kind}: of the speed after ${hotRuns} runs`);
  for (let group = 0; group < groups; group++) {
    const runs = `${group * GROUP + 1} to ${(group + 1) * GROUP}`.padEnd(14);
    const [thread, all] = (['thread', 'process'] as const).map((name) => speeds.map((each) => each[group][name]));
    console.log(`  runs ${runs} the thread ${shown(thread)}, with V8's threads ${shown(all)}`);
  }
  const reached = median(speeds.map((each) => each[GOAL_GROUP].thread));
  const runs = `runs ${GOAL_GROUP * GROUP + 1} to ${(GOAL_GROUP + 1) * GROUP}`;
  console.log(`  ${percent(GOAL)} % in ${runs}: ${reached >= GOAL ? 'reached' : 'missed'} (${percent(reached)} %)\n`);
}

refuseOtherSystems(USAGE);
const [kind = '', ...more] = positionals;
refuseMore(USAGE, more);
const named = Object.keys(SMALL_RUNS).filter(containing(kind));
if (named.length === 0) refuse(USAGE, `No kind contains "${kind}". There are: ${Object.keys(SMALL_RUNS).join('; ')}.`);
const [tries, runs, hotRuns] = (['tries', 'runs', 'hot'] as const).map((name) => count(USAGE, name, options[name]));
if (runs % GROUP !== 0 || runs < 2 * GROUP) refuse(USAGE, `--runs takes whole hundreds from ${2 * GROUP} on.`);
// A process that is stopped would not notice that this one has ended.
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));
const interrupted = interruption();
interrupted.addEventListener('abort', () => process.exit(exitCodeOf(interrupted)));
console.log(`${machineLines(describeMachine())}\n`);
for (const kind of named) await measure(kind, tries, runs / GROUP, hotRuns);
