// Measurements: what every suite reports, and how it is printed. A task's name ends with the number of bars (or calls,
// or runs) per round.
import { basename } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Bench, BenchOptions, FnOptions } from 'tinybench';
import { accelerate } from '../src/engine/fast/index.ts';
import { commandLine, containing, refuseTask } from './commandLine.ts';

export interface Measure {
  readonly task: string;
  readonly unit: Unit;
  /** Units per round. */
  readonly count: number;
  /** Nanoseconds per unit in the best round. */
  readonly ns: number;
  readonly rounds: number;
}
export type Unit = 'bar' | 'call' | 'run' | 'trade' | 'request';

const CONFIG = {
  options: {
    json: { type: 'boolean' },
    plain: { type: 'boolean' },
    short: { type: 'boolean' },
    task: { type: 'string' },
  },
} as const satisfies ParseArgsConfig;

// A process that only asks for a suite's tasks has options of its own.
const { values: options } = parseArgs({ ...CONFIG, strict: false });

/** `--plain`: without accelerators. */
accelerate(options.plain !== true);

/** `--short`: small sizes and few rounds. */
export const isShort = options.short === true;

/** The number of bars of a suite that has one size. */
export const barCount = (usual: number): number => (isShort ? 20_000 : usual);

/**
 * Both a time and a number of rounds, whichever takes longer: on a busy machine V8 optimizes late, and a process that
 * stopped before would look slower than one that did not.
 */
const SHORT: BenchOptions = { time: 120, iterations: 60, warmupTime: 120, warmupIterations: 60 };

/** So many milliseconds of rounds for what allocates little and takes microseconds. */
export const timed = (milliseconds: number): BenchOptions =>
  isShort ? SHORT : { time: milliseconds, warmupTime: milliseconds / 2 };

/**
 * A number of rounds for what allocates or takes milliseconds, because a time budget makes V8's garbage collector part
 * of the result.
 */
export const rounds = (iterations: number): BenchOptions =>
  isShort ? SHORT : { iterations, warmupIterations: Math.ceil(iterations / 4), time: 0, warmupTime: 0 };

/**
 * `rounds` for whole runs and their reports, some of which are short: V8 optimizes what a run does once after thousands
 * of runs, and ten would measure code that it has not compiled yet.
 */
export const hotRounds = (iterations: number): BenchOptions =>
  isShort ? SHORT : { ...rounds(iterations), time: 1_000, warmupTime: 2_000 };

/** Makes something when it is first asked for: the tasks of a suite can be named without what they need. */
export function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * The options of a task that needs something `onDemand`: it is made before the task is timed. A task that gives a
 * promise says so (`async`); tinybench would call it to find that out.
 */
export const needs = (...all: readonly (() => unknown)[]): FnOptions => ({
  async: false,
  beforeAll: async () => void (await Promise.all(all.map((make) => make()))),
});

/**
 * Runs the tasks whose names contain `--task`, or all, and prints each as soon as it is measured; with `--json`, a JSON
 * array of measures at the end, and progress on stderr.
 *
 * Its command line is that of a suite; an unknown option and --help end the process.
 *
 * @throws Error when a task failed, because a bench that measures nothing must not look fast.
 */
export async function measure(bench: Bench, unit: Unit = 'bar'): Promise<void> {
  const usage = `node scripts/node24.mjs bench/${basename(process.argv[1])} [--task TEXT] [--short] [--plain] [--json]`;
  const { task: text = '' } = commandLine(usage, CONFIG).values;
  const names = bench.tasks.map(({ name }) => name);
  const isWanted = containing(text);
  for (const name of names) if (!isWanted(name)) bench.remove(name);
  const count = bench.tasks.length;
  if (count === 0) refuseTask(usage, text, names);
  const measures: Measure[] = [];
  bench.addEventListener('cycle', ({ task }) => {
    const { result } = task;
    if (result.state !== 'completed') return;
    const { min, samplesCount } = result.latency;
    const units = unitsOf(task.name);
    const found = { task: task.name, unit, count: units, ns: (min * 1e6) / units, rounds: samplesCount };
    measures.push(found);
    if (options.json) console.error(`${measures.length} of ${count}: ${line(found)}`);
    else console.log(line(found));
  });
  await bench.run();
  for (const { name, result } of bench.tasks) {
    if (result.state === 'completed') continue;
    const cause = 'error' in result ? result.error : undefined;
    throw new Error(`${name} did not complete: ${result.state}`, { cause });
  }
  if (options.json) console.log(JSON.stringify(measures));
}

/** How many bars, calls or runs a round of a task has: its name ends with that. */
export function unitsOf(task: string): number {
  const units = Number(/\/(\d+)$/.exec(task)?.[1] ?? NaN);
  if (!Number.isInteger(units)) throw new Error(`${task} does not say how many units a round has.`);
  return units;
}

/** The longest name of a task is this long. */
export const NAME_WIDTH = 70;

/** What is done once per bar or trade takes nanoseconds, the rest microseconds or more. */
function line({ task, unit, ns }: Measure): string {
  const isTiny = unit === 'bar' || unit === 'trade';
  const time = isTiny ? ns : ns / 1_000;
  return `${task.padEnd(NAME_WIDTH)} ${time.toFixed(time < 100 ? 2 : 0).padStart(8)} ${isTiny ? 'ns' : 'µs'}/${unit}`;
}
