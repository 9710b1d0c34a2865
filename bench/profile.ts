// npm run bench:profile -- NAME [--seconds N] [--out FOLDER]: runs the tasks whose names contain NAME over and over,
// and writes where the time went: a CPU profile for Chrome's or VS Code's viewer, and a flame graph as SVG.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { join, resolve } from 'node:path';
import type { Bench, Task } from 'tinybench';
import { commandLine, containing, positive, refuse, refuseMore, refuseUnknown } from './commandLine.ts';
import { flameGraph, hottest } from './flameGraph.ts';
import { describeMachine, machineLines } from './machine.ts';
import { ENGINE_SUITES, suitesWith } from './suites.ts';

const USAGE = `npm run bench:profile -- SUITE[/TASK] [--seconds N] [--out FOLDER]
Writes a CPU profile and a flame graph of each task, and prints the functions that take most of its time.
  SUITE[/TASK]  one of ${ENGINE_SUITES.slice(0, 8).join(', ')},
                ${ENGINE_SUITES.slice(8).join(', ')}; a part of a task's name, as npm run bench prints it
  --seconds N   how long each task runs (5)
  --out FOLDER  where the files go (bench-profile)`;
const { values: options, positionals } = commandLine(USAGE, {
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '5' }, out: { type: 'string', default: 'bench-profile' } },
});
/** So many functions are printed. */
const HOTTEST = 5;
/** After half a second V8 still compiles much of a run of 2,000 bars, and the profiler takes few samples meanwhile. */
const WARM_UP_MS = 2_000;
const [wanted, ...more] = positionals;
const milliseconds = positive(USAGE, 'seconds', options.seconds) * 1000;
if (!wanted) refuse(USAGE, 'Say which task to profile.');
const [suite] = wanted.split('/');
refuseUnknown(USAGE, 'profilable suite', [suite], ENGINE_SUITES);
refuseMore(USAGE, more);
await suitesWith(USAGE, wanted, [suite]);
// Before anything is measured: it may not be possible.
const folder = resolve(options.out);
try {
  mkdirSync(folder, { recursive: true });
} catch (error) {
  refuse(USAGE, `--out takes a folder that can be written to: ${(error as Error).message}.`);
}

console.log(`${machineLines(describeMachine())}\n`);
const module = (await import(`./${suite}.ts`)) as { suite(): Bench };
const isWanted = containing(wanted);
for (const task of module.suite().tasks) {
  const { name } = task;
  if (!isWanted(name)) continue;
  console.log(name);
  const profile = await profiled(task, milliseconds);
  const file = join(folder, name.replaceAll(/[^\w.-]+/g, '-'));
  writeFileSync(`${file}.cpuprofile`, JSON.stringify(profile));
  writeFileSync(`${file}.svg`, flameGraph(profile, name));
  for (const { name: hot, place, share } of hottest(profile, HOTTEST))
    console.log(`  ${(100 * share).toFixed(1).padStart(5)} %  ${hot} ${place}`.trimEnd());
  console.log(`  ${file}.svg\n  ${file}.cpuprofile`);
}

async function profiled(task: Task, milliseconds: number): Promise<Profiler.Profile> {
  const during = async (time: number): Promise<void> => {
    const end = performance.now() + time;
    while (performance.now() < end) {
      task.reset();
      await task.run();
    }
  };
  // What the task needs is made before the first run.
  await task.run();
  await during(WARM_UP_MS);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  await during(milliseconds);
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return profile;
}
