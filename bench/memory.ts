// Memory: the peak of one backtest at 1e5, 1e6 and 1e7 bars, in bytes per bar, beside what it is admitted by.
// Linux only: the peak is read from /proc.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { runBacktest } from '../src/engine/backtest.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import { estimateBacktest } from '../src/engine/estimateBacktest.ts';
import { commandLine, count, refuseOtherSystems } from './commandLine.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { exitCodeOf, interruption } from './interruption.ts';
import { describeMachine, machineLines } from './machine.ts';
import { SYMBOL, walkSnapshot } from './walk.ts';

const USAGE = `node scripts/node24.mjs bench/memory.ts [--bars N,N] [--json]
The peak memory of one run, in a process of its own, beside the estimate that it is admitted by.
  --bars N,N  how many bars (100000,1000000,10000000)
  --json      the measures on stdout, progress on stderr`;
const { values: options } = commandLine(USAGE, {
  options: {
    bars: { type: 'string', default: '100000,1000000,10000000' },
    json: { type: 'boolean', default: false },
    // What a process of its own runs.
    run: { type: 'string' },
  },
});

interface MemoryMeasure {
  readonly task: string;
  readonly bars: number;
  /** Of the process, its code and the bars included. */
  readonly peakBytes: number;
  /** What the run added to the bars. */
  readonly runBytes: number;
  readonly estimatedBytes: number;
}

/** One run, in a process that has done nothing before but make the bars. */
function runOnce(task: string, bars: number): MemoryMeasure {
  const snapshot = walkSnapshot(bars);
  const backtest = taskOf(task);
  // The code is loaded and compiled before it is measured.
  runBacktest(backtest, createMarket([walkSnapshot(2_000)], SYMBOL, '1h'), null);
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  // The peak from here on (proc(5)); making the bars had one of its own.
  writeFileSync('/proc/self/clear_refs', '5');
  const before = process.memoryUsage.rss();
  const outcome = runBacktest(backtest, createMarket([snapshot], SYMBOL, '1h'), null);
  if (!outcome.ok) throw new Error(`${task}: ${outcome.error.message}`);
  const peakBytes = 1_024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]);
  const estimatedBytes = estimateBacktest(backtest, () => bars)!.bytes;
  return { task, bars, peakBytes, runBytes: peakBytes - before, estimatedBytes };
}

/** @throws Error when the run fails, or when `signal` ends it */
async function runInProcess(task: string, bars: number, signal: AbortSignal): Promise<MemoryMeasure> {
  const args = ['--expose-gc', import.meta.filename, '--run', task, '--bars', String(bars)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], signal, killSignal: 'SIGKILL' });
  const [[code], printed] = await Promise.all([once(child, 'close'), text(child.stdout)]);
  if (code !== 0) throw new Error(`${task} on ${bars} bars failed; --bars takes fewer.`);
  return JSON.parse(printed) as MemoryMeasure;
}

function line({ task, bars, peakBytes, runBytes, estimatedBytes }: MemoryMeasure): string {
  const perBar = (bytes: number): string => (bytes / bars).toFixed(0).padStart(5);
  const peakMiB = (peakBytes / 2 ** 20).toFixed(0).padStart(5);
  return (
    `${task.padEnd(48)} ${String(bars).padStart(9)} bars: peak ${peakMiB} MiB, ` +
    `the run ${perBar(runBytes)} bytes per bar, estimated ${perBar(estimatedBytes)}`
  );
}

async function main(): Promise<void> {
  refuseOtherSystems(USAGE);
  if (options.run !== undefined) return console.log(JSON.stringify(runOnce(options.run, Number(options.bars))));
  const sizes = options.bars.split(',').map((bars) => count(USAGE, 'bars', bars));
  // With --json, stdout is for the measures alone.
  (options.json ? console.error : console.log)(`${machineLines(describeMachine())}\n`);
  const signal = interruption();
  const measures: MemoryMeasure[] = [];
  try {
    for (const task of Object.keys(PAYLOADS))
      for (const bars of sizes) {
        const measured = await runInProcess(task, bars, signal);
        measures.push(measured);
        (options.json ? console.error : console.log)(line(measured));
      }
  } catch (error) {
    if (!signal.aborted) console.error((error as Error).message);
    process.exitCode = signal.aborted ? exitCodeOf(signal) : 1;
    return;
  }
  if (options.json) console.log(JSON.stringify(measures));
}

await main();
