// npm run bench [-- SUITE…] [--task TEXT] [--short] [--json]: runs the suites one after the other, each in its own
// process.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { commandLine, refuseUnknown } from './commandLine.ts';
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
for (const name of SUITES) {
  if (names.length > 0 && !names.includes(name)) continue;
  if (LINUX_ONLY.includes(name) && process.platform !== 'linux') {
    console.error(`The suite ${name} needs Linux and is left out.`);
    continue;
  }
  const child = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...passed], {
    stdio: ['ignore', options.json ? 'pipe' : 'inherit', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (child.status !== 0) {
    console.error(`The suite ${name} failed.`);
    process.exit(1);
  }
  if (options.json) measures.push(...(JSON.parse(child.stdout) as Measure[]));
}
if (options.json) console.log(JSON.stringify({ machine, measures }));
