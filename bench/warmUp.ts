// Warming up: how fast a fresh thread is in its first runs, compared with its last ones. Each try is a process of its
// own with one thread, which warms up as a worker's does and then runs small backtests of one kind.
//
//     node scripts/node24.mjs bench/warmUp.ts [--tries 5] [--runs 3000] [--cold]
import { execFileSync } from 'node:child_process';
import nodeFlags from '../src/cli/nodeFlags.json' with { type: 'json' };
import type { PoolBatch } from '../src/engine/pool/messages.ts';
import { createPool } from '../src/engine/pool/pool.ts';
import { WARM_UP_BATCHES, warmUpBatch } from '../src/engine/pool/warmUp.ts';
import { commandLine, count, refuse } from './commandLine.ts';
import { describeMachine, machineLines } from './machine.ts';
import { hasCore, pace } from './pace.ts';
import { SMALL_RUN_BARS, SMALL_RUNS } from './smallRuns.ts';
import { walkSnapshot } from './walk.ts';

const USAGE = 'node scripts/node24.mjs bench/warmUp.ts [KIND] [--tries N] [--runs N] [--cold]';
const { values: options, positionals } = commandLine(USAGE, {
  allowPositionals: true,
  options: {
    tries: { type: 'string', default: '5' },
    runs: { type: 'string', default: '3000' },
    cold: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
  },
});
/** Runs of one message: what sending it takes is little beside them. */
const BATCH = 10;
/** Runs of one line of the table. */
const GROUP = 100;
/** The last runs, which the others are compared with. */
const LAST_GROUPS = 10;

interface Batch {
  readonly nsPerRun: number;
  /** Of the processor, before or after the batch, whichever is slower. */
  readonly pace: number;
}

async function measureBatches(kind: string): Promise<Batch[]> {
  await using pool = createPool({ threads: 1 });
  const run = async (batch: PoolBatch): Promise<void> => {
    const outcomes = await pool.run(batch).outcomes;
    const other = outcomes.find((outcome) => outcome.kind !== 'completed');
    if (other !== undefined) throw new Error(JSON.stringify(other));
  };
  if (!options.cold) for (let batch = 0; batch < WARM_UP_BATCHES; batch++) await run(warmUpBatch(batch));
  const snapshots = [walkSnapshot(SMALL_RUN_BARS)];
  const taskOf = SMALL_RUNS[kind]();
  const batches: Batch[] = [];
  for (let first = 0; first < Number(options.runs); first += BATCH) {
    const tasks = Array.from({ length: BATCH }, (_, index) => taskOf(first + index));
    const before = pace();
    const from = performance.now();
    await run({ snapshots, runs: tasks.map((task) => ({ task, snapshots: [0], memoryBytes: 0 })) });
    const nsPerRun = ((performance.now() - from) * 1e6) / BATCH;
    batches.push({ nsPerRun, pace: Math.max(before, pace()) });
  }
  return batches;
}

/** The median of the batches of each group, of all tries, that had their core for themselves, at the fastest clock. */
function groupMedians(tries: readonly (readonly Batch[])[]): number[] {
  const floor = Math.min(...tries.flat().map((batch) => batch.pace));
  const size = GROUP / BATCH;
  return Array.from({ length: Math.floor(tries[0].length / size) }, (_, group) => {
    const batches = tries.flatMap((each) => each.slice(group * size, (group + 1) * size));
    const alone = batches.filter((batch) => hasCore(batch.pace, floor));
    if (alone.length === 0) throw new Error('No batch had a core for itself: the machine is too busy to measure this.');
    const times = alone.map((batch) => (batch.nsPerRun * floor) / batch.pace).toSorted((a, b) => a - b);
    return times[Math.floor(times.length / 2)];
  });
}

async function main(): Promise<void> {
  if (options.child) return console.log(JSON.stringify(await measureBatches(positionals[0])));
  const named = Object.keys(SMALL_RUNS).filter((name) => name.includes(positionals[0] ?? ''));
  if (named.length === 0)
    refuse(USAGE, `No kind contains "${positionals[0]}". There are ${Object.keys(SMALL_RUNS).join(', ')}.`);
  const triesPerKind = count(USAGE, 'tries', options.tries);
  const compared = GROUP * LAST_GROUPS;
  if (count(USAGE, 'runs', options.runs) <= compared)
    refuse(USAGE, `--runs must be above ${compared}: the last ${compared} are what the others are compared with.`);
  console.log(`${machineLines(describeMachine())}\n`);
  const passed = ['--runs', options.runs, ...(options.cold ? ['--cold'] : [])];
  for (const kind of named) {
    const tries = Array.from({ length: triesPerKind }, () => {
      const args = [...nodeFlags.worker, import.meta.filename, kind, '--child', ...passed];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })) as Batch[];
    });
    const medians = groupMedians(tries);
    const last = medians.slice(-LAST_GROUPS);
    const end = last.reduce((sum, time) => sum + time, 0) / last.length;
    console.log(`${kind}: ${(end / 1000).toFixed(0)} µs per run in the end`);
    medians.slice(0, -LAST_GROUPS).forEach((time, index) => {
      const runs = `${index * GROUP + 1} to ${(index + 1) * GROUP}`.padEnd(14);
      const share = ((100 * end) / time).toFixed(0);
      console.log(`  runs ${runs} ${(time / 1000).toFixed(0).padStart(6)} µs, ${share} % of that speed`);
    });
  }
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 2;
});
