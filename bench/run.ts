// npm run bench [-- SUITE…] [--task TEXT] [--short] [--json]: runs the suites one after the other, each in its own
// process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { commandLine, refuse, refuseUnknown } from './commandLine.ts';
import { describeMachine, machineLines } from './machine.ts';
import type { Measure } from './measure.ts';
import { SUITES } from './suites.ts';

/** They read processor times from /proc. */
const LINUX_ONLY: readonly string[] = ['queue'];

const USAGE = 'npm run bench [-- SUITE…] [--task TEXT] [--short] [--json]';
const { values: options, positionals: names } = commandLine(USAGE, {
  allowPositionals: true,
  options: { json: { type: 'boolean' }, short: { type: 'boolean' }, task: { type: 'string' } },
});
refuseUnknown(USAGE, 'suite', names, SUITES);

const machine = describeMachine();
(options.json ? console.error : console.log)(`${machineLines(machine)}\n`);
const passed = [
  ...(options.short ? ['--short'] : []),
  ...(options.task === undefined ? [] : ['--task', options.task]),
  ...(options.json ? ['--json'] : []),
];
const measures: Measure[] = [];
/** The tasks that the suites have, whatever `--task` says. */
const tasks: string[] = [];
for (const name of SUITES) {
  if (names.length > 0 && !names.includes(name)) continue;
  if (LINUX_ONLY.includes(name) && process.platform !== 'linux') {
    console.error(`The suite ${name} needs Linux and is left out.`);
    continue;
  }
  const child = fork(join(import.meta.dirname, `${name}.ts`), passed, {
    stdio: ['ignore', options.json ? 'pipe' : 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', (names: readonly string[]) => tasks.push(...names));
  const [[code], printed] = await Promise.all([once(child, 'close'), child.stdout === null ? '' : text(child.stdout)]);
  if (code !== 0) {
    console.error(`The suite ${name} failed.`);
    process.exit(1);
  }
  if (options.json) measures.push(...(JSON.parse(printed) as Measure[]));
}
const { task } = options;
if (task !== undefined && !tasks.some((name) => name.includes(task)))
  refuse(USAGE, `No task's name contains "${task}". There are:\n  ${tasks.join('\n  ')}`);
if (options.json) console.log(JSON.stringify({ machine, measures }));
