// npm run bench [-- SUITE…] [--task TEXT] [--short] [--plain] [--json]: runs the suites one after the other, each in
// its own process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { commandLine, refuseUnknown } from './commandLine.ts';
import { exitCodeOf, interruption } from './interruption.ts';
import { describeMachine, machineLines } from './machine.ts';
import type { Measure } from './measure.ts';
import { SUITES, suitesWith } from './suites.ts';

/** They read processor times from /proc. */
const LINUX_ONLY: readonly string[] = ['queue'];

const USAGE = `npm run bench [-- SUITE…] [--task TEXT] [--short] [--plain] [--json]
Measures the suites one after the other, each in its own process, and prints the best of several rounds.
  SUITE        ${SUITES.slice(0, 8).join(', ')},
               ${SUITES.slice(8).join(', ')}; all of them without one
  --task TEXT  only the tasks whose names, as they are printed, contain TEXT; 10000 is not 1000000
  --short      small sizes and few rounds
  --plain      without accelerators, where the suite runs in one process
  --json       {machine, measures: [{task, unit, count, ns, rounds}]} on stdout, progress on stderr`;

function readCommandLine() {
  const { values, positionals } = commandLine(USAGE, {
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      plain: { type: 'boolean' },
      short: { type: 'boolean' },
      task: { type: 'string' },
    },
  });
  refuseUnknown(USAGE, 'suite', positionals, SUITES);
  return { ...values, suites: SUITES.filter((name) => positionals.length === 0 || positionals.includes(name)) };
}

/** What a suite has measured; nothing without --json. */
async function runSuite(suite: string, args: readonly string[], isJson: boolean, signal: AbortSignal) {
  // The machine is said once.
  const more = suite === 'queue' ? ['--no-head'] : [];
  const child = fork(join(import.meta.dirname, `${suite}.ts`), [...args, ...more], {
    stdio: ['ignore', isJson ? 'pipe' : 'inherit', 'inherit', 'ipc'],
  });
  // It may have a server, which it ends first.
  const stop = (): void => void child.kill('SIGTERM');
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  const [[code], printed] = await Promise.all([once(child, 'close'), child.stdout === null ? '' : text(child.stdout)]);
  signal.removeEventListener('abort', stop);
  if (code !== 0) throw new Error(`The suite ${suite} failed.`);
  return isJson ? (JSON.parse(printed) as Measure[]) : [];
}

async function main(): Promise<void> {
  const { suites, task, short: isShort, plain: isPlain, json: isJson } = readCommandLine();
  const wanted = task === undefined ? suites : await suitesWith(USAGE, task, suites);
  const machine = describeMachine();
  (isJson ? console.error : console.log)(`${machineLines(machine)}\n`);
  const args = [
    ...(isShort ? ['--short'] : []),
    ...(isPlain ? ['--plain'] : []),
    ...(task === undefined ? [] : ['--task', task]),
    ...(isJson ? ['--json'] : []),
  ];
  const signal = interruption();
  const measures: Measure[] = [];
  for (const suite of wanted) {
    if (LINUX_ONLY.includes(suite) && process.platform !== 'linux') {
      console.error(`The suite ${suite} needs Linux and is left out.`);
      continue;
    }
    try {
      measures.push(...(await runSuite(suite, args, isJson, signal)));
    } catch (error) {
      if (!signal.aborted) console.error((error as Error).message);
      process.exitCode = signal.aborted ? exitCodeOf(signal) : 1;
      return;
    }
  }
  if (isJson) console.log(JSON.stringify({ machine, measures }));
}

await main();
