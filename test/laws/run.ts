// `npm run test:long [-- vitest arguments]`: laws and rounds of failures at full size, in every file that asks
// test/support/scale.ts for its size.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file at full size: 5,000 generated runs, or forty rounds of failures that last several seconds each. */
const TEST_TIMEOUT_MS = 1_800_000;

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('oracles'))
  .map((name) => join('test', name))
  .filter((path) => readFileSync(path, 'utf8').includes('support/scale.ts'));
const vitest = ['node_modules/vitest/vitest.mjs', 'run', `--testTimeout=${TEST_TIMEOUT_MS}`];
const { status } = spawnSync(process.execPath, [...vitest, ...files, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, CANDLEPOOL_LONG: '1' },
});
process.exit(status ?? 1);
