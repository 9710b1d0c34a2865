// `npm run test:hostile [-- seconds [seed [pattern]]]`: hostile tenants against a real service for a minute, or as long
// as asked. With a pattern of the names of attacks: these alone, one by one.
import { spawnSync } from 'node:child_process';

const [seconds = '60', seed, pattern] = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', 'test/hostile/hostile.test.ts', '--disable-console-intercept'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      CANDLEPOOL_HOSTILE: seconds,
      ...(seed && { CANDLEPOOL_SEED: seed }),
      ...(pattern && { CANDLEPOOL_ATTACKS: pattern }),
    },
  },
);
process.exit(status ?? 1);
