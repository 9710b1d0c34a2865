// One process a test file: the suite uses real Postgres and real threads, and a leak must not reach another file.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/oracles/**', 'node_modules/**'],
    pool: 'forks',
    globalSetup: ['test/support/databaseRun.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
