// `npm run test:oracles -- FOLDER [vitest arguments]`: runs the oracle suite on the folder of other engines' numbers.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const [folder, ...rest] = process.argv.slice(2);
const shared = folder ?? process.env.CANDLEPOOL_SHARED;
if (shared === undefined || !existsSync(resolve(shared, 'oracles'))) {
  console.error('usage: npm run test:oracles -- FOLDER [vitest arguments], where FOLDER holds oracles/ and data/');
  process.exit(2);
}
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/oracles/vitest.config.ts', '--root', '.', ...rest],
  { stdio: 'inherit', env: { ...process.env, CANDLEPOOL_SHARED: resolve(shared) } },
);
process.exit(status ?? 1);
