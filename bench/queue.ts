// The queue: thousands of small backtests from four HTTP clients against a real `serve` with its embedded Postgres.
// Prints runs per second from the first accepted to the last ended, of every round, and of the best one the processor
// time per run of each process, and the bytes stored and logged per run. Linux only. `--against DIR` alternates with
// another checkout; `--cold` measures services that get their load at once, without any rest.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BATCH, CLIENTS, makeVersion, requireComplete, runAll, secondsSince, SYMBOL } from './backtests.ts';
import { HERE } from './checkout.ts';
import { measureCold, printCold } from './coldQueue.ts';
import { commandLine, containing, count, refuse, refuseOtherSystems, refuseTask } from './commandLine.ts';
import { describeMachine, machineLines } from './machine.ts';
import { isShort, type Measure } from './measure.ts';
import { caller, startServer } from './server.ts';
import { printStatements, readCosts, rest, WORKER_THREADS } from './serverCosts.ts';

interface Options {
  readonly runs: number;
  /** Backtests that run before anything is measured, so that the processes are warm. */
  readonly warm: number;
}

interface QueueMeasure {
  readonly checkout: string;
  readonly runs: number;
  readonly seconds: number;
  readonly runsPerSecond: number;
  /** Milliseconds of processor time per run. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly storedBytesPerRun: number;
  readonly walBytesPerRun: number;
  readonly statementsPerRun: number | null;
}

async function measure(root: string, { runs, warm }: Options): Promise<QueueMeasure> {
  console.error('starting a server …');
  await using server = await startServer(root);
  const call = caller(server);
  const versionId = await makeVersion(call);
  if (warm > 0) {
    console.error(`running ${warm} backtests to warm up …`);
    await runAll(call, versionId, 1_000_000, warm);
  }
  console.error('waiting for the processes to rest …');
  await rest(server);
  await server.sql`checkpoint`;
  const since = new Date().toISOString();
  const before = await readCosts(server);
  console.error(`running ${runs} backtests …`);
  const ids = await runAll(call, versionId, 0, runs);
  const after = await readCosts(server);
  if (process.env.BENCH_STATEMENTS) await printStatements(server.sql);
  const seconds = await secondsSince(call, since);
  console.error('reading every result …');
  await requireComplete(call, ids);
  const cpu = Object.fromEntries(
    [...after.cpu]
      .map(([name, spent]): [string, number] => [name, ((spent - (before.cpu.get(name) ?? 0)) * 1_000) / runs])
      .filter(([, ms]) => ms >= 0.001)
      .toSorted(([, a], [, b]) => b - a),
  );
  return {
    checkout: root,
    runs,
    seconds,
    runsPerSecond: runs / seconds,
    cpu,
    storedBytesPerRun: (after.stored - before.stored) / runs,
    walBytesPerRun: (after.wal - before.wal) / runs,
    statementsPerRun: after.statements === null ? null : (after.statements - before.statements!) / runs,
  };
}

function print({ cpu, storedBytesPerRun, walBytesPerRun, statementsPerRun }: QueueMeasure): void {
  const all = Object.values(cpu).reduce((total, ms) => total + ms, 0);
  const spent = (thread: keyof typeof WORKER_THREADS): number => cpu[`worker, ${WORKER_THREADS[thread]}`] ?? 0;
  const service = all - spent('WorkerThread');
  const sums = {
    'all of it': all,
    'besides the simulation threads': service,
    'and besides collecting garbage and compiling': service - spent('V8Worker'),
  };
  for (const [name, ms] of Object.entries({ ...cpu, ...sums }))
    console.log(`  ${name.padEnd(40)} ${ms.toFixed(3).padStart(8)} ms of processor time per run`);
  const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB per run`;
  console.log(`  stored ${kB(storedBytesPerRun)}, write-ahead log ${kB(walBytesPerRun)}`);
  if (statementsPerRun !== null) console.log(`  ${statementsPerRun.toFixed(3)} SQL statements per run`);
}

const perSecond = ({ runsPerSecond }: QueueMeasure): string => runsPerSecond.toFixed(0);

const RUNS = '5000';
const SHORT_RUNS = '500';

const USAGE = `node scripts/node24.mjs bench/queue.ts [--runs N] [--warm N] [--rounds N] [--against DIR] [--json]
       node scripts/node24.mjs bench/queue.ts --cold [--against DIR]
Runs small backtests through a serve of its own: runs per second, and what a run takes of each process.
  --runs N       backtests of a round (${RUNS}, or ${SHORT_RUNS} with --short)
  --warm N       backtests before it (5000)
  --rounds N     rounds, each with a new server (1)
  --against DIR  alternates with another checkout
  --cold         five services that are loaded as soon as they start: the rate of each 1,000 runs, beside the warm rate;
                 fails when one after the first 2,000 is below 85 % of it in the median of the starts
  --json         the measures on stdout, progress on stderr`;

const taskOf = (runs: number | string): string => `queue/backtests of 2,148 bars in batches of ${BATCH}/${runs}`;
/** For `npm run bench`: the only task. */
export const suite = () => ({ tasks: [{ name: taskOf(isShort ? SHORT_RUNS : RUNS) }] });

function readCommandLine() {
  refuseOtherSystems(USAGE);
  const { values } = commandLine(USAGE, {
    options: {
      runs: { type: 'string', default: isShort ? SHORT_RUNS : RUNS },
      warm: { type: 'string', default: '5000' },
      rounds: { type: 'string', default: '1' },
      against: { type: 'string' },
      cold: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      // What `npm run bench` passes. This suite has a single task.
      short: { type: 'boolean', default: false },
      task: { type: 'string', default: '' },
      'no-head': { type: 'boolean', default: false },
    },
  });
  const { against } = values;
  const runs = count(USAGE, 'runs', values.runs);
  const isOther = (folder: string): boolean => existsSync(join(folder, 'src', 'main.ts')) && resolve(folder) !== HERE;
  if (against !== undefined && !isOther(against))
    refuse(USAGE, `--against takes the folder of another checkout, and ${against} is not one.`);
  const task = taskOf(runs);
  if (!containing(values.task)(task)) refuseTask(USAGE, values.task, [task]);
  return {
    task,
    runs,
    warm: values.warm === '0' ? 0 : count(USAGE, 'warm', values.warm),
    rounds: count(USAGE, 'rounds', values.rounds),
    roots: against === undefined ? [HERE] : [resolve(against), HERE],
    isCold: values.cold,
    isJson: values.json,
    hasHead: !values['no-head'],
  };
}

async function main(): Promise<void> {
  const { task, runs, warm, rounds, roots, isCold, isJson, hasHead } = readCommandLine();
  // With --json, stdout is for the measures alone.
  const say = isJson ? console.error : console.log;
  if (hasHead) say(`${machineLines(describeMachine())}\n`);
  say(`${CLIENTS} clients, batches of ${BATCH}, ${SYMBOL} 1d`);
  if (isCold) {
    for (const root of roots) {
      say(root);
      if (!printCold(await measureCold(root, say), say)) process.exitCode = 1;
    }
    return;
  }
  const found = new Map<string, QueueMeasure[]>(roots.map((root) => [root, []]));
  for (let round = 1; round <= rounds; round++)
    for (const [root, measured] of found) {
      const each = await measure(root, { runs, warm });
      measured.push(each);
      say(`round ${round}, ${root}: ${runs} runs in ${each.seconds.toFixed(2)} s, ${perSecond(each)} per second`);
    }
  if (isJson) return console.log(JSON.stringify([jsonOf(task, found.get(HERE)!)]));
  for (const [root, measured] of found) {
    const best = bestOf(measured);
    console.log(`${root}: ${perSecond(best)} per second in the best of ${measured.map(perSecond).join(', ')}`);
    print(best);
  }
}

function jsonOf(task: string, rounds: readonly QueueMeasure[]): object {
  const best = bestOf(rounds);
  const ns = (best.seconds * 1e9) / best.runs;
  const measured: Measure = { task, unit: 'run', count: best.runs, ns, rounds: rounds.length };
  return { ...measured, ...best, eachRunsPerSecond: rounds.map((each) => each.runsPerSecond) };
}

const bestOf = (rounds: readonly QueueMeasure[]): QueueMeasure =>
  rounds.toSorted((a, b) => b.runsPerSecond - a.runsPerSecond)[0];

if (import.meta.main) await main();
