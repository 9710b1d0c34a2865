// npm run bench [-- --json] [-- SUITE…]: runs the suites one after the other, each in its own process.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Measure } from './measure.ts';
import { printMeasures } from './measure.ts';

/** Ordered from the smallest part to the whole. */
const SUITES = [
  'indicators',
  'patterns',
  'conditions',
  'compile',
  'evaluate',
  'fills',
  'whole',
  'sweep',
  'pool',
] as const;

const names = process.argv.slice(2).filter((arg) => arg !== '--json');
const isJson = process.argv.includes('--json');
const unknown = names.filter((name) => !SUITES.includes(name as (typeof SUITES)[number]));
if (unknown.length > 0) {
  console.error(`There is no suite ${unknown.join(', ')}. Suites: ${SUITES.join(', ')}.`);
  process.exit(2);
}

const all: Measure[] = [];
for (const name of SUITES) {
  if (names.length > 0 && !names.includes(name)) continue;
  const child = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`), '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (child.status !== 0) {
    console.error(`The suite ${name} failed.`);
    process.exit(1);
  }
  const measures = JSON.parse(child.stdout) as Measure[];
  if (isJson) all.push(...measures);
  else printMeasures(measures);
}
if (isJson) printMeasures(all, true);
