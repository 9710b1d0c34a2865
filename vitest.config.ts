// One process per test file: the suite uses real Postgres and real threads, and a leak must not reach another file.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/oracles/**', 'node_modules/**'],
    pool: 'forks',
    globalSetup: ['test/support/databaseRun.ts'],
    maxWorkers: 2,
    // Above the patience of test/support/eventually.ts, whose message says what did not happen.
    testTimeout: 180_000,
    // A test without an assertion checks nothing.
    expect: { requireAssertions: true },
    hookTimeout: 180_000,
  },
});
