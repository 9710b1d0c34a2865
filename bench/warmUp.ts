// Warming up: how fast a fresh thread is in its first runs, compared with its last ones. Each try is a process of its
// own, which warms up as a worker's thread does and then runs small backtests of one kind.
//
//     node scripts/node24.mjs bench/warmUp.ts [--tries 5] [--runs 3000] [--cold]
import { execFileSync } from 'node:child_process';
import { runBacktest } from '../src/engine/backtest.ts';
import { encodeResult } from '../src/engine/pool/detail.ts';
import { WARM_UP_SLICES } from '../src/engine/pool/messages.ts';
import { warmUp } from '../src/engine/pool/warmUp.ts';
import { commandLine } from './commandLine.ts';
import { describeMachine, machineLines } from './machine.ts';
import { hasCore, pace } from './pace.ts';
import { SMALL_RUN_BARS, SMALL_RUNS } from './smallRuns.ts';
import { walkMarket } from './walk.ts';

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
/** Runs of one line of the table. */
const GROUP = 100;
/** The last runs, which the others are compared with. */
const LAST_GROUPS = 10;

interface Run {
  readonly ns: number;
  /** Of the processor, before or after the run, whichever is slower. */
  readonly pace: number;
}

function measureRuns(kind: string): Run[] {
  const market = walkMarket(SMALL_RUN_BARS);
  const taskOf = SMALL_RUNS[kind]();
  if (!options.cold) for (let slice = 0; slice < WARM_UP_SLICES; slice++) warmUp(slice);
  const strategyAst = structuredClone(taskOf(0).strategyAst);
  const runs: Run[] = [];
  for (let index = 0; index < Number(options.runs); index++) {
    // As it comes from another thread.
    const task = { ...structuredClone(taskOf(index)), strategyAst };
    const before = pace();
    const from = performance.now();
    const outcome = runBacktest(task, market, null);
    if (!outcome.ok) throw new Error(outcome.error.message);
    encodeResult(outcome);
    const ns = (performance.now() - from) * 1e6;
    runs.push({ ns, pace: Math.max(before, pace()) });
  }
  return runs;
}

/** The median of the runs of each group, of all tries, that had their core for themselves, at the fastest clock. */
function groupMedians(tries: readonly (readonly Run[])[]): number[] {
  const floor = Math.min(...tries.flat().map((run) => run.pace));
  return Array.from({ length: Math.floor(tries[0].length / GROUP) }, (_, group) => {
    const runs = tries.flatMap((each) => each.slice(group * GROUP, (group + 1) * GROUP));
    const alone = runs.filter((run) => hasCore(run.pace, floor));
    if (alone.length === 0) throw new Error('No run had a core for itself: the machine is too busy to measure this.');
    const times = alone.map((run) => (run.ns * floor) / run.pace).toSorted((a, b) => a - b);
    return times[Math.floor(times.length / 2)];
  });
}

function main(): void {
  if (options.child) return console.log(JSON.stringify(measureRuns(positionals[0])));
  console.log(`${machineLines(describeMachine())}\n`);
  const passed = ['--runs', options.runs, ...(options.cold ? ['--cold'] : [])];
  for (const kind of Object.keys(SMALL_RUNS).filter((name) => name.includes(positionals[0] ?? ''))) {
    const tries = Array.from({ length: Number(options.tries) }, () => {
      const args = [import.meta.filename, kind, '--child', ...passed];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })) as Run[];
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

main();
